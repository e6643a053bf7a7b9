// This program needs libmpi or libmpi_abi, directly or through a library of its own. With a number
// as argument the program runs for that many seconds.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern "C" int ROTA_STAND_IN();

int main(int argc, char** argv) {
  std::puts("started");
  std::fflush(stdout);
  if (argc > 1) ::sleep(static_cast<unsigned>(std::atoi(argv[1])));
  return ROTA_STAND_IN();
}

// Measures rota on a GPU, for ./dev gpu: each figure is a line of JSON. Makes the table of the
// page.
#include <rota/error.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "gpu/commands.h"
#include "gpu/row.h"

namespace {

constexpr int kUsage = 2;
constexpr int kNoDevice = 69;

constexpr const char* kHelp =
    "usage: gpu_bench facts|kernels|nccl|table\n"
    "       rotarun -np 2 --share-devices gpu_bench all-reduce SOCKET_SECONDS\n"
    "table: makes a table of the lines on standard input\n";

int run(const std::string& command, const std::string& argument) {
  using namespace rota::bench::gpu;
  if (command == "facts") {
    print_facts();
  } else if (command == "kernels") {
    measure_kernels();
  } else if (command == "all-reduce") {
    measure_all_reduce(std::atof(argument.c_str()));
  } else if (command == "nccl") {
    measure_nccl();
  } else if (command == "table") {
    std::cout << table_of({std::istreambuf_iterator<char>(std::cin), {}});
  } else {
    std::fputs(kHelp, stderr);
    return kUsage;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  return run(count > 1 ? arguments[1] : "", count > 2 ? arguments[2] : "");
} catch (const std::exception& error) {
  std::fprintf(stderr, "gpu_bench: %s\n", error.what());
  return kNoDevice;
}

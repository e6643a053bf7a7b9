// This program joins a job as rank 0, and says what a rank of another rota would say ("rota"), or a
// program with another layout of memory ("memory"). Then it waits until the job fails.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <rota/error.h>

#include "communicator/first_word.h"
#include "rendezvous/client.h"

int main(int argc, char** argv) try {
  using namespace std::chrono_literals;
  const std::string what = argc > 1 ? argv[1] : "";
  rota::rendezvous::Client client(rota::os::Fd(std::atoi(std::getenv("ROTA_RENDEZVOUS_FD"))));
  const auto welcome = client.join(rota::base::Clock::now() + 60s);
  const std::string rota = what == "rota" ? "rota 99.1" : rota::own_rota();
  client.put("options", encode(rota::FirstWord{.rota = rota, .plan = "plan auto, codec identity"}));
  client.barrier("arrived", 60s);
  client.put("memory of rank 0", what == "memory" ? "32-bit big-endian" : "");
  while (!client.next_notice()) std::this_thread::sleep_for(10ms);
} catch (const rota::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}

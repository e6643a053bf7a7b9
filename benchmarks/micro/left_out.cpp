// Replaces the subcommands kernel and latency if rota-bench was built without Google Benchmark.
#include <cstdio>

#include "commands.h"

namespace rota::bench {
namespace {

int say_left_out(const char* command) {
  std::fprintf(stderr,
               "rota-bench: there is no command %s: this rota-bench was built without Google "
               "Benchmark (libbenchmark-dev on Debian)\n",
               command);
  return 1;
}

}  // namespace

int run_kernel_benchmarks(int, char**) { return say_left_out("kernel"); }
int run_latency_benchmarks(int, char**) { return say_left_out("latency"); }

}  // namespace rota::bench

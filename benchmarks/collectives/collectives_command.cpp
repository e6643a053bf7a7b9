// Measures rota's collectives, as a rank of the job that it joins.
#include "collectives/collectives_command.h"

#include <string>
#include <utility>
#include <vector>

#include "collectives/rota_group.h"
#include "collectives/run.h"

namespace rota::bench {

int run_collectives_command(int argument_count, char** arguments) {
  auto options = measurement_options("rotarun -np RANKS rota-bench");
  options.add_options()(
      "plans",
      "Of all-reduces: auto (the default), ring, direct, hub, halving-doubling, tree, two-level, "
      "star",
      cxxopts::value<std::vector<std::string>>())(
      "codecs",
      "Of all-reduces of float32: identity (the default), bf16, fp16, int8, int8-stochastic, top-k",
      cxxopts::value<std::vector<std::string>>());
  return run_program(std::move(options), argument_count, arguments,
                     [](const cxxopts::ParseResult&) {
                       return make_rota_group(CommunicatorOptions::from_environment());
                     });
}

}  // namespace rota::bench

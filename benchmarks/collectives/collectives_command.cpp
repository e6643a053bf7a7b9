// Measures rota's collectives, as a rank of the job that it joins.
#include "collectives/collectives_command.h"

#include <utility>

#include "collectives/rota_group.h"
#include "collectives/run.h"

namespace rota::bench {

int run_collectives_command(int argument_count, char** arguments) {
  auto options = measurement_options("rotarun -np RANKS rota-bench");
  options.add_options()(
      "plan", "Of all-reduces: auto, ring, direct, hub, halving-doubling, tree, two-level or star",
      cxxopts::value<std::string>()->default_value("auto"))(
      "codecs",
      "Of all-reduces of float32: identity (the default), bf16, fp16, int8, int8-stochastic, top-k",
      cxxopts::value<std::vector<std::string>>());
  return run_program(std::move(options), argument_count, arguments,
                     [](const cxxopts::ParseResult& given) {
                       auto communicator_options = CommunicatorOptions::from_environment();
                       communicator_options.plan = given["plan"].as<std::string>();
                       return make_rota_group(communicator_options);
                     });
}

}  // namespace rota::bench

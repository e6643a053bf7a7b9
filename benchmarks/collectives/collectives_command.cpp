// Measures rota's collectives as a rank of a job.
#include "commands.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collectives/plan.h"
#include "collectives/rota_group.h"
#include "collectives/run.h"

namespace rota::bench {

namespace {

void check_plans(const cxxopts::ParseResult& given) {
  if (given.count("plans") == 0) return;
  for (const std::string& name : given["plans"].as<std::vector<std::string>>()) {
    const auto algorithm = collectives::algorithm_named(name);
    const bool is_one = algorithm && makes(*algorithm, collectives::Collective::kAllReduce);
    if (name != "auto" && !is_one) {
      throw std::invalid_argument("--plans: there is no \"" + name +
                                  "\" for an all-reduce; --help lists the plans");
    }
  }
}

}  // namespace

int run_collectives_command(int argument_count, char** arguments) {
  auto options = measurement_options("rotarun -np RANKS rota-bench");
  options.add_options()("plans",
                        "Plans of all-reduces: auto (the default), ring, direct, hub, by-host, "
                        "halving-doubling, tree, two-level, star, shared-memory",
                        cxxopts::value<std::vector<std::string>>())(
      "codecs",
      "Codecs of all-reduces of float32: identity (the default), bf16, fp16, int8, "
      "int8-stochastic, top-k",
      cxxopts::value<std::vector<std::string>>());
  return run_program(std::move(options), argument_count, arguments,
                     [](const cxxopts::ParseResult& given) {
                       check_plans(given);
                       return make_rota_group(CommunicatorOptions::from_environment());
                     });
}

}  // namespace rota::bench

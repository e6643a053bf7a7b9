// Makes the group of a peer, and lets a thread sum its gradients.
#include "scale/peer.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "option_numbers.h"
#include "scale/arguments.h"
#include "scale/blocking_sums.h"
#include "scale/run.h"
#include "scale/workload.h"

namespace rota::bench {

namespace {

cxxopts::Options peer_scale_options(const std::string& program) {
  cxxopts::Options options = scale_options(program);
  options.add_options()("hosts", "Number of hosts of this job",
                        cxxopts::value<std::string>()->default_value("1"));
  return options;
}

int run_scale_of_peer(cxxopts::Options options, int argument_count, char** arguments,
                      const MakeGroup& make_group) {
  const auto measure = [&](const cxxopts::ParseResult& given, const ScaleOptions& wanted) {
    const std::size_t hosts = count_of_option(given, "hosts");
    const std::unique_ptr<Group> group = make_group(given);
    BlockingSums sums(*group, gradient_counts(model_work_named(wanted.model)));
    return run_paced_contest(*group, hosts, sums, wanted);
  };
  return run_scale(std::move(options), argument_count, arguments, measure);
}

}  // namespace

bool wants_scale(int argument_count, char** arguments) {
  return argument_count > 1 && std::string_view(arguments[1]) == "scale";
}

int run_peer(const PeerProgram& program, int argument_count, char** arguments) {
  if (wants_scale(argument_count, arguments)) {
    auto options = peer_scale_options(program.usage + " scale");
    program.add_options(options);
    return run_scale_of_peer(std::move(options), argument_count - 1, arguments + 1,
                             program.make_group);
  }
  auto options = measurement_options(program.usage);
  program.add_options(options);
  return run_program(std::move(options), argument_count, arguments, program.make_group);
}

}  // namespace rota::bench

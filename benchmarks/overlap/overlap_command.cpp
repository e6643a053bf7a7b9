// `rota-bench overlap`: joins the job, runs the contest and prints the result.
#include "commands.h"

#include <rota/communicator.h>

#include <iostream>
#include <optional>

#include "overlap/arguments.h"
#include "overlap/contest.h"
#include "overlap/report.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

// Returns empty if --help was given.
std::optional<OverlapArguments> read(int argument_count, char** arguments) {
  auto options = overlap_options();
  const auto given = options.parse(argument_count, arguments);
  if (given.count("help") == 0) return overlap_arguments_from(given);
  std::cout << options.help() << '\n';
  return std::nullopt;
}

}  // namespace

int run_overlap_command(int argument_count, char** arguments) {
  std::optional<OverlapArguments> given;
  try {
    given = read(argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench overlap: " << error.what() << '\n';
    return kUsageError;
  }
  if (!given) return 0;
  Communicator communicator(given->communicator);
  const ContestResult result = run_contest(communicator, given->contest);
  if (communicator.rank() == 0) {
    std::cout << (given->json ? to_json(result) : to_text(result)) << std::flush;
  }
  return 0;
}

}  // namespace rota::bench

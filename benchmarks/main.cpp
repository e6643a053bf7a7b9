// rota-bench: measures how fast rota is on this machine, and shows its plans.
#include <exception>
#include <iostream>
#include <string_view>

#include "collectives/arguments.h"
#include "commands.h"
#include "contest/comparison.h"
#include "contest/rounds.h"

namespace {

constexpr int kUsageError = 2;
constexpr std::string_view kUsage =
    "usage: rota-bench kernel ...                        the arithmetic, in one thread\n"
    "       rota-bench latency ...                       small calls, between two threads; or\n"
    "       rotarun -np 2 rota-bench latency ...         between ranks\n"
    "       rota-bench checkpoint ...                    saves and restores; has a --help\n"
    "       rotarun -np RANKS rota-bench all-reduce ...  the sum over ranks; has a --help\n"
    "       rotarun -np RANKS rota-bench broadcast ...   any other collective, or a list\n"
    "       rotarun -np RANKS rota-bench small ...       many small buffers; has a --help\n"
    "       rotarun -np RANKS rota-bench overlap ...     what overlap gains; has a --help\n"
    "       rotarun -np RANKS rota-bench scale ...       steps of many ranks; has a --help\n"
    "       rotarun -np RANKS rota-bench pace ...        ways to train; has a --help\n"
    "       rotarun -np RANKS rota-bench tune -o FILE    the fastest plans here; has a --help\n"
    "       rota-bench predict ...                       steps of large worlds; has a --help\n"
    "       rota-bench validate ...                      predictions, beside rows from stdin\n"
    "       rota-bench plan --draw ...                   the messages of a plan; has a --help\n"
    "       rota-bench compare OURS THEIRS               the --json rows of two names, from stdin\n"
    "       rota-bench contest ...                       all --json rows; has a --help\n"
    "       rota-bench scale-page ...                    the --json rows of scale; has a --help\n"
    "       rota-bench scale-answers                     predicts published networks\n";

int run(int argument_count, char** arguments) {
  using namespace rota::bench;
  const std::string_view command = argument_count > 1 ? arguments[1] : "";
  if (command == "kernel") return run_kernel_benchmarks(argument_count - 1, arguments + 1);
  if (command == "latency") return run_latency_benchmarks(argument_count - 1, arguments + 1);
  if (command == "checkpoint") return run_checkpoint_command(argument_count - 1, arguments + 1);
  if (command == "overlap") return run_overlap_command(argument_count - 1, arguments + 1);
  if (command == "scale") return run_scale_command(argument_count - 1, arguments + 1);
  if (command == "scale-page") return run_scale_page_command(argument_count - 1, arguments + 1);
  if (command == "scale-answers") return run_answers_command(argument_count - 1, arguments + 1);
  if (command == "pace") return run_pace_command(argument_count - 1, arguments + 1);
  if (command == "small") return run_small_command(argument_count - 1, arguments + 1);
  if (command == "predict") return run_predict_command(argument_count - 1, arguments + 1);
  if (command == "validate") return run_validate_command(argument_count - 1, arguments + 1);
  if (command == "plan") return run_plan_command(argument_count - 1, arguments + 1);
  if (command == "tune") return run_tune_command(argument_count - 1, arguments + 1);
  if (command == "contest") return run_contest_command(argument_count - 1, arguments + 1);
  if (command == "compare" && argument_count == 4) {
    std::cout << compare(read_rows(std::cin), arguments[2], arguments[3]);
    return 0;
  }
  if (!collectives_named(std::string(command)).empty()) {
    return run_collectives_command(argument_count, arguments);
  }
  const bool wants_help = command == "help" || command == "--help";
  (wants_help ? std::cout : std::cerr) << kUsage;
  return wants_help ? 0 : kUsageError;
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    return run(argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench: " << error.what() << '\n';
    return 1;
  }
}

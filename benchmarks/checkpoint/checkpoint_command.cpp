// `rota-bench checkpoint`: how long a paced training run stands still for a checkpoint, and how
// long saving and restoring take, beside the limits of this machine. Prints medians as rows.
#include <algorithm>
#include <chrono>
#include <cxxopts.hpp>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rota/checkpoint.h>

#include "base/time.h"
#include "checkpoint/bare_files.h"
#include "checkpoint/state.h"
#include "commands.h"
#include "option_numbers.h"
#include "row.h"
#include "statistics.h"

namespace rota::bench {
namespace {

namespace fs = std::filesystem;
using Times = std::map<std::string, std::vector<double>>;

constexpr int kUsageError = 2;

struct Arguments {
  std::string state;
  std::chrono::milliseconds step{};
  std::size_t saves = 0;
  fs::path folder;
};

cxxopts::Options options_of_checkpoint() {
  cxxopts::Options options("rota-bench checkpoint",
                           "Times the saving and restoring of a state by one rank, whose steps "
                           "only wait.\nPrints the median of each time in seconds, one JSON object "
                           "per line.");
  options.add_options()  //
      ("state", "mlp (5.4 MB) or large (256 MiB)",
       cxxopts::value<std::string>()->default_value("mlp"))                                  //
      ("step", "Milliseconds of a step", cxxopts::value<std::string>()->default_value("3"))  //
      ("saves", "Saves beside steps, saves that a step waits for, and restores to time, each",
       cxxopts::value<std::string>()->default_value("3"))                             //
      ("folder", "Where to save", cxxopts::value<std::string>()->default_value("."))  //
      ("help", "Print this help");
  return options;
}

Arguments arguments_of_checkpoint(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  Arguments wanted{.state = given["state"].as<std::string>(),
                   .step = std::chrono::milliseconds(whole_number_of(given, "step")),
                   .saves = count_of_option(given, "saves"),
                   .folder = given["folder"].as<std::string>()};
  return wanted;
}

double seconds_of(const std::function<void()>& work) {
  const base::TimePoint start = base::Clock::now();
  work();
  return base::to_seconds(base::Clock::now() - start);
}

// One rank's state, and the folders of its checkpoints.
class Saves {
 public:
  explicit Saves(const Arguments& wanted)
      : wanted_(wanted), state_(wanted.state), copy_(state_.bytes()) {}

  // The first round warms up: the copy of the state, and the caches of the disk, get their memory.
  Times run() {
    Checkpointer beside(communicator_, options_of("beside", true), visit());
    Checkpointer waiting(communicator_, options_of("waiting", false), visit());
    beside.restore();
    waiting.restore();
    Times times;
    for (std::size_t round = 0; round <= wanted_.saves; ++round) {
      if (round == 1) times.clear();
      const auto note = [&times](const std::string& what, double seconds) {
        times[what].push_back(seconds);
      };
      note("memcpy", seconds_of([&] { copy_bare(state_, copy_); }));
      note("bare", seconds_of([&] { write_bare(state_, wanted_.folder); }));
      const CheckpointReport report = save_beside_a_step(beside, round + 1);
      note("stall", static_cast<double>(report.stall_us) * 1e-6);
      note("save-beside", report.seconds);
      waiting.save(round + 1);
      note("save", report_of(waiting).seconds);
    }
    return times;
  }

  void run_restores(Times& times) {
    Checkpointer newest(communicator_, options_of("waiting", false), visit());
    const fs::path path = newest.restore().path;
    for (std::size_t round = 0; round < wanted_.saves; ++round) {
      times["read-through"].push_back(seconds_of([&] { read_through(path); }));
      times["read-into"].push_back(seconds_of([&] { read_into(path, copy_); }));
      times["restore"].push_back(seconds_of([&] { newest.restore(); }));
    }
  }

 private:
  CheckpointOptions options_of(const std::string& name, bool is_asynchronous) const {
    CheckpointOptions options{.folder = wanted_.folder / name};
    options.keep = 1;
    options.asynchronous = is_asynchronous;
    return options;
  }
  StateVisit visit() {
    return [this](StateVisitor& visitor) { state_.visit(visitor); };
  }

  CheckpointReport save_beside_a_step(Checkpointer& checkpointer, std::uint64_t step) {
    checkpointer.save(step);
    std::this_thread::sleep_for(wanted_.step);
    for (std::size_t i = state_.parameter_count(); i-- > 0;) checkpointer.before_update(i);
    return report_of(checkpointer);
  }

  CheckpointReport report_of(Checkpointer& checkpointer) const {
    std::optional<CheckpointReport> report;
    constexpr std::chrono::microseconds kPause{300};
    while (!(report = checkpointer.finished())) std::this_thread::sleep_for(kPause);
    if (!report->failure.empty()) throw std::runtime_error(report->failure);
    return *report;
  }

  Arguments wanted_;
  ExampleState state_;
  std::vector<std::byte> copy_;
  Communicator communicator_;
};

}  // namespace

int run_checkpoint_command(int argument_count, char** arguments) {
  cxxopts::Options options = options_of_checkpoint();
  Arguments wanted;
  try {
    const auto given = options.parse(argument_count, arguments);
    if (given.count("help") != 0) {
      std::cout << options.help() << '\n';
      return 0;
    }
    wanted = arguments_of_checkpoint(given);
    ExampleState{wanted.state};
  } catch (const std::exception& error) {
    std::cerr << "rota-bench checkpoint: " << error.what() << '\n';
    return kUsageError;
  }
  Saves saves(wanted);
  Times times = saves.run();
  saves.run_restores(times);
  for (const auto& [what, samples] : times) print_row(what, median(samples));
  return 0;
}

}  // namespace rota::bench

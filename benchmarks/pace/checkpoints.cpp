// Trains with and without checkpoints.
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint/bare_files.h"
#include "checkpoint/state.h"
#include "pace/ways.h"
#include "pace/window.h"
#include "row.h"
#include "statistics.h"

namespace rota::bench {
namespace {

constexpr std::uint64_t kEverySteps = 100;

// Collects how long this rank has waited for each checkpoint. A save before the first step warms
// up: it gets the memory for the copy of the state.
class Stalls : public TrainingHook {
 public:
  void on_begin(const BeginReport&) override { ask_for_checkpoint(); }
  void on_checkpoint(const CheckpointReport& report) override {
    // No step waits for the last save of the run.
    if (report.step == 0 || report.step % kEverySteps != 0) return;
    seconds_.push_back(static_cast<double>(report.stall_us) * 1e-6);
  }
  double typical() const {
    if (seconds_.empty()) throw std::runtime_error("no checkpoint was saved in the window");
    return median(seconds_);
  }

 private:
  std::vector<double> seconds_;
};

// Copies three times, since the first copy also gets memory for `copy`.
double seconds_of_a_copy(const ExampleState& state, std::span<std::byte> copy) {
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    const base::TimePoint start = base::Clock::now();
    copy_bare(state, copy);
    seconds.push_back(base::to_seconds(base::Clock::now() - start));
  }
  return median(seconds);
}

}  // namespace

void compare_checkpoints(Communicator& communicator, const TrainAndTest& data,
                         const PaceArguments& arguments) {
  const ExampleState state("mlp");
  std::vector<std::byte> copy(state.bytes());
  std::size_t runs = 0;
  const auto train = [&](const TrainerOptions& options, Stalls& stalls, Window& window) {
    Trainer<float> trainer(communicator, mlp_for(data.train), data.train, data.test, options);
    trainer.add_hook(stalls);
    trainer.add_hook(window);
    trainer.run();
  };
  const auto plain = [&](Window& window) {
    Stalls none;
    train(options_of_mlp(), none, window);
  };
  const auto with_checkpoints = [&](Window& window) {
    TrainerOptions options = options_of_mlp();
    options.session.checkpoints.folder = arguments.folder / std::to_string(++runs);
    options.session.checkpoints.every_steps = kEverySteps;
    options.session.checkpoints.keep = 1;
    Stalls stalls;
    train(options, stalls, window);
    if (communicator.rank() == 0) {
      std::filesystem::remove_all(options.session.checkpoints.folder);
      print_row("stall", stalls.typical());
      print_row("memcpy", seconds_of_a_copy(state, copy));
    }
    communicator.barrier();
  };
  run_rounds(communicator, std::array{Way{"plain", plain}, Way{"checkpoints", with_checkpoints}},
             arguments.rounds);
}

}  // namespace rota::bench

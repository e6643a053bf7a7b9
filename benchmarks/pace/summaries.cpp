// Trains with and without summaries, and times single calls.
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <rota/summaries_hook.h>

#include "pace/ways.h"
#include "pace/window.h"
#include "row.h"

namespace rota::bench {
namespace {

constexpr int kCallsInARow = 4'000;

// Writes two curves, and times the calls in the window.
class TwoCurves : public TrainingHook {
 public:
  explicit TwoCurves(const std::filesystem::path& folder) : writer_(folder) {}

  void on_step(const StepReport& report) override {
    const auto step = static_cast<std::int64_t>(report.steps);
    const auto samples = static_cast<double>(report.score.samples);
    const base::TimePoint start = base::Clock::now();
    writer_.scalar("train/cost", report.score.loss / samples, step);
    writer_.scalar("train/accuracy", static_cast<double>(report.score.correct) / samples, step);
    if (report.steps <= kWarmUpSteps) return;
    spent_ += base::Clock::now() - start;
    ++steps_;
  }
  double seconds_of_a_call() const {
    if (writer_.dropped() > 0) throw std::runtime_error("summaries were dropped");
    return base::to_seconds(spent_) / (2.0 * steps_);
  }

 private:
  SummaryWriter writer_;
  base::Duration spent_{0};
  int steps_ = 0;
};

// The calls fit into less than half of the queue, so its thread sleeps.
double seconds_of_a_call_in_a_row(const std::filesystem::path& folder) {
  SummaryWriter writer(folder);
  const base::TimePoint start = base::Clock::now();
  for (int i = 0; i < kCallsInARow; ++i) writer.scalar("train/cost", 0.5, i);
  return base::to_seconds(base::Clock::now() - start) / kCallsInARow;
}

}  // namespace

void compare_summaries(Communicator& communicator, const TrainAndTest& data,
                       const PaceArguments& arguments) {
  const bool is_chief = communicator.rank() == 0;
  std::size_t folders = 0;
  const auto next_folder = [&] { return arguments.folder / std::to_string(++folders); };
  const auto train = [&](TrainingHook* summaries, Window& window) {
    Trainer<float> trainer(communicator, mlp_for(data.train), data.train, data.test,
                           options_of_mlp());
    if (summaries != nullptr) trainer.add_hook(*summaries);
    trainer.add_hook(window);
    trainer.run();
  };
  const auto plain = [&](Window& window) { train(nullptr, window); };
  const auto hook = [&](Window& window) {
    Summaries summaries(next_folder(), {.every_steps = 1});
    train(is_chief ? &summaries : nullptr, window);
  };
  const auto writer = [&](Window& window) {
    std::optional<TwoCurves> curves;
    if (is_chief) curves.emplace(next_folder());
    train(is_chief ? &*curves : nullptr, window);
    if (is_chief) print_row("scalar", curves->seconds_of_a_call());
  };
  run_rounds(communicator,
             std::array{Way{"plain", plain}, Way{"hook", hook}, Way{"writer", writer}},
             arguments.rounds);
  if (!is_chief || communicator.world_size() > 1) return;
  for (std::size_t round = 0; round < arguments.rounds; ++round) {
    print_row("scalar-in-a-row", seconds_of_a_call_in_a_row(next_folder()));
  }
}

}  // namespace rota::bench

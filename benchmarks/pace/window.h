// Measures the pace of a training run in a short window of its steps, so that several ways to train
// can be compared round by round.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <rota/communicator.h>
#include <rota/dataset.h>
#include <rota/idx.h>
#include <rota/trainer.h>

#include "base/time.h"

namespace rota::bench {

constexpr std::uint64_t kWarmUpSteps = 50;
constexpr std::uint64_t kWindowSteps = 200;

// Measures the steps of the window, and stops the training run at its end.
class Window : public TrainingHook {
 public:
  void on_begin(const BeginReport& report) override;
  void on_step(const StepReport& report) override;

  // Of all ranks together. Throws std::logic_error if the run ended before the window.
  double images_per_second() const;

 private:
  base::TimePoint begin_{};
  base::TimePoint end_{};
  std::uint64_t samples_ = 0;  // Of all ranks in the window.
};

// The settings of the example's mlp: batches of 100 images, SGD with momentum.
TrainerOptions options_of_mlp();
Model<float> mlp_for(const Dataset& data);

// A way to train. `run` is collective. It trains from the beginning, with `window` as the last
// hook.
struct Way {
  std::string name;
  std::function<void(Window& window)> run;
};

// Each round trains once in each way. The next round begins with the next way, so no effect of the
// order always hits the same way. Prints a row for each way in each round, on rank 0. Collective.
void run_rounds(Communicator& communicator, std::span<const Way> ways, std::size_t rounds);

}  // namespace rota::bench

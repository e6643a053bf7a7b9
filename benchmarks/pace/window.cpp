// The clock is read twice in a training run: before the first step of the window and after its
// last.
#include "pace/window.h"

#include <stdexcept>
#include <vector>

#include "examples/mnist/models.h"
#include "row.h"

namespace rota::bench {

void Window::on_begin(const BeginReport&) {
  ask_to_stop("the window has been measured", kWarmUpSteps + kWindowSteps);
}

void Window::on_step(const StepReport& report) {
  if (report.steps == kWarmUpSteps) {
    samples_ = report.samples;
    begin_ = base::Clock::now();
  } else if (report.steps == kWarmUpSteps + kWindowSteps) {
    end_ = base::Clock::now();
    samples_ = report.samples - samples_;
  }
}

double Window::images_per_second() const {
  if (end_ <= begin_) throw std::logic_error("the training run ended before its window");
  return static_cast<double>(samples_) / base::to_seconds(end_ - begin_);
}

TrainerOptions options_of_mlp() {
  TrainerOptions options;
  options.optimizer = Sgd{.learning_rate = 0.05, .momentum = 0.9};
  return options;
}

Model<float> mlp_for(const Dataset& data) { return {data.shape, layers_of("mlp", data.classes)}; }

void run_rounds(Communicator& communicator, std::span<const Way> ways, std::size_t rounds) {
  std::vector<double> paces(ways.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (round + turn) % ways.size();
      Window window;
      ways[way].run(window);
      paces[way] = window.images_per_second();
    }
    if (communicator.rank() != 0) continue;
    for (std::size_t way = 0; way < ways.size(); ++way) print_row(ways[way].name, paces[way]);
  }
}

}  // namespace rota::bench

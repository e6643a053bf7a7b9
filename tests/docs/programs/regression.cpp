// Fits a line to points on all ranks: float labels, and a score of two errors.
#include <rota/trainer.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

struct Errors {
  double squared = 0;  // The first sum is the training loss.
  double absolute = 0;
  std::size_t samples = 0;
  std::array<double, 2> sums() const { return {squared, absolute}; }
  static Errors from_sums(const std::array<double, 2>& sums, std::size_t samples) {
    return {sums[0], sums[1], samples};
  }
};

struct Points {
  std::vector<float> x;
  std::vector<float> y;  // The labels.
};

class Line {
 public:
  using Element = float;
  using BatchType = Points;
  using ScoreType = Errors;

  const std::vector<rota::ParameterInfo>& parameters() const { return parameters_; }
  void bind(std::size_t index, std::span<float> values, std::span<float> gradient) {
    values_[index] = values.data();
    gradients_[index] = gradient.data();
  }
  void initialize(std::uint64_t) { *values_[0] = *values_[1] = 0; }

  Errors forward(const Points& batch) {
    slopes_ = {0, 0};
    return errors_of(batch, slopes_);
  }
  void backward(const std::function<void(std::size_t)>& gradient_ready, rota::Gradients gradients) {
    for (std::size_t index = 2; index-- > 0;) {
      const bool adds = gradients == rota::Gradients::kAdd;
      *gradients_[index] = slopes_[index] + (adds ? *gradients_[index] : 0);
      if (gradient_ready) gradient_ready(index);
    }
  }
  Errors evaluate(const Points& batch) const {
    std::array<float, 2> slopes{};
    return errors_of(batch, slopes);
  }

 private:
  Errors errors_of(const Points& batch, std::array<float, 2>& slopes) const {
    Errors errors{.samples = batch.x.size()};
    for (std::size_t i = 0; i < batch.x.size(); ++i) {
      const float error = *values_[0] * batch.x[i] + *values_[1] - batch.y[i];
      errors.squared += error * error;
      errors.absolute += std::abs(error);
      slopes[0] += 2 * error * batch.x[i];
      slopes[1] += 2 * error;
    }
    return errors;
  }

  std::vector<rota::ParameterInfo> parameters_ = {{"slope", {1}}, {"height", {1}}};
  std::array<float*, 2> values_{};
  std::array<float*, 2> gradients_{};
  std::array<float, 2> slopes_{};  // Set by forward(), for backward().
};

// Points near the line y = 3 x - 1.
Points points_of(const rota::SampleRun& run) {
  Points points;
  for (const std::uint64_t sample : run.samples) {
    const float noise = sample / 20 % 2 == 0 ? 0.1F : -0.1F;
    points.x.push_back(static_cast<float>(sample % 20) / 10 - 1);
    points.y.push_back(3 * points.x.back() - 1 + noise);
  }
  return points;
}

int main() {
  rota::Communicator ranks;
  rota::TrainerOptions options;
  options.epochs = 20;
  options.final_learning_rate_factor = 0;
  options.batch_size = 10;
  options.optimizer = rota::Sgd{.learning_rate = 0.2};
  const rota::SampleSource<Points> train = {200, "noisy line", points_of};
  const rota::SampleSource<Points> test = {40, "noisy line", points_of};
  rota::Trainer<float, Line> trainer(ranks, Line(), train, test, options);
  const auto end = trainer.run();
  if (ranks.rank() > 0) return 0;
  const auto samples = static_cast<double>(end.test.samples);
  std::printf("slope %.2f, height %.2f; squared error %.3f, absolute error %.3f\n",
              trainer.replica().values(0)[0], trainer.replica().values(1)[0],
              end.test.squared / samples, end.test.absolute / samples);
}

// Runs the passes of a model on the host.
#include <algorithm>

#include <rota/error.h>

#include "nn/device_runner.h"
#include "nn/host_math.h"
#include "nn/initializer.h"
#include "nn/runner.h"
#include "nn/softmax_cross_entropy.h"
#include "nn/stages.h"

namespace rota::nn {
namespace {

template <class T>
class HostRunner final : public Runner<T> {
 public:
  explicit HostRunner(ImageShape input) : input_(input), stages_(HostMath<T>()) {
    use_one_thread();
  }

  const Module<T>& add(const Layer& layer, std::size_t position, ImageShape input) override {
    const Module<T>& module = stages_.add(layer, position, input);
    classes_ = module.output_shape().count();
    return module;
  }
  void bind(std::size_t parameter, T* values, T* gradient, cuda::Handle) noexcept override {
    stages_.bind(parameter, values, gradient);
  }
  void initialize(T* values, std::size_t count, double deviation, std::uint64_t seed,
                  std::size_t parameter) override {
    fill_normal<T>({values, count}, deviation, seed, parameter);
  }
  void clear(T* gradient, std::size_t count) override { std::fill_n(gradient, count, T{0}); }

  const char* why_not(const Batch<T>& batch) const noexcept override {
    return batch.pixels.empty() ? nullptr : "a model on the host takes inputs, not pixels";
  }
  Score forward(const Pass& pass, const Batch<T>& batch) override {
    batch_input_ = batch.inputs.data();
    stages_.reserve(pass.samples);
    stages_.prepare(pass);
    const T* logits = stages_.forward(pass, batch_input_);
    return softmax_cross_entropy(logits, classes_, batch.labels, stages_.output_gradient());
  }
  void backward(const Pass& pass, const std::function<void(std::size_t)>& gradient_ready) override {
    stages_.backward(pass, batch_input_, gradient_ready);
  }
  Score evaluate(const Batch<T>& batch) override {
    Score total;
    for_each_part(batch, batch.labels.size(),
                  [&](std::size_t first, std::size_t count, const T* logits) {
                    const Score score = softmax_cross_entropy<T>(
                        logits, classes_, batch.labels.subspan(first, count), nullptr);
                    total.loss += score.loss;
                    total.correct += score.correct;
                    total.samples += score.samples;
                  });
    return total;
  }
  void predict(const Batch<T>& batch, std::size_t samples, T* logits) override {
    for_each_part(batch, samples, [&](std::size_t first, std::size_t count, const T* some) {
      std::copy_n(some, count * classes_, logits + first * classes_);
    });
  }

 private:
  // Runs the forward pass, without dropout, on some samples at a time. Calls `take` with the number
  // of their first sample, how many they are, and their logits.
  template <class Take>
  void for_each_part(const Batch<T>& batch, std::size_t samples, const Take& take) {
    for (std::size_t first = 0; first < samples; first += kEvaluatedTogether) {
      Pass pass;
      pass.samples = std::min(kEvaluatedTogether, samples - first);
      stages_.reserve(pass.samples);
      take(first, pass.samples,
           stages_.forward(pass, batch.inputs.data() + first * input_.count()));
    }
  }

  ImageShape input_;
  std::size_t classes_ = 0;
  Stages<HostMath<T>> stages_;
  const T* batch_input_ = nullptr;  // Of the latest forward().
};

}  // namespace

template <>
std::unique_ptr<Runner<float>> make_runner(MemoryKind where, ImageShape input) {
  if (!where.is_host()) return make_device_runner(where.device(), input);
  return std::make_unique<HostRunner<float>>(input);
}

template <>
std::unique_ptr<Runner<double>> make_runner(MemoryKind where, ImageShape input) {
  if (where.is_host()) return std::make_unique<HostRunner<double>>(input);
  throw Error(ErrorCode::kInvalidArgument,
              "a model on a device computes in float: make a Model<float>");
}

}  // namespace rota::nn

// Puts the passes of a model on a stream of a device, and repeats them as CUDA graphs. The host
// waits only for scores.
#include "nn/device_runner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <rota/error.h>
#include <rota/trainable.h>

#include "device/block.h"
#include "device/wait.h"
#include "nn/batch_upload.h"
#include "nn/initializer.h"
#include "nn/pass_graphs.h"
#include "nn/stages.h"

namespace rota::nn {
namespace {

constexpr std::size_t kTotals = 2;  // The loss, and how many samples are correct.

class DeviceRunner final : public Runner<float> {
 public:
  DeviceRunner(std::uint8_t device, ImageShape input)
      : work_(device),
        stages_(DeviceMath(work_)),
        upload_(work_, input.count()),
        graphs_(work_),
        totals_(allocate_device(kTotals * sizeof(double), device)),
        seen_totals_(device::allocate_pinned(kTotals * sizeof(double))),
        scored_(device) {}
  // Work on the stream uses memory of the members.
  ~DeviceRunner() override {
    try {
      work_.settle();
    } catch (const Error&) {
      // Ignored here: the device has failed, or its next call throws the same error.
    }
  }

  const Module<float>& add(const Layer& layer, std::size_t position, ImageShape input) override {
    const Module<float>& module = stages_.add(layer, position, input);
    classes_ = module.output_shape().count();
    events_.resize(events_.size() + module.parameters().size());
    return module;
  }
  void bind(std::size_t parameter, float* values, float* gradient,
            cuda::Handle event) noexcept override {
    stages_.bind(parameter, values, gradient);
    events_[parameter] = event;
    has_events_ = has_events_ || event != 0;
    is_bound_anew_ = true;
  }
  void initialize(float* values, std::size_t count, double deviation, std::uint64_t seed,
                  std::size_t parameter) override {
    std::vector<float> drawn(count);
    fill_normal<float>(drawn, deviation, seed, parameter);
    work_.settle();
    copy_to_device(DeviceSpan<float>(values, count, work_.on().device), drawn);
  }
  void clear(float* gradient, std::size_t count) override {
    work_.check(work_.calls().clear(work_.on(), gradient, count * sizeof(float)),
                "the clearing of a gradient");
  }
  void mark(std::size_t parameter) override;

  const char* why_not(const Batch<float>&) const noexcept override { return nullptr; }
  Score forward(const Pass& pass, const Batch<float>& batch) override;
  Score late_score() override;
  void backward(const Pass& pass, const std::function<void(std::size_t)>& gradient_ready) override;
  Score evaluate(const Batch<float>& batch) override;
  void predict(const Batch<float>& batch, std::size_t samples, float* logits) override;

  cuda::On stream() const noexcept override { return work_.on(); }

 private:
  void reserve(std::size_t samples);
  void copy_totals();
  Score taken_score();
  PassGraphs::Key key_of(const Pass& pass, bool is_backward, bool adds) const noexcept;
  const float* put_logits(const Pass& pass);
  void put_forward(const Pass& pass);
  void settle_before_first(std::size_t samples);

  DeviceWork work_;  // First: the other members use it until they end.
  Stages<DeviceMath> stages_;
  BatchUpload upload_;
  PassGraphs graphs_;
  std::vector<std::size_t> trained_sizes_;  // Of batches that forward() has had.
  std::vector<cuda::Handle> events_;        // By parameter; 0: none.
  bool has_events_ = false;
  bool is_bound_anew_ = false;  // Graphs have addresses and events of earlier calls of bind().
  std::size_t classes_ = 0;
  BatchUpload::Copied batch_{};  // Of the latest pass.
  DeviceBlock totals_;
  Block seen_totals_;               // What they were after the latest forward().
  device::Event scored_;            // seen_totals_ has been written.
  std::size_t scored_samples_ = 0;  // In totals_.
  Score kept_;                      // Of forward passes before an evaluation.
};

// Makes room for batches of so many samples. Graphs use the memory that was there before.
void DeviceRunner::reserve(std::size_t samples) {
  if (stages_.has_room(samples) && !is_bound_anew_) return;
  work_.settle();
  graphs_.clear();
  is_bound_anew_ = false;
  if (stages_.has_room(samples)) return;
  stages_.reserve(samples);
  upload_.reserve(samples);
}

void DeviceRunner::mark(std::size_t parameter) {
  if (events_[parameter] == 0) return;
  work_.check(work_.calls().record(work_.on(), events_[parameter]), "the recording of an event");
}

PassGraphs::Key DeviceRunner::key_of(const Pass& pass, bool is_backward, bool adds) const noexcept {
  return {is_backward, adds, pass.samples, batch_.inputs, batch_.pixels, batch_.labels};
}

// Puts the forward pass of batch_ on the stream. Returns where the logits will be.
const float* DeviceRunner::put_logits(const Pass& pass) {
  upload_.widen(batch_, pass.samples);
  return stages_.forward(pass, batch_.inputs);
}

// Puts the forward pass of batch_ on the stream, and its score, which adds to the totals or begins
// them anew.
void DeviceRunner::put_forward(const Pass& pass) {
  const float* logits = put_logits(pass);
  float* const gradient = pass.training ? stages_.output_gradient() : nullptr;
  const bool adds = scored_samples_ > 0;
  work_.check(
      work_.models().softmax_cross_entropy(work_.on(), totals_.as<double>().address(), gradient,
                                           logits, batch_.labels, pass.samples, classes_, adds),
      "the loss");
}

void DeviceRunner::copy_totals() {
  work_.check(work_.calls().copy(work_.on(), seen_totals_.bytes().data(), totals_.bytes().address(),
                                 totals_.bytes().size()),
              "the copy of a score");
}

Score DeviceRunner::taken_score() {
  if (scored_samples_ == 0) return {};
  device::wait_for(scored_, work_.on().device, "a forward pass");
  const auto* totals = reinterpret_cast<const double*>(seen_totals_.bytes().data());
  return {.loss = totals[0],
          .correct = static_cast<std::size_t>(totals[1]),
          .samples = std::exchange(scored_samples_, 0)};
}

// New shapes may need kernels of cuBLAS that are not loaded. CUDA may wait for the device when it
// loads them, so the stream must not wait for a sum that needs the device.
void DeviceRunner::settle_before_first(std::size_t samples) {
  if (std::ranges::find(trained_sizes_, samples) != trained_sizes_.end()) return;
  work_.settle();
  trained_sizes_.push_back(samples);
}

Score DeviceRunner::forward(const Pass& pass, const Batch<float>& batch) {
  reserve(pass.samples);
  batch_ = upload_.copy(batch, 0, pass.samples);
  Pass there = pass;
  there.identities = batch_.identities;
  stages_.prepare(there);  // Never in a graph: another step draws other numbers.
  settle_before_first(pass.samples);
  graphs_.run(key_of(there, false, scored_samples_ > 0), [&] {
    put_forward(there);
    copy_totals();
  });
  scored_samples_ += pass.samples;
  work_.record(scored_);
  return {.samples = pass.samples};
}

Score DeviceRunner::late_score() { return added(std::exchange(kept_, {}), taken_score()); }

void DeviceRunner::backward(const Pass& pass,
                            const std::function<void(std::size_t)>& gradient_ready) {
  Pass there = pass;
  there.identities = batch_.identities;
  if (gradient_ready && !has_events_) {  // The caller follows the pass while it is put there.
    stages_.backward(there, batch_.inputs, gradient_ready);
    return;
  }
  graphs_.run(key_of(there, true, pass.add_gradients), [&] {
    stages_.backward(there, batch_.inputs, [this](std::size_t parameter) { mark(parameter); });
  });
  for (std::size_t parameter = events_.size(); gradient_ready && parameter-- > 0;) {
    gradient_ready(parameter);
  }
}

Score DeviceRunner::evaluate(const Batch<float>& batch) {
  kept_ = added(kept_, taken_score());
  for (std::size_t first = 0; first < batch.labels.size(); first += kEvaluatedTogether) {
    Pass pass;
    pass.samples = std::min(kEvaluatedTogether, batch.labels.size() - first);
    reserve(pass.samples);
    batch_ = upload_.copy(batch, first, pass.samples);
    put_forward(pass);
    scored_samples_ += pass.samples;
  }
  copy_totals();
  work_.record(scored_);
  return taken_score();
}

void DeviceRunner::predict(const Batch<float>& batch, std::size_t samples, float* logits) {
  for (std::size_t first = 0; first < samples; first += kEvaluatedTogether) {
    Pass pass;
    pass.samples = std::min(kEvaluatedTogether, samples - first);
    reserve(pass.samples);
    batch_ = upload_.copy(batch, first, pass.samples);
    const float* there = put_logits(pass);
    const std::size_t count = pass.samples * classes_;
    work_.settle();  // The copy waits for no stream.
    copy_from_device(std::span(logits + first * classes_, count),
                     DeviceSpan<const float>(there, count, work_.on().device));
  }
}

}  // namespace

std::unique_ptr<Runner<float>> make_device_runner(std::uint8_t device, ImageShape input) {
  return std::make_unique<DeviceRunner>(device, input);
}

}  // namespace rota::nn

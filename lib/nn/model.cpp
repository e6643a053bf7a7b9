// A Model checks its arguments, and lets a runner compute.
#include <rota/error.h>
#include <rota/model.h>

#include <string>
#include <utility>

#include "nn/buffer.h"
#include "nn/runner.h"

namespace rota {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, what);
}

template <class T>
std::size_t input_count(const Batch<T>& batch) noexcept {
  return batch.pixels.empty() ? batch.inputs.size() : batch.pixels.size();
}

std::string text_of(MemoryKind memory) {
  return memory.is_host() ? "the host" : "device " + std::to_string(memory.device());
}

}  // namespace

std::size_t ParameterInfo::count() const noexcept {
  std::size_t count = 1;
  for (std::size_t extent : shape) count *= extent;
  return count;
}

template <class T>
class Model<T>::Impl {
 public:
  Impl(ImageShape input, const std::vector<Layer>& layers, MemoryKind memory);

  std::size_t classes() const noexcept { return classes_; }
  ImageShape input_shape() const noexcept { return input_; }
  MemoryKind memory() const noexcept { return memory_; }
  cuda::On stream() const noexcept { return runner_->stream(); }
  std::span<const Layer> layers() const noexcept { return layers_; }
  std::span<const ParameterInfo> parameters() const noexcept { return parameters_; }

  void bind(std::size_t index, MemoryKind memory, std::span<T> values, std::span<T> gradient,
            cuda::Handle event = 0);
  void initialize(std::uint64_t seed);
  Score forward(const Batch<T>& batch);
  Score late_score() { return runner_->late_score(); }
  void backward(const std::function<void(std::size_t)>& gradient_ready, Gradients gradients);
  Score evaluate(const Batch<T>& batch);
  std::vector<T> predict(const Batch<T>& batch);

 private:
  // Where a parameter is, in the memory where the model computes.
  struct Binding {
    std::span<T> values;
    std::span<T> gradient;
    double deviation = 0;  // Of the initial values.
  };

  ImageShape add(const Layer& layer, std::size_t position, ImageShape input);
  void check_inputs(const Batch<T>& batch, std::size_t samples, bool has_labels) const;
  void check(const Batch<T>& batch) const;
  void check_bound(std::size_t index) const;
  void announce_nothing(const std::function<void(std::size_t)>& gradient_ready,
                        Gradients gradients);

  ImageShape input_;
  MemoryKind memory_;
  std::unique_ptr<nn::Runner<T>> runner_;
  std::vector<Layer> layers_;
  std::vector<ParameterInfo> parameters_;
  std::vector<Binding> bindings_;  // One for each parameter.
  std::size_t classes_ = 0;
  bool has_dropout_ = false;
  nn::Pass pass_;  // Of the latest forward().
};

template <class T>
Model<T>::Impl::Impl(ImageShape input, const std::vector<Layer>& layers, MemoryKind memory)
    : input_(input), memory_(memory), layers_(layers) {
  if (input.count() == 0) refuse("the input has no values: give rows, columns and channels");
  if (layers.empty()) refuse("a model needs at least one layer");
  runner_ = nn::make_runner<T>(memory, input);
  ImageShape shape = input;
  for (std::size_t position = 0; position < layers.size(); ++position) {
    shape = add(layers[position], position, shape);
  }
  classes_ = shape.count();
  if (classes_ < 2) {
    refuse("the last layer has " + std::to_string(classes_) +
           " output; it needs one for each class, and at least 2");
  }
}

template <class T>
ImageShape Model<T>::Impl::add(const Layer& layer, std::size_t position, ImageShape input) {
  const nn::Module<T>& module = runner_->add(layer, position, input);
  for (nn::Parameter& parameter : module.parameters()) {
    parameters_.push_back(
        {std::to_string(position) + "." + nn::kind_name(layer.kind) + "." + parameter.name,
         std::move(parameter.shape)});
    bindings_.push_back({{}, {}, parameter.deviation});
  }
  has_dropout_ = has_dropout_ || layer.kind == Layer::Kind::kDropout;
  return module.output_shape();
}

template <class T>
void Model<T>::Impl::bind(std::size_t index, MemoryKind memory, std::span<T> values,
                          std::span<T> gradient, cuda::Handle event) {
  if (index >= parameters_.size()) {
    refuse("parameter " + std::to_string(index) + " cannot be bound: there are " +
           std::to_string(parameters_.size()) + " parameters, numbered from 0");
  }
  const ParameterInfo& info = parameters_[index];
  for (const std::span<T>& bound : {values, gradient}) {
    if (bound.size() != info.count()) {
      refuse("parameter " + info.name + " has " + std::to_string(info.count()) +
             " values, but is bound to memory for " + std::to_string(bound.size()));
    }
    if (reinterpret_cast<std::uintptr_t>(bound.data()) % nn::kAlignment != 0) {
      refuse("parameter " + info.name + " is bound to memory that is not 64-byte aligned");
    }
  }
  if (memory != memory_) {
    refuse("parameter " + info.name + " is bound to memory of " + text_of(memory) +
           ", but the model computes on " + text_of(memory_));
  }
  bindings_[index].values = values;
  bindings_[index].gradient = gradient;
  runner_->bind(index, values.data(), gradient.data(), event);
}

template <class T>
void Model<T>::Impl::check_bound(std::size_t index) const {
  if (bindings_[index].values.empty()) {
    refuse("parameter " + parameters_[index].name + " is not bound to memory yet");
  }
}

template <class T>
void Model<T>::Impl::initialize(std::uint64_t seed) {
  for (std::size_t index = 0; index < bindings_.size(); ++index) {
    check_bound(index);
    const Binding& binding = bindings_[index];
    runner_->initialize(binding.values.data(), binding.values.size(), binding.deviation, seed,
                        index);
  }
}

// Refuses inputs that are not those of so many samples. A batch to train on or to evaluate has
// labels.
template <class T>
void Model<T>::Impl::check_inputs(const Batch<T>& batch, std::size_t samples,
                                  bool has_labels) const {
  for (std::size_t index = 0; index < bindings_.size(); ++index) check_bound(index);
  if (const char* const why = runner_->why_not(batch)) refuse(why);
  const bool has_pixels = !batch.pixels.empty();
  const std::size_t inputs = input_count(batch);
  if (inputs == samples * input_.count() && !(has_pixels && !batch.inputs.empty())) return;
  const std::string what =
      has_labels ? "a batch of " + std::to_string(samples) + " labels" : "a batch to predict";
  refuse(what + " has " + std::to_string(inputs) + (has_pixels ? " pixels" : " input values") +
         "; this model takes " + std::to_string(input_.count()) + " for each sample" +
         (has_pixels ? ", and either pixels or input values" : ""));
}

template <class T>
void Model<T>::Impl::check(const Batch<T>& batch) const {
  const std::size_t samples = batch.labels.size();
  check_inputs(batch, samples, true);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    if (batch.labels[sample] < classes()) continue;
    refuse("sample " + std::to_string(sample) + " of the batch has label " +
           std::to_string(batch.labels[sample]) + "; the model has " + std::to_string(classes()) +
           " classes, counted from 0");
  }
}

template <class T>
void Model<T>::Impl::announce_nothing(const std::function<void(std::size_t)>& gradient_ready,
                                      Gradients gradients) {
  for (std::size_t index = bindings_.size(); index-- > 0;) {
    const std::span<T> gradient = bindings_[index].gradient;
    if (gradients == Gradients::kOverwrite) runner_->clear(gradient.data(), gradient.size());
    runner_->mark(index);
    if (gradient_ready) gradient_ready(index);
  }
}

template <class T>
Score Model<T>::Impl::forward(const Batch<T>& batch) {
  check(batch);
  const std::size_t samples = batch.labels.size();
  if (has_dropout_ && batch.samples.size() != samples) {
    refuse("a batch of " + std::to_string(samples) + " labels has " +
           std::to_string(batch.samples.size()) +
           " identities of samples; dropout needs one for each label");
  }
  pass_ = {.samples = samples,
           .training = true,
           .identities = batch.samples,
           .seed = batch.seed,
           .step = batch.step};
  return samples == 0 ? Score() : runner_->forward(pass_, batch);
}

template <class T>
void Model<T>::Impl::backward(const std::function<void(std::size_t)>& gradient_ready,
                              Gradients gradients) {
  if (pass_.samples == 0) {
    announce_nothing(gradient_ready, gradients);
    return;
  }
  pass_.add_gradients = gradients == Gradients::kAdd;
  runner_->backward(pass_, gradient_ready);
}

template <class T>
Score Model<T>::Impl::evaluate(const Batch<T>& batch) {
  check(batch);
  return runner_->evaluate(batch);
}

template <class T>
std::vector<T> Model<T>::Impl::predict(const Batch<T>& batch) {
  const std::size_t samples = input_count(batch) / input_.count();
  check_inputs(batch, samples, false);
  std::vector<T> logits(samples * classes_);
  const Batch<T> inputs = {.inputs = batch.inputs, .pixels = batch.pixels};
  runner_->predict(inputs, samples, logits.data());
  return logits;
}

template <class T>
Model<T>::Model(ImageShape input, const std::vector<Layer>& layers, MemoryKind memory)
    : impl_(std::make_unique<Impl>(input, layers, memory)) {}
template <class T>
Model<T>::Model(Model&&) noexcept = default;
template <class T>
Model<T>& Model<T>::operator=(Model&&) noexcept = default;
template <class T>
Model<T>::~Model() = default;

template <class T>
std::size_t Model<T>::classes() const noexcept {
  return impl_->classes();
}
template <class T>
ImageShape Model<T>::input_shape() const noexcept {
  return impl_->input_shape();
}

template <class T>
MemoryKind Model<T>::memory() const noexcept {
  return impl_->memory();
}
template <class T>
cuda::On Model<T>::stream() const noexcept {
  return impl_->stream();
}
template <class T>
std::span<const Layer> Model<T>::layers() const noexcept {
  return impl_->layers();
}
template <class T>
std::string Model<T>::settings() const {
  const ImageShape input = input_shape();
  std::string text = std::to_string(input.rows) + " × " + std::to_string(input.columns) + " × " +
                     std::to_string(input.channels);
  for (const Layer& layer : layers()) text += ", " + nn::describe(layer);
  return text;
}

template <class T>
std::span<const ParameterInfo> Model<T>::parameters() const noexcept {
  return impl_->parameters();
}
template <class T>
void Model<T>::bind(std::size_t index, std::span<T> values, std::span<T> gradient) {
  impl_->bind(index, {}, values, gradient);
}
template <class T>
void Model<T>::bind(std::size_t index, DeviceSpan<T> values, DeviceSpan<T> gradient,
                    cuda::Handle event) {
  if (values.device() != gradient.device())
    refuse("a parameter and its gradient are on two devices");
  impl_->bind(index, MemoryKind::of_device(values.device()), {values.address(), values.size()},
              {gradient.address(), gradient.size()}, event);
}
template <class T>
void Model<T>::initialize(std::uint64_t seed) {
  impl_->initialize(seed);
}
template <class T>
Score Model<T>::forward(const Batch<T>& batch) {
  return impl_->forward(batch);
}
template <class T>
Score Model<T>::late_score() {
  return impl_->late_score();
}
template <class T>
void Model<T>::backward(const std::function<void(std::size_t)>& gradient_ready,
                        Gradients gradients) {
  impl_->backward(gradient_ready, gradients);
}
template <class T>
Score Model<T>::train(const Batch<T>& batch, const std::function<void(std::size_t)>& gradient_ready,
                      Gradients gradients) {
  const Score score = forward(batch);
  backward(gradient_ready, gradients);
  return memory().is_host() ? score : late_score();
}
template <class T>
Score Model<T>::evaluate(const Batch<T>& batch) {
  return impl_->evaluate(batch);
}
template <class T>
std::vector<T> Model<T>::predict(const Batch<T>& batch) {
  return impl_->predict(batch);
}

template class Model<float>;
template class Model<double>;

}  // namespace rota

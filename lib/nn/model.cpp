// Model: checks what it is given, lends memory to the modules and calls them in order.
#include <rota/error.h>
#include <rota/model.h>

#include <algorithm>
#include <utility>

#include "nn/buffer.h"
#include "nn/initializer.h"
#include "nn/module.h"
#include "nn/product.h"
#include "nn/softmax_cross_entropy.h"

namespace rota {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, what);
}

// So many samples at a time are evaluated: how many are asked for takes no memory.
constexpr std::size_t kEvaluatedTogether = 100;

}  // namespace

std::size_t ParameterInfo::count() const noexcept {
  std::size_t count = 1;
  for (std::size_t extent : shape) count *= extent;
  return count;
}

template <class T>
class Model<T>::Impl {
 public:
  Impl(ImageShape input, const std::vector<Layer>& layers);

  std::size_t classes() const noexcept { return stages_.back().features; }
  ImageShape input_shape() const noexcept { return input_; }
  std::span<const ParameterInfo> parameters() const noexcept { return parameters_; }

  void bind(std::size_t index, std::span<T> values, std::span<T> gradient);
  void initialize(std::uint64_t seed);
  Score forward(const Batch<T>& batch);
  void backward(const std::function<void(std::size_t)>& gradient_ready, Gradients gradients);
  Score evaluate(const Batch<T>& batch);

 private:
  // A module and where its output lies.
  struct Stage {
    std::unique_ptr<nn::Module<T>> module;
    std::size_t features = 0;
    std::size_t first_parameter = 0;
    std::size_t parameter_count = 0;
    bool in_place = false;  // The output overwrites the previous stage's.
    nn::Buffer<T> memory;   // Unused if in_place.
    T* output = nullptr;
  };
  struct Binding {
    std::span<T> values;
    std::span<T> gradient;
    double deviation = 0;  // Of the values it starts with.
  };

  void add(const Layer& layer, std::size_t position, ImageShape input);
  void check(const Batch<T>& batch) const;
  void check_bound(std::size_t index) const;
  void reserve(std::size_t samples);
  const T* run_forward(const nn::Pass& pass, const T* input);
  void run_backward(const std::function<void(std::size_t)>& gradient_ready);
  void announce_nothing(const std::function<void(std::size_t)>& gradient_ready,
                        Gradients gradients);

  ImageShape input_;
  std::vector<Stage> stages_;
  std::vector<ParameterInfo> parameters_;
  std::vector<Binding> bindings_;  // One a parameter.
  bool has_dropout_ = false;
  std::size_t capacity_ = 0;         // In samples.
  nn::Buffer<T> gradients_[2];       // Of a stage's output and of its input, in turn.
  nn::Pass pass_;                    // The latest forward(), and
  const T* input_values_ = nullptr;  // what it was given.
};

template <class T>
Model<T>::Impl::Impl(ImageShape input, const std::vector<Layer>& layers) : input_(input) {
  nn::use_one_thread();
  if (input.count() == 0) refuse("the input has no values: give rows, columns and channels");
  if (layers.empty()) refuse("a model needs at least one layer");
  ImageShape shape = input;
  for (std::size_t position = 0; position < layers.size(); ++position) {
    add(layers[position], position, shape);
    shape = stages_.back().module->output_shape();
  }
  if (classes() < 2) {
    refuse("the last layer has " + std::to_string(classes()) +
           " output; it needs one for each class, and at least 2");
  }
}

template <class T>
void Model<T>::Impl::add(const Layer& layer, std::size_t position, ImageShape input) {
  Stage stage;
  stage.module = nn::make_module<T>(layer, position, input);
  stage.features = stage.module->output_shape().count();
  stage.first_parameter = parameters_.size();
  stage.in_place = !stages_.empty() && stage.module->works_in_place() &&
                   !stages_.back().module->rereads_output();
  for (nn::Parameter& parameter : stage.module->parameters()) {
    parameters_.push_back(
        {std::to_string(position) + "." + nn::kind_name(layer.kind) + "." + parameter.name,
         std::move(parameter.shape)});
    bindings_.push_back({{}, {}, parameter.deviation});
  }
  stage.parameter_count = parameters_.size() - stage.first_parameter;
  has_dropout_ = has_dropout_ || layer.kind == Layer::Kind::kDropout;
  stages_.push_back(std::move(stage));
}

template <class T>
void Model<T>::Impl::bind(std::size_t index, std::span<T> values, std::span<T> gradient) {
  if (index >= parameters_.size()) {
    refuse("parameter " + std::to_string(index) + " cannot be bound: there are " +
           std::to_string(parameters_.size()));
  }
  const ParameterInfo& info = parameters_[index];
  for (const std::span<T>& memory : {values, gradient}) {
    if (memory.size() != info.count()) {
      refuse("parameter " + info.name + " has " + std::to_string(info.count()) +
             " values, but is bound to memory for " + std::to_string(memory.size()));
    }
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % nn::kAlignment != 0) {
      refuse("parameter " + info.name + " is bound to memory that is not 64-byte aligned");
    }
  }
  bindings_[index].values = values;
  bindings_[index].gradient = gradient;
  for (Stage& stage : stages_) {
    const std::size_t local = index - stage.first_parameter;
    if (local < stage.parameter_count) stage.module->bind(local, values.data(), gradient.data());
  }
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
    nn::fill_normal(bindings_[index].values, bindings_[index].deviation, seed, index);
  }
}

template <class T>
void Model<T>::Impl::check(const Batch<T>& batch) const {
  for (std::size_t index = 0; index < bindings_.size(); ++index) check_bound(index);
  const std::size_t samples = batch.labels.size();
  if (batch.inputs.size() != samples * input_.count()) {
    refuse("a batch of " + std::to_string(samples) + " labels has " +
           std::to_string(batch.inputs.size()) + " input values; this model takes " +
           std::to_string(input_.count()) + " a sample");
  }
  for (std::size_t sample = 0; sample < samples; ++sample) {
    if (batch.labels[sample] < classes()) continue;
    refuse("sample " + std::to_string(sample) + " of the batch has label " +
           std::to_string(batch.labels[sample]) + "; the model has " + std::to_string(classes()) +
           " classes, counted from 0");
  }
}

template <class T>
void Model<T>::Impl::reserve(std::size_t samples) {
  if (samples <= capacity_) return;
  std::size_t most_features = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    stage.module->reserve(samples);
    if (!stage.in_place) stage.memory.reserve(samples * stage.features);
    stage.output = stage.in_place ? stages_[i - 1].output : stage.memory.data();
    most_features = std::max(most_features, stage.features);
  }
  for (nn::Buffer<T>& gradient : gradients_) gradient.reserve(samples * most_features);
  capacity_ = samples;
}

template <class T>
const T* Model<T>::Impl::run_forward(const nn::Pass& pass, const T* input) {
  for (Stage& stage : stages_) {
    stage.module->forward(pass, input, stage.output);
    input = stage.output;
  }
  return input;
}

template <class T>
void Model<T>::Impl::run_backward(const std::function<void(std::size_t)>& gradient_ready) {
  T* output_gradient = gradients_[0].data();
  T* input_gradient = gradients_[1].data();
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Stage& stage = stages_[i];
    const nn::Backward<T> backward = {
        .input = i == 0 ? input_values_ : stages_[i - 1].output,
        .output = stage.output,
        .output_gradient = output_gradient,
        .input_gradient = stage.module->works_in_place() ? output_gradient : input_gradient};
    stage.module->parameter_gradients(pass_, backward);
    for (std::size_t k = stage.parameter_count; k-- > 0;) {
      if (gradient_ready) gradient_ready(stage.first_parameter + k);
    }
    if (i == 0) break;  // Nobody asks for the gradient of the data.
    stage.module->input_gradient(pass_, backward);
    if (!stage.module->works_in_place()) std::swap(output_gradient, input_gradient);
  }
}

template <class T>
void Model<T>::Impl::announce_nothing(const std::function<void(std::size_t)>& gradient_ready,
                                      Gradients gradients) {
  for (std::size_t index = bindings_.size(); index-- > 0;) {
    if (gradients == Gradients::kOverwrite) std::ranges::fill(bindings_[index].gradient, T{0});
    if (gradient_ready) gradient_ready(index);
  }
}

template <class T>
Score Model<T>::Impl::forward(const Batch<T>& batch) {
  check(batch);
  const std::size_t samples = batch.labels.size();
  if (has_dropout_ && batch.samples.size() != samples) {
    refuse("a batch of " + std::to_string(samples) + " labels has " +
           std::to_string(batch.samples.size()) + " identities of samples, which dropout needs");
  }
  pass_ = {.samples = samples,
           .training = true,
           .identities = batch.samples,
           .seed = batch.seed,
           .step = batch.step};
  input_values_ = batch.inputs.data();
  if (samples == 0) return {};
  reserve(samples);
  const T* logits = run_forward(pass_, input_values_);
  return nn::softmax_cross_entropy(logits, classes(), batch.labels, gradients_[0].data());
}

template <class T>
void Model<T>::Impl::backward(const std::function<void(std::size_t)>& gradient_ready,
                              Gradients gradients) {
  if (pass_.samples == 0) {
    announce_nothing(gradient_ready, gradients);
    return;
  }
  pass_.add_gradients = gradients == Gradients::kAdd;
  run_backward(gradient_ready);
}

template <class T>
Score Model<T>::Impl::evaluate(const Batch<T>& batch) {
  check(batch);
  Score total;
  for (std::size_t first = 0; first < batch.labels.size(); first += kEvaluatedTogether) {
    const std::size_t samples = std::min(kEvaluatedTogether, batch.labels.size() - first);
    reserve(samples);
    nn::Pass pass;
    pass.samples = samples;
    const T* logits = run_forward(pass, batch.inputs.data() + first * input_.count());
    const Score score = nn::softmax_cross_entropy<T>(logits, classes(),
                                                     batch.labels.subspan(first, samples), nullptr);
    total.loss += score.loss;
    total.correct += score.correct;
    total.samples += score.samples;
  }
  return total;
}

template <class T>
Model<T>::Model(ImageShape input, const std::vector<Layer>& layers)
    : impl_(std::make_unique<Impl>(input, layers)) {}
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
std::span<const ParameterInfo> Model<T>::parameters() const noexcept {
  return impl_->parameters();
}
template <class T>
void Model<T>::bind(std::size_t index, std::span<T> values, std::span<T> gradient) {
  impl_->bind(index, values, gradient);
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
void Model<T>::backward(const std::function<void(std::size_t)>& gradient_ready,
                        Gradients gradients) {
  impl_->backward(gradient_ready, gradients);
}
template <class T>
Score Model<T>::train(const Batch<T>& batch, const std::function<void(std::size_t)>& gradient_ready,
                      Gradients gradients) {
  const Score score = forward(batch);
  backward(gradient_ready, gradients);
  return score;
}
template <class T>
Score Model<T>::evaluate(const Batch<T>& batch) {
  return impl_->evaluate(batch);
}

template class Model<float>;
template class Model<double>;

}  // namespace rota

// Calls the modules in order, and gives each of them memory.
#include "nn/stages.h"

#include <algorithm>
#include <utility>

#include "nn/device_math.h"
#include "nn/host_math.h"
#include "nn/make_module.h"

namespace rota::nn {

template <class Math>
const Module<typename Math::Element>& Stages<Math>::add(const Layer& layer, std::size_t position,
                                                        ImageShape input) {
  Stage stage;
  stage.module = make_module(math_, layer, position, input);
  stage.features = stage.module->output_shape().count();
  stage.first_parameter = parameter_count_;
  stage.parameter_count = stage.module->parameters().size();
  stage.in_place = !stages_.empty() && stage.module->works_in_place() &&
                   !stages_.back().module->rereads_output();
  parameter_count_ += stage.parameter_count;
  stages_.push_back(std::move(stage));
  return *stages_.back().module;
}

template <class Math>
void Stages<Math>::bind(std::size_t parameter, T* values, T* gradient) noexcept {
  for (Stage& stage : stages_) {
    const std::size_t local = parameter - stage.first_parameter;
    if (local < stage.parameter_count) stage.module->bind(local, values, gradient);
  }
}

template <class Math>
void Stages<Math>::reserve(std::size_t samples) {
  if (has_room(samples)) return;
  std::size_t most_features = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    stage.module->reserve(samples);
    if (!stage.in_place) math_.reserve(stage.memory, samples * stage.features);
    stage.output = stage.in_place ? stages_[i - 1].output : stage.memory.data();
    most_features = std::max(most_features, stage.features);
  }
  for (auto& gradient : gradients_) math_.reserve(gradient, samples * most_features);
  capacity_ = samples;
}

template <class Math>
void Stages<Math>::prepare(const Pass& pass) {
  for (Stage& stage : stages_) stage.module->prepare(pass);
}

template <class Math>
const typename Math::Element* Stages<Math>::forward(const Pass& pass, const T* input) {
  for (Stage& stage : stages_) {
    stage.module->forward(pass, input, stage.output);
    input = stage.output;
  }
  return input;
}

template <class Math>
void Stages<Math>::backward(const Pass& pass, const T* input,
                            const std::function<void(std::size_t)>& gradient_ready) {
  T* output_gradient = gradients_[0].data();
  T* input_gradient = gradients_[1].data();
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Stage& stage = stages_[i];
    const Backward<T> backward = {
        .input = i == 0 ? input : stages_[i - 1].output,
        .output = stage.output,
        .output_gradient = output_gradient,
        .input_gradient = stage.module->works_in_place() ? output_gradient : input_gradient};
    stage.module->parameter_gradients(pass, backward);
    for (std::size_t k = stage.parameter_count; k-- > 0;) {
      if (gradient_ready) gradient_ready(stage.first_parameter + k);
    }
    if (i == 0) break;  // No layer needs the gradient of the data.
    stage.module->input_gradient(pass, backward);
    if (!stage.module->works_in_place()) std::swap(output_gradient, input_gradient);
  }
}

template class Stages<HostMath<float>>;
template class Stages<HostMath<double>>;
template class Stages<DeviceMath>;

}  // namespace rota::nn

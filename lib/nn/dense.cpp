// The three products of a dense layer: the outputs, and the gradients of weights and inputs.
#include "nn/dense.h"

#include "nn/device_math.h"
#include "nn/host_math.h"
#include "nn/initializer.h"

namespace rota::nn {

template <class Math>
Dense<Math>::Dense(const Math& math, std::size_t inputs, const Layer& layer)
    : math_(math), inputs_(inputs), outputs_(layer.outputs), initializer_(layer.initializer) {
  math_.reserve_columns(outputs_);
}

template <class Math>
std::vector<Parameter> Dense<Math>::parameters() const {
  return {{"weights", {inputs_, outputs_}, weight_deviation(initializer_, inputs_, outputs_)},
          {"biases", {outputs_}, bias_deviation(initializer_)}};
}

template <class Math>
void Dense<Math>::bind(std::size_t index, T* values, T* gradient) noexcept {
  (index == 0 ? weights_ : biases_) = values;
  (index == 0 ? weights_gradient_ : biases_gradient_) = gradient;
}

template <class Math>
void Dense<Math>::forward(const Pass& pass, const T* input, T* output) {
  math_.fill_rows(biases_, outputs_, output, pass.samples);
  math_.multiply(row_major(input, pass.samples, inputs_), row_major<T>(weights_, inputs_, outputs_),
                 output, Result::kAdd);
}

template <class Math>
void Dense<Math>::parameter_gradients(const Pass& pass, const Backward<T>& backward) {
  const Result mode = pass.add_gradients ? Result::kAdd : Result::kOverwrite;
  math_.add_rows(backward.output_gradient, pass.samples, biases_gradient_, outputs_, mode);
  math_.multiply(row_major(backward.input, pass.samples, inputs_).transposed(),
                 row_major(backward.output_gradient, pass.samples, outputs_), weights_gradient_,
                 mode);
}

template <class Math>
void Dense<Math>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  math_.multiply(row_major(backward.output_gradient, pass.samples, outputs_),
                 row_major<T>(weights_, inputs_, outputs_).transposed(), backward.input_gradient,
                 Result::kOverwrite);
}

template class Dense<HostMath<float>>;
template class Dense<HostMath<double>>;
template class Dense<DeviceMath>;

}  // namespace rota::nn

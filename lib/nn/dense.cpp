// The three products of a dense layer: the outputs, and the gradients of weights and inputs.
#include "nn/dense.h"

#include <algorithm>

#include "nn/bias.h"
#include "nn/initializer.h"
#include "nn/product.h"

namespace rota::nn {

template <class T>
Dense<T>::Dense(std::size_t inputs, const Layer& layer)
    : inputs_(inputs), outputs_(layer.outputs), initializer_(layer.initializer) {}

template <class T>
std::vector<Parameter> Dense<T>::parameters() const {
  return {{"weights", {inputs_, outputs_}, weight_deviation(initializer_, inputs_, outputs_)},
          {"biases", {outputs_}, bias_deviation(initializer_)}};
}

template <class T>
void Dense<T>::bind(std::size_t index, T* values, T* gradient) noexcept {
  (index == 0 ? weights_ : biases_) = values;
  (index == 0 ? weights_gradient_ : biases_gradient_) = gradient;
}

template <class T>
void Dense<T>::forward(const Pass& pass, const T* input, T* output) {
  fill_rows(biases_, outputs_, output, pass.samples);
  multiply(row_major(input, pass.samples, inputs_), row_major<T>(weights_, inputs_, outputs_),
           output, Result::kAdd);
}

template <class T>
void Dense<T>::parameter_gradients(const Pass& pass, const Backward<T>& backward) {
  if (!pass.add_gradients) std::fill_n(biases_gradient_, outputs_, T{0});
  add_rows(backward.output_gradient, pass.samples, biases_gradient_, outputs_);
  multiply(row_major(backward.input, pass.samples, inputs_).transposed(),
           row_major(backward.output_gradient, pass.samples, outputs_), weights_gradient_,
           pass.add_gradients ? Result::kAdd : Result::kOverwrite);
}

template <class T>
void Dense<T>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  multiply(row_major(backward.output_gradient, pass.samples, outputs_),
           row_major<T>(weights_, inputs_, outputs_).transposed(), backward.input_gradient,
           Result::kOverwrite);
}

template class Dense<float>;
template class Dense<double>;

}  // namespace rota::nn

// What all activations have in common: where their values and gradients are.
#include "nn/activations.h"

#include "base/assert.h"
#include "nn/device_math.h"
#include "nn/host_math.h"

namespace rota::nn {

template <class Math>
void Activation<Math>::forward(const Pass& pass, const T* input, T* output) {
  const std::size_t count = pass.samples * shape_.count();
  if (input != output) math_.copy(input, count, output);
  apply(pass, {output, count});
}

template <class Math>
void Activation<Math>::input_gradient(const Pass& pass, const Backward<T>& backward) {
  ROTA_ASSERT(backward.input_gradient == backward.output_gradient);
  differentiate({backward.input_gradient, pass.samples * shape_.count()}, backward.output);
}

template class Activation<HostMath<float>>;
template class Activation<HostMath<double>>;
template class Activation<DeviceMath>;
template class Relu<HostMath<float>>;
template class Relu<HostMath<double>>;
template class Relu<DeviceMath>;
template class Sigmoid<HostMath<float>>;
template class Sigmoid<HostMath<double>>;
template class Sigmoid<DeviceMath>;

}  // namespace rota::nn

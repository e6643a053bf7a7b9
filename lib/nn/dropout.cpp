// Draws which units stay. All other work is one multiplication in the forward and the backward
// pass.
#include "nn/dropout.h"

#include "nn/device_math.h"
#include "nn/host_math.h"
#include "nn/random.h"

namespace rota::nn {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

template <class Math>
Dropout<Math>::Dropout(const Math& math, ImageShape shape, const Layer& layer, std::size_t position)
    : Activation<Math>(math, shape), rate_(layer.rate), position_(position) {}

template <class Math>
void Dropout<Math>::prepare(const Pass& pass) {
  if (!pass.training) return;
  // Two stages, because step, layer, sample and unit do not fit into one counter.
  const RandomBlock layer =
      philox(pass.seed, {low(pass.step), high(pass.step), low(position_), kDropoutStream});
  const kernels::DropoutDraw<T> draw = {.key = join(layer[0], layer[1]),
                                        .threshold = static_cast<std::uint32_t>(rate_ * 0x1p16),
                                        .kept = static_cast<T>(1 / (1 - rate_))};
  this->math_.draw_factors(draw, pass.identities.first(pass.samples), this->shape().count(),
                           factors_.data());
}

template <class Math>
void Dropout<Math>::apply(const Pass& pass, std::span<T> values) {
  if (pass.training) differentiate(values, nullptr);
}

template <class Math>
void Dropout<Math>::differentiate(std::span<T> gradient, const T* /*output*/) {
  this->math_.multiply_each(gradient, factors_.data());
}

template class Dropout<HostMath<float>>;
template class Dropout<HostMath<double>>;
template class Dropout<DeviceMath>;

}  // namespace rota::nn

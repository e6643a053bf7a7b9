// Draws which units stay. All other work is one multiplication in the forward and the backward
// pass.
#include "nn/dropout.h"

#include <algorithm>
#include <cmath>

#include "nn/device_math.h"
#include "nn/host_math.h"
#include "nn/random.h"

namespace rota::nn {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

// Returns how many of the 65536 values of 16 bits drop a unit. Some units always stay.
std::uint32_t threshold_of(double rate) {
  return std::min(static_cast<std::uint32_t>(std::lround(rate * 0x1p16)), 0xffffU);
}

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
  // The factor is that of the share that is really kept, so the expected value stays the same.
  const std::uint32_t threshold = threshold_of(rate_);
  const kernels::DropoutDraw<T> draw = {.key = join(layer[0], layer[1]),
                                        .threshold = threshold,
                                        .kept = static_cast<T>(0x1p16 / (0x1p16 - threshold))};
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

// Draws which units stay; the rest is one multiplication forward and one backward.
#include "nn/dropout.h"

#include <algorithm>

#include "nn/random.h"

namespace rota::nn {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

template <class T>
Dropout<T>::Dropout(ImageShape shape, const Layer& layer, std::size_t position)
    : Activation<T>(shape), rate_(layer.rate), position_(position) {}

template <class T>
void Dropout<T>::apply(const Pass& pass, std::span<T> values) noexcept {
  if (!pass.training) return;
  draw_factors(pass);
  differentiate(values, nullptr);
}

template <class T>
void Dropout<T>::differentiate(std::span<T> gradient, const T* /*output*/) noexcept {
  const T* factors = factors_.data();
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= factors[i];
}

template <class T>
void Dropout<T>::draw_factors(const Pass& pass) noexcept {
  const std::size_t units = this->shape().count();
  // In two stages, since step, layer, sample and unit do not fit into one counter.
  const RandomBlock layer =
      philox(pass.seed, {low(pass.step), high(pass.step), low(position_), kDropoutStream});
  const std::uint64_t key = join(layer[0], layer[1]);
  // 16 bits decide on a unit, so that one block decides on eight.
  const auto threshold = static_cast<std::uint32_t>(rate_ * 0x1p16);
  const T kept = static_cast<T>(1 / (1 - rate_));
  T* factor = factors_.data();
  for (std::size_t sample = 0; sample < pass.samples; ++sample) {
    const std::uint64_t identity = pass.identities[sample];
    for (std::size_t unit = 0; unit < units; unit += 8) {
      const RandomBlock random = philox(key, {low(identity), high(identity), low(unit / 8), 0});
      const std::size_t count = std::min<std::size_t>(8, units - unit);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = (random[i / 2] >> (i % 2 * 16)) & 0xffff;
        *factor++ = static_cast<T>(bits >= threshold) * kept;  // A branch would be guessed wrong.
      }
    }
  }
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace rota::nn

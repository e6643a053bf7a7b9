// The initial values of parameters.
#pragma once
#include <rota/model.h>

#include <cstdint>
#include <span>

namespace rota::nn {

// These two functions return the standard deviations of a layer's initial weights and biases. Each
// output value of the layer depends on `inputs` values, and each input value affects `outputs`
// values.
double weight_deviation(Initializer initializer, std::size_t inputs, std::size_t outputs) noexcept;
double bias_deviation(Initializer initializer) noexcept;

// Sets element i to a draw from N(0, deviation²) that depends on (seed, parameter, i) alone.
// Computes the draw in double, so a Model<float> starts from the rounded values of a Model<double>.
template <class T>
void fill_normal(std::span<T> values, double deviation, std::uint64_t seed, std::size_t parameter);

}  // namespace rota::nn

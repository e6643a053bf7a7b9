// The values that parameters start with.
#pragma once
#include <rota/model.h>

#include <cstdint>
#include <span>

namespace rota::nn {

// Of a layer's weights, each of whose outputs depends on `inputs` values.
double weight_deviation(Initializer initializer, std::size_t inputs, std::size_t outputs) noexcept;
double bias_deviation(Initializer initializer) noexcept;

// Element i becomes a draw from N(0, deviation²) that depends on (seed, parameter, i) alone: it is
// drawn in double, and a Model<float> starts from the rounded values of a Model<double>.
template <class T>
void fill_normal(std::span<T> values, double deviation, std::uint64_t seed, std::size_t parameter);

}  // namespace rota::nn

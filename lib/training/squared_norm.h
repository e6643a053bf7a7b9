// The sum of the squares of many values, with the same bits on every machine.
#pragma once
#include <array>
#include <cstddef>
#include <span>

namespace rota::training {

// Computes in double for every T. The squares are added to lanes in turn, and then the lanes are
// added up in order. The result depends on that order alone. There are as many lanes as fill a
// vector register.
template <class T>
double squared_norm(std::span<const T> values) noexcept {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  const auto square = [](T value) {
    return static_cast<double>(value) * static_cast<double>(value);
  };
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += square(values[i + lane]);
  }
  for (std::size_t i = whole; i < values.size(); ++i) lanes[i - whole] += square(values[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace rota::training

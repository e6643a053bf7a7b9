// A handwritten network of two layers, which learns to distinguish the inside of a circle from its
// outside. It does not use rota.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

struct Point {
  double x = 0;
  double y = 0;
  bool inside = false;
};

inline std::vector<Point> draw_points(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> side(-1, 1);
  std::vector<Point> points(count);
  for (Point& point : points) {
    point.x = side(random);
    point.y = side(random);
    point.inside = point.x * point.x + point.y * point.y < 0.5;
  }
  return points;
}

struct Network {
  static constexpr std::size_t kUnits = 16;
  std::vector<double> hidden =
      std::vector<double>(3 * kUnits);  // Weights of x and of y, then biases.
  std::vector<double> output = std::vector<double>(kUnits + 1);  // Weights, then the bias.

  void draw(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> start(-2, 2);
    for (double& value : hidden) value = start(random);
  }

  void clear() {  // In place: the values must not move.
    std::fill(hidden.begin(), hidden.end(), 0.0);
    std::fill(output.begin(), output.end(), 0.0);
  }

  using Units = std::array<double, kUnits>;

  double probability_of_inside(const Point& point, Units& units) const {
    double sum = output[kUnits];
    for (std::size_t i = 0; i < kUnits; ++i) {
      const double bias = hidden[2 * kUnits + i];
      units[i] = std::tanh(hidden[i] * point.x + hidden[kUnits + i] * point.y + bias);
      sum += output[i] * units[i];
    }
    return 1 / (1 + std::exp(-sum));
  }

  // Adds the gradient of the cross-entropy of one point to `gradient`.
  void backward(const Point& point, Network& gradient) const {
    Units units;
    const double error = probability_of_inside(point, units) - (point.inside ? 1 : 0);
    gradient.output[kUnits] += error;
    for (std::size_t i = 0; i < kUnits; ++i) {
      gradient.output[i] += error * units[i];
      const double slope = error * output[i] * (1 - units[i] * units[i]);
      gradient.hidden[i] += slope * point.x;
      gradient.hidden[kUnits + i] += slope * point.y;
      gradient.hidden[2 * kUnits + i] += slope;
    }
  }

  void descend(const Network& gradient, double rate) {
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] -= rate * gradient.hidden[i];
    for (std::size_t i = 0; i < output.size(); ++i) output[i] -= rate * gradient.output[i];
  }

  std::size_t count_correct(const std::vector<Point>& points) const {
    Units units;
    return static_cast<std::size_t>(std::count_if(points.begin(), points.end(), [&](auto& point) {
      return (probability_of_inside(point, units) > 0.5) == point.inside;
    }));
  }
};

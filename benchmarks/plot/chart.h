// Draws line charts as SVG: of time by size, or of efficiency by workers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rota::bench {

// The axis of sizes and workers is logarithmic, and so is that of times. That of efficiencies
// begins at 0.
enum class Axes : std::uint8_t { kTimeBySize, kEfficiencyByWorkers };

struct Point {
  std::size_t x = 0;  // Bytes, or workers.
  double y = 0;       // Seconds, or an efficiency: 1 is perfect.
};

struct Curve {
  std::string name;  // Curves with one name have one colour in all charts.
  std::vector<Point> points;
};

struct Chart {
  std::string title;
  std::vector<Curve> curves;
};

// Returns a picture of all charts, two side by side, with one legend. All charts have the same
// axes, so that they can be compared. Points at 0 are left out: they have no logarithm.
std::string draw_charts(const std::string& title, const std::vector<Chart>& charts,
                        Axes axes = Axes::kTimeBySize);

}  // namespace rota::bench

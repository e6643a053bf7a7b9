// Draws line charts of time by size as SVG. Both axes are logarithmic.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rota::bench {

struct Point {
  std::size_t bytes = 0;
  double seconds = 0;
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
std::string draw_charts(const std::string& title, const std::vector<Chart>& charts);

}  // namespace rota::bench

// Line charts of time by size, both logarithmic, as SVG.
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
  std::string name;  // Curves of one name have one colour in all charts of a picture.
  std::vector<Point> points;
};

struct Chart {
  std::string title;
  std::vector<Curve> curves;
};

// A picture of all charts, two side by side, with one legend. All have the same axes, so that they
// can be compared. Points at 0 are left out: a logarithm has no place for them.
std::string draw_charts(const std::string& title, const std::vector<Chart>& charts);

}  // namespace rota::bench

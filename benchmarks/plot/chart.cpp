// Draws line charts as SVG: axes, a grid, a polyline for each curve.
#include "plot/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <utility>

#include "collectives/sizes.h"

namespace rota::bench {
namespace {

// All sizes are in pixels.
constexpr double kWidth = 560;  // Width of a chart with its margins.
constexpr double kHeight = 350;
constexpr double kLeft = 70;
constexpr double kTop = 36;
constexpr double kRight = 20;
constexpr double kBottom = 46;
constexpr double kPictureTop = 44;
constexpr double kLegendEntry = 150;
constexpr double kLegendHeight = 30;
constexpr double kTickDistance = 55;    // Smallest distance between labels of sizes.
constexpr double kShareDistance = 0.2;  // Between labels of efficiencies, which are shares.

constexpr std::array kColours = {"#d1495b", "#1f5fbf", "#2f8f5b", "#b4770c",
                                 "#7a4fb5", "#4a4a4a", "#1aa0a8", "#a8437f"};

constexpr const char* kStyle = R"(  <style>
    text { font: 12px sans-serif; fill: #222; text-anchor: middle; }
    .title { font-size: 15px; font-weight: bold; text-anchor: start; }
    .chart { font-size: 11px; font-weight: bold; }
    .y { text-anchor: end; }
    .key { text-anchor: start; }
    .grid { stroke: #e4e4e4; }
    .frame { stroke: #999; fill: none; }
    .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
  </style>
)";

// An axis from `least` to `most`.
struct Axis {
  double least = 0;
  double most = 1;
  double share_of(double value) const { return (value - least) / std::max(1e-9, most - least); }
};

bool can_be_drawn(const Point& point) { return point.x > 0 && point.y > 0; }

double log_size(const Point& point) { return std::log2(static_cast<double>(point.x)); }

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  }
  return result;
}

std::string decade_name(int exponent) {
  constexpr std::array kUnits = {"ns", "µs", "ms", "s"};
  const int unit = std::clamp((exponent + 9) / 3, 0, 3);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g %s", std::pow(10, exponent + 9 - 3 * unit),
                kUnits[static_cast<std::size_t>(unit)]);
  return text.data();
}

class Picture {
 public:
  Picture(std::string title, const std::vector<Chart>& charts, Axes axes)
      : title_(std::move(title)), charts_(charts), axes_(axes) {
    std::vector<double> sizes;
    std::vector<double> levels;
    for (const Chart& chart : charts) {
      for (const Curve& curve : chart.curves) {
        if (std::ranges::find(names_, curve.name) == names_.end()) names_.push_back(curve.name);
        for (const Point& point : curve.points) {
          if (!can_be_drawn(point)) continue;
          sizes.push_back(log_size(point));
          levels.push_back(level_of(point));
        }
      }
    }
    if (sizes.empty()) return;
    sizes_ = {std::ranges::min(sizes), std::ranges::max(sizes)};
    const double highest = std::ceil(std::ranges::max(levels) / distance());
    levels_ = {has_times() ? std::floor(std::ranges::min(levels)) : 0,
               has_times() ? highest : std::max(1.0, highest * distance())};
  }

  std::string draw() {
    const std::size_t columns = std::min<std::size_t>(2, std::max<std::size_t>(1, charts_.size()));
    const std::size_t rows = (charts_.size() + columns - 1) / columns;
    const double width = kWidth * static_cast<double>(columns);
    const auto entries_a_line = static_cast<std::size_t>((width - kLeft) / kLegendEntry);
    const std::size_t legend_lines = (names_.size() + entries_a_line - 1) / entries_a_line;
    const double bottom = kPictureTop + kHeight * static_cast<double>(rows);
    const double height = bottom + kLegendHeight * static_cast<double>(legend_lines);
    out_ << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )" << width << ' ' << height
         << "\" width=\"" << width << "\" height=\"" << height << "\">\n"
         << kStyle << R"(  <rect width="100%" height="100%" fill="white"/>)" << '\n'
         << R"(  <text class="title" x="20" y="28">)" << escaped(title_) << "</text>\n";
    for (std::size_t i = 0; i < charts_.size(); ++i) {
      const std::size_t column = i % columns;
      const std::size_t row = i / columns;
      out_ << R"(  <g transform="translate()" << kWidth * static_cast<double>(column) << ' '
           << kPictureTop + kHeight * static_cast<double>(row) << ")\">\n";
      draw_chart(charts_[i]);
      out_ << "  </g>\n";
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t column = i % entries_a_line;
      const std::size_t row = i / entries_a_line;
      draw_key(names_[i], kLeft + kLegendEntry * static_cast<double>(column),
               bottom + kLegendHeight * (static_cast<double>(row) + 0.4));
    }
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  double x_of(double log_bytes) const {
    return kLeft + (kWidth - kLeft - kRight) * sizes_.share_of(log_bytes);
  }
  double y_of(double level) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * levels_.share_of(level);
  }

  bool has_times() const { return axes_ == Axes::kTimeBySize; }

  // Returns the place of a point on the vertical axis.
  double level_of(const Point& point) const { return has_times() ? std::log10(point.y) : point.y; }

  // Returns the distance of two labels on the vertical axis.
  double distance() const { return has_times() ? 1 : kShareDistance; }

  std::string name_of_level(double level) const {
    return has_times() ? decade_name(static_cast<int>(std::lround(level)))
                       : std::to_string(std::lround(level * 100)) + " %";
  }

  std::string name_of_size(int exponent) const {
    const std::size_t size = std::size_t{1} << exponent;
    return has_times() ? to_words(size) : std::to_string(size);
  }

  const char* colour_of(const std::string& name) const {
    const auto at = std::ranges::find(names_, name) - names_.begin();
    return kColours[static_cast<std::size_t>(at) % kColours.size()];
  }

  void draw_chart(const Chart& chart) {
    write("chart", (kLeft + kWidth - kRight) / 2, kTop - 12, chart.title);
    draw_levels();
    draw_sizes();
    out_ << R"(    <rect class="frame" x=")" << kLeft << "\" y=\"" << kTop << "\" width=\""
         << kWidth - kLeft - kRight << "\" height=\"" << kHeight - kTop - kBottom << "\"/>\n";
    for (const Curve& curve : chart.curves) draw_curve(curve);
  }

  void draw_levels() {
    const long count = std::lround((levels_.most - levels_.least) / distance());
    for (long i = 0; i <= count; ++i) {
      const double level = levels_.least + static_cast<double>(i) * distance();
      const double y = y_of(level);
      draw_line(kLeft, y, kWidth - kRight, y);
      write("y", kLeft - 6, y + 4, name_of_level(level));
    }
  }

  // Labels every second power of two, or every fourth, and so on, until the labels have room. Of
  // workers there are few, so each power of two has its label.
  void draw_sizes() {
    const int first = static_cast<int>(std::ceil(sizes_.least));
    const int last = static_cast<int>(std::floor(sizes_.most));
    int step = has_times() ? 2 : 1;
    while (has_times() && step < last - first && x_of(first + step) - x_of(first) < kTickDistance)
      step += 2;
    for (int exponent = first; exponent <= last; exponent += step) {
      const double x = x_of(exponent);
      draw_line(x, kTop, x, kHeight - kBottom);
      write("x", x, kHeight - kBottom + 18, name_of_size(exponent));
    }
  }

  void draw_curve(const Curve& curve) {
    const char* colour = colour_of(curve.name);
    out_ << R"(    <polyline class="curve" stroke=")" << colour << "\" points=\"";
    for (const Point& point : curve.points) {
      if (!can_be_drawn(point)) continue;
      out_ << x_of(log_size(point)) << ',' << y_of(level_of(point)) << ' ';
    }
    out_ << "\"/>\n";
    for (const Point& point : curve.points) {
      if (!can_be_drawn(point)) continue;
      out_ << R"(    <circle r="3" fill=")" << colour << "\" cx=\"" << x_of(log_size(point))
           << "\" cy=\"" << y_of(level_of(point)) << "\"/>\n";
    }
  }

  void draw_key(const std::string& name, double x, double y) {
    out_ << R"(  <path class="curve" stroke=")" << colour_of(name) << "\" d=\"M" << x << ' ' << y
         << "h22\"/>\n";
    write("key", x + 28, y + 4, name);
  }

  void draw_line(double x1, double y1, double x2, double y2) {
    out_ << R"(    <path class="grid" d="M)" << x1 << ' ' << y1 << 'L' << x2 << ' ' << y2
         << "\"/>\n";
  }

  void write(const char* text_class, double x, double y, const std::string& text) {
    out_ << R"(    <text class=")" << text_class << "\" x=\"" << x << "\" y=\"" << y << "\">"
         << escaped(text) << "</text>\n";
  }

  std::string title_;
  const std::vector<Chart>& charts_;
  Axes axes_;
  std::vector<std::string> names_;  // Names of curves, in the order of colours.
  Axis sizes_;                      // Logarithms to base 2.
  Axis levels_;                     // Logarithms to base 10, or efficiencies.
  std::ostringstream out_;
};

}  // namespace

std::string draw_charts(const std::string& title, const std::vector<Chart>& charts, Axes axes) {
  return Picture(title, charts, axes).draw();
}

}  // namespace rota::bench

// Draws a plan as SVG: a vertical line for each rank, slanting messages, a legend below.
#include "plan/drawings.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <vector>

#include "plan/chunks.h"

namespace rota::bench {
namespace {

using collectives::Verb;

// All sizes are in pixels.
constexpr std::size_t kLeft = 70;
constexpr std::size_t kTop = 92;
constexpr std::size_t kRight = 50;
// The distance between two ranks, and the height of a step. Both grow with the number of messages
// that leave a rank in one step.
constexpr std::size_t kLeastColumn = 120;
constexpr std::size_t kMostColumn = 300;
constexpr std::size_t kLeastHeight = 52;
constexpr std::size_t kMostHeight = 160;
constexpr std::size_t kLeastWidth = 700;    // For the title.
constexpr std::size_t kLabelDistance = 26;  // From the sender's line to the first label.
constexpr std::size_t kLetter = 7;          // Width of a letter of a label.
constexpr std::size_t kLegendLine = 20;
constexpr std::size_t kLegendEntry = 130;

constexpr const char* kStyle = R"(  <style>
    text { font: 13px sans-serif; fill: #222; text-anchor: middle; }
    .title { font-size: 15px; font-weight: bold; text-anchor: start; }
    .left { text-anchor: start; }
    .rank { font-weight: bold; }
    .life { stroke: #bbb; }
    .step { stroke: #eee; }
    .message, .key { stroke-width: 1.6; fill: none; }
    .adds { stroke: #b4450c; marker-end: url(#adds); }
    .replaces { stroke: #1f5fbf; marker-end: url(#replaces); }
    .chunk { font-size: 11px; stroke: white; stroke-width: 4px; paint-order: stroke; }
  </style>
  <defs>
    <marker id="adds" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="9" markerHeight="9"
            markerUnits="userSpaceOnUse" orient="auto">
      <path d="M0 1L10 5L0 9z" fill="#b4450c"/>
    </marker>
    <marker id="replaces" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="9" markerHeight="9"
            markerUnits="userSpaceOnUse" orient="auto">
      <path d="M0 1L10 5L0 9z" fill="#1f5fbf"/>
    </marker>
  </defs>
)";

std::size_t hops_of(const Arrow& arrow) {
  return std::max(arrow.from, arrow.to) - std::min(arrow.from, arrow.to);
}

const char* class_of(Verb verb) { return verb == Verb::kReduce ? "adds" : "replaces"; }

// Returns the largest number of messages that leave one rank in one step.
std::size_t crowd_of(std::span<const Arrow> arrows) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> leaving;
  std::size_t most = 1;
  for (const Arrow& arrow : arrows) most = std::max(most, ++leaving[{arrow.step, arrow.from}]);
  return most;
}

std::size_t label_space_of(const Chunks& chunks, std::span<const Arrow> arrows) {
  std::size_t longest = 0;
  for (const Arrow& arrow : arrows) longest = std::max(longest, chunks.name_of(arrow).size());
  return kLetter * longest + 4;
}

class Picture {
 public:
  Picture(const Question& question, std::span<const Arrow> arrows)
      : question_(question),
        arrows_(arrows),
        chunks_(arrows),
        step_count_(arrows.empty() ? 0 : arrows.back().step + 1),
        crowd_(crowd_of(arrows)),
        label_space_(label_space_of(chunks_, arrows)),
        column_width_(
            std::clamp(2 * kLabelDistance + label_space_ * crowd_, kLeastColumn, kMostColumn)),
        step_height_(std::min(kMostHeight, kLeastHeight + 14 * (crowd_ - 1))),
        width_(std::max(kLeastWidth, column(question.world_size - 1) + kRight)) {}

  std::string draw() {
    const auto legend = chunks_.legend();
    const std::size_t entries_a_line = (width_ - 40) / kLegendEntry;
    const std::size_t legend_lines = (legend.size() + entries_a_line - 1) / entries_a_line;
    const std::size_t height = bottom() + (legend_lines + 3) * kLegendLine;
    open(height);
    draw_ranks();
    draw_steps();
    for (const Arrow& arrow : arrows_) draw_message(arrow);
    draw_labels();  // Last, so that no line crosses a label.
    draw_keys();
    for (std::size_t i = 0; i < legend.size(); ++i) {
      write_text("left", 20 + i % entries_a_line * kLegendEntry,
                 bottom() + (3 + i / entries_a_line) * kLegendLine, legend[i]);
    }
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  std::size_t column(std::size_t rank) const { return kLeft + rank * column_width_; }
  std::size_t top_of(std::size_t step) const { return kTop + step * step_height_; }
  std::size_t bottom() const { return top_of(step_count_) + 10; }

  void open(std::size_t height) {
    const std::string title = title_of(question_) + "; " + counted(step_count_, "step") + ", " +
                              counted(arrows_.size(), "message");
    out_ << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )" << width_ << ' ' << height
         << "\" width=\"" << width_ << "\" height=\"" << height << "\">\n"
         << "  <title>" << title << "</title>\n"
         << kStyle << "  <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    write_text("title", 20, 30, title);
  }

  void draw_ranks() {
    for (std::size_t rank = 0; rank < question_.world_size; ++rank) {
      write_text("rank", column(rank), 60, "rank " + std::to_string(rank));
      if (!question_.hosts.empty()) write_text("host", column(rank), 76, question_.hosts[rank]);
      write_line("life", {column(rank), kTop - 10}, {column(rank), bottom()});
    }
  }

  void draw_steps() {
    for (std::size_t step = 0; step < step_count_; ++step) {
      write_text("left", 20, top_of(step) + step_height_ / 2, std::to_string(step + 1));
      write_line("step", {kLeft, top_of(step)}, {column(question_.world_size - 1), top_of(step)});
    }
  }

  // Draws a message from the beginning of its step to the end.
  void draw_message(const Arrow& arrow) {
    const std::size_t y = top_of(arrow.step);
    const std::string name = chunks_.name_of(arrow);
    out_ << "  <path class=\"message " << class_of(arrow.verb) << "\" d=\"M" << column(arrow.from)
         << ' ' << y + 4 << 'L' << column(arrow.to) << ' ' << y + step_height_ - 4
         << "\"><title>step " << arrow.step + 1 << ": rank " << arrow.from << " to rank "
         << arrow.to;
    if (!name.empty()) {
      out_ << ", " << name << (arrow.verb == Verb::kReduce ? ", is added" : ", takes the place");
    }
    out_ << "</title></path>\n";
  }

  // Places labels near the sender, side by side: further away the messages cross.
  void draw_labels() {
    std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> labels;
    std::vector<Arrow> nearest_first(arrows_.begin(), arrows_.end());
    std::ranges::stable_sort(nearest_first, {}, hops_of);
    for (const Arrow& arrow : nearest_first) {
      const bool rightward = arrow.from < arrow.to;
      const std::size_t before = labels[{arrow.step, arrow.from, rightward}]++;
      const std::size_t whole = hops_of(arrow) * column_width_;
      const std::size_t way = std::min(kLabelDistance + before * label_space_, whole / 2);
      const std::size_t x = rightward ? column(arrow.from) + way : column(arrow.from) - way;
      const std::size_t y = top_of(arrow.step) + 8 + (step_height_ - 8) * way / whole;
      const std::string name = chunks_.name_of(arrow);
      if (!name.empty()) write_text("chunk", x, y, name);
    }
  }

  void draw_keys() {
    const std::size_t y = bottom() + kLegendLine + 6;
    std::size_t x = 20;
    for (const Verb verb : {Verb::kReduce, Verb::kReceive}) {
      if (std::ranges::find(arrows_, verb, &Arrow::verb) == arrows_.end()) continue;
      write_line("key " + std::string(class_of(verb)), {x, y}, {x + 40, y});
      write_text("left", x + 50, y + 4, words_for(verb));
      x += 270;
    }
  }

  std::string words_for(Verb verb) const {
    if (chunks_.legend().empty()) return "a message without elements";
    return verb == Verb::kReduce ? "is added to what is there" : "takes the place of what is there";
  }

  struct Point {
    std::size_t x;
    std::size_t y;
  };

  void write_line(const std::string& kind, Point from, Point to) {
    out_ << "  <path class=\"" << kind << "\" d=\"M" << from.x << ' ' << from.y << 'L' << to.x
         << ' ' << to.y << "\"/>\n";
  }

  void write_text(const char* kind, std::size_t x, std::size_t y, const std::string& text) {
    out_ << "  <text class=\"" << kind << "\" x=\"" << x << "\" y=\"" << y << "\">" << text
         << "</text>\n";
  }

  const Question& question_;
  std::span<const Arrow> arrows_;
  Chunks chunks_;
  std::size_t step_count_;
  std::size_t crowd_;
  std::size_t label_space_;
  std::size_t column_width_;
  std::size_t step_height_;
  std::size_t width_;
  std::ostringstream out_;
};

}  // namespace

std::string draw_svg(const Question& question, std::span<const Arrow> arrows) {
  return Picture(question, arrows).draw();
}

}  // namespace rota::bench

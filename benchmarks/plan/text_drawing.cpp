// Draws a plan as text: a vertical line for each rank, and messages between them.
#include "plan/drawings.h"

#include <algorithm>
#include <vector>

#include "plan/chunks.h"

namespace rota::bench {
namespace {

using collectives::Verb;

constexpr std::size_t kMargin = 6;        // Columns to the left of rank 0.
constexpr std::size_t kLastColumn = 96;   // Column of the last rank, if possible.
constexpr std::size_t kWidest = 12;       // Columns from rank to rank.
constexpr std::size_t kMaxColumns = 100;  // Width of the legend.

struct Labelled {
  std::size_t low;  // The two ranks.
  std::size_t high;
  bool rightward;
  std::string label;
};

// Messages side by side in one line of text.
using Line = std::vector<Labelled>;

bool has_room(const Line& line, const Labelled& message) {
  return std::ranges::all_of(line, [&](const Labelled& other) {
    return other.high <= message.low || message.high <= other.low;
  });
}

// Places the shortest messages first, each in the first line that has room.
std::vector<Line> lines_of(std::vector<Labelled> messages) {
  std::ranges::stable_sort(messages, {}, [](const Labelled& m) { return m.high - m.low; });
  std::vector<Line> lines;
  for (Labelled& message : messages) {
    auto line = std::ranges::find_if(lines, [&](const Line& l) { return has_room(l, message); });
    if (line == lines.end()) line = lines.insert(lines.end(), Line{});
    line->push_back(std::move(message));
  }
  return lines;
}

class Canvas {
 public:
  Canvas(std::size_t world_size, std::size_t longest_label) : world_size_(world_size) {
    const std::size_t gaps = std::max<std::size_t>(world_size - 1, 1);
    const std::size_t wanted = std::min(kWidest, (kLastColumn - kMargin) / gaps);
    width_ = std::max(wanted, longest_label + 4);  // Room for an arrow head, two dashes, a rank.
  }

  std::string names(const std::string& head, const std::vector<std::string>& names) const {
    std::string text = head;
    for (std::size_t rank = 0; rank < names.size(); ++rank) {
      text.resize(column(rank), ' ');
      text += names[rank].substr(0, width_ - 1);
    }
    return text + "\n";
  }

  std::string empty_line() const { return line("", {}); }

  std::string line(const std::string& head, const Line& messages) const {
    std::string text(column(world_size_ - 1) + 1, ' ');
    text.replace(kMargin - 2 - head.size(), head.size(), head);
    for (std::size_t rank = 0; rank < world_size_; ++rank) text[column(rank)] = '|';
    for (const Labelled& message : messages) put(message, text);
    return text + "\n";
  }

 private:
  std::size_t column(std::size_t rank) const { return kMargin + rank * width_; }

  void put(const Labelled& message, std::string& text) const {
    const std::size_t begin = column(message.low) + 1;
    const std::size_t room = column(message.high) - begin;
    std::string arrow(room, '-');
    (message.rightward ? arrow.back() : arrow.front()) = message.rightward ? '>' : '<';
    arrow.replace((room - message.label.size()) / 2, message.label.size(), message.label);
    text.replace(begin, room, arrow);
  }

  std::size_t world_size_;
  std::size_t width_;
};

// Puts entries into columns of the width of the widest entry.
std::string in_columns(const std::vector<std::string>& entries) {
  std::size_t widest = 0;
  for (const std::string& entry : entries) widest = std::max(widest, entry.size() + 3);
  std::string text;
  std::string row;
  for (const std::string& entry : entries) {
    const std::size_t begin = (row.size() + widest - 1) / std::max<std::size_t>(widest, 1) * widest;
    if (begin > 0 && begin + entry.size() > kMaxColumns) {
      text += row + "\n";
      row.clear();
    } else {
      row.resize(begin, ' ');
    }
    row += entry;
  }
  return row.empty() ? text : text + row + "\n";
}

std::string explain(std::span<const Arrow> arrows, const Chunks& chunks) {
  const auto legend = chunks.legend();
  if (legend.empty()) return "";
  const bool adds = std::ranges::find(arrows, Verb::kReduce, &Arrow::verb) != arrows.end();
  const bool replaces = std::ranges::find(arrows, Verb::kReceive, &Arrow::verb) != arrows.end();
  std::string text = "\n" + in_columns(legend);
  if (adds) text += "+c0 is added to what the receiver has\n";
  if (replaces) text += "c0 takes the place of what the receiver has\n";
  return text;
}

}  // namespace

std::string draw_text(const Question& question, std::span<const Arrow> arrows) {
  const Chunks chunks(arrows);
  const std::size_t step_count = arrows.empty() ? 0 : arrows.back().step + 1;
  std::vector<std::vector<Labelled>> steps(step_count);
  std::size_t longest = 0;
  for (const Arrow& arrow : arrows) {
    const std::string name = chunks.name_of(arrow);
    const std::string label = (arrow.verb == Verb::kReduce && !name.empty() ? "+" : "") + name;
    longest = std::max(longest, label.size());
    const auto [low, high] = std::minmax(arrow.from, arrow.to);
    steps[arrow.step].push_back({low, high, arrow.from < arrow.to, label});
  }

  const Canvas canvas(question.world_size, longest);
  std::vector<std::string> numbers;
  for (std::size_t rank = 0; rank < question.world_size; ++rank) {
    numbers.push_back(std::to_string(rank));
  }
  std::string text = title_of(question) + "; " + counted(step_count, "step") + ", " +
                     counted(arrows.size(), "message") + "\n\n" + canvas.names("rank", numbers);
  if (!question.hosts.empty()) text += canvas.names("host", question.hosts);
  for (std::size_t step = 0; step < step_count; ++step) {
    text += canvas.empty_line();
    std::string head = std::to_string(step + 1);
    for (const Line& line : lines_of(std::move(steps[step]))) {
      text += canvas.line(head, line);
      head.clear();
    }
  }
  return text + canvas.empty_line() + explain(arrows, chunks);
}

}  // namespace rota::bench

// Places each folder by its level, draws only arrows that no other path implies, and leads arrows
// around boxes.
#include "style/layers_picture.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace rota::style {
namespace {

constexpr int kBoxWidth = 146;
constexpr int kBoxHeight = 42;
constexpr int kRowHeight = 82;
constexpr int kMargin = 16;
constexpr int kTitleHeight = 26;
constexpr int kLegendHeight = 18;
constexpr int kSweeps = 200;

using Edges = std::map<std::string, std::set<std::string>>;

// Returns the arrows between the folders of this table only.
Edges edges_of(const Layers& layers) {
  Edges edges;
  for (const auto& [folder, layer] : layers) {
    auto& to = edges[folder];
    for (const std::string& other : layer.folders) {
      if (layers.contains(other) && other != folder) to.insert(other);
    }
  }
  return edges;
}

bool reaches(const Edges& edges, const std::string& from, const std::string& to) {
  const auto& next = edges.at(from);
  return next.contains(to) || std::ranges::any_of(next, [&](const std::string& folder) {
           return reaches(edges, folder, to);
         });
}

Edges without_implied(const Edges& edges) {
  Edges kept;
  for (const auto& [from, all] : edges) {
    for (const std::string& to : all) {
      const bool is_implied = std::ranges::any_of(
          all, [&](const std::string& other) { return other != to && reaches(edges, other, to); });
      if (!is_implied) kept[from].insert(to);
    }
  }
  return kept;
}

std::size_t level_of(const Edges& edges, const std::string& folder) {
  std::size_t level = 0;
  for (const std::string& below : edges.at(folder)) {
    level = std::max(level, level_of(edges, below) + 1);
  }
  return level;
}

// Returns the folders of the library that a folder may include, and that the folders below it may
// not include.
std::string library_part(const Layers& layers, const Edges& edges, const std::string& folder) {
  constexpr std::string_view kPrefix = "lib/";
  std::string text;
  for (const std::string& other : layers.at(folder).folders) {
    if (!other.starts_with(kPrefix)) continue;
    const bool is_below = std::ranges::any_of(edges.at(folder), [&](const std::string& below) {
      return layers.at(below).folders.contains(other);
    });
    if (!is_below) text += (text.empty() ? "" : " ") + other.substr(kPrefix.size());
  }
  return text;
}

// A point of a row through which arrows go: a box, or a bend at which an arrow passes this row.
struct Node {
  std::string folder;  // Empty for a bend.
  std::size_t level = 0;
  int middle = 0;  // Its horizontal position.
  std::vector<std::size_t> above{};
  std::vector<std::size_t> below{};

  bool is_bend() const noexcept { return folder.empty(); }
};

struct Arrow {
  bool through_public_headers = false;
  std::vector<std::size_t> nodes{};  // From the including folder to the included one.
};

// One table as a column of rows. An arrow goes from row to row. In each row between its two ends,
// it has a bend beside the boxes. So no arrow passes behind a box.
class Column {
 public:
  // `users` has arrows from folders that use another folder through public headers only.
  Column(const Layers& layers, const Edges& users) : layers_(layers), edges_(edges_of(layers)) {
    Edges all = edges_;
    for (const auto& [from, to] : users) all[from].insert(to.begin(), to.end());
    for (const auto& [folder, below] : all) box_of_[folder] = add({folder, level_of(all, folder)});
    for (const auto& [from, to] : without_implied(edges_)) {
      for (const std::string& below : to) add_arrow(from, below, false);
    }
    for (const auto& [from, to] : users) {
      for (const std::string& below : to) add_arrow(from, below, true);
    }
    order_rows();
    place();
  }

  std::size_t level_count() const noexcept { return rows_.size(); }

  int width() const noexcept {
    int width = 0;
    for (const Node& node : nodes_) width = std::max(width, node.middle + kBoxWidth / 2);
    return width;
  }

  // Draws the column. `bottom` is the lower edge of the lowest row.
  void draw(std::ostream& out, int left, int bottom, const std::string& title,
            const std::string& legend) const {
    const int middle = left + width() / 2;
    out << "<text class='title' x='" << middle << "' y='" << kTitleHeight << "'>" << title
        << "</text>\n<text class='small' x='" << middle << "' y='" << kTitleHeight + kLegendHeight
        << "'>" << legend << "</text>\n";
    for (const Arrow& arrow : arrows_) draw_arrow(out, arrow, left, bottom);
    for (const Node& node : nodes_) {
      if (!node.is_bend()) draw_box(out, node.folder, left + node.middle, top_of(node, bottom));
    }
  }

 private:
  using Row = std::vector<std::size_t>;  // Indexes of nodes, from left to right.

  std::size_t add(Node node) {
    if (rows_.size() <= node.level) rows_.resize(node.level + 1);
    rows_[node.level].push_back(nodes_.size());
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  void add_arrow(const std::string& from, const std::string& to, bool through_public_headers) {
    Arrow arrow{through_public_headers, {box_of_.at(from)}};
    const std::size_t end = box_of_.at(to);
    for (std::size_t level = nodes_[arrow.nodes.front()].level - 1; level > nodes_[end].level;
         --level) {
      arrow.nodes.push_back(add({"", level}));
    }
    arrow.nodes.push_back(end);
    for (std::size_t i = 1; i < arrow.nodes.size(); ++i) {
      nodes_[arrow.nodes[i - 1]].below.push_back(arrow.nodes[i]);
      nodes_[arrow.nodes[i]].above.push_back(arrow.nodes[i - 1]);
    }
    arrows_.push_back(std::move(arrow));
  }

  // Sorts each row by the neighbours of its nodes, upwards and downwards in turn, and keeps the
  // order in which the fewest arrows cross.
  void order_rows() {
    auto best = rows_;
    std::size_t fewest = crossing_count();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool is_upward = sweep % 2 == 0;
      for (std::size_t i = 1; i < rows_.size(); ++i) {
        sort_row(is_upward ? i : rows_.size() - 1 - i, is_upward);
      }
      if (crossing_count() >= fewest) continue;
      fewest = crossing_count();
      best = rows_;
    }
    rows_ = best;
  }

  std::size_t index_in_row(std::size_t node) const {
    const Row& row = rows_[nodes_[node].level];
    return static_cast<std::size_t>(std::ranges::find(row, node) - row.begin());
  }

  void sort_row(std::size_t level, bool by_below) {
    std::map<std::size_t, double> keys;
    for (const std::size_t node : rows_[level]) {
      const auto& neighbours = by_below ? nodes_[node].below : nodes_[node].above;
      double sum = 0;
      for (const std::size_t other : neighbours) sum += static_cast<double>(index_in_row(other));
      keys[node] = neighbours.empty() ? static_cast<double>(index_in_row(node))
                                      : sum / static_cast<double>(neighbours.size());
    }
    std::ranges::stable_sort(rows_[level], {}, [&](std::size_t node) { return keys[node]; });
  }

  std::size_t crossing_count() const {
    std::size_t count = 0;
    for (const Row& row : rows_) {
      std::vector<std::size_t>
          ends;  // Of the arrows that go down from the row, from left to right.
      for (const std::size_t node : row) {
        std::vector<std::size_t> own;
        for (const std::size_t below : nodes_[node].below) own.push_back(index_in_row(below));
        for (const std::size_t end : own) {
          count += static_cast<std::size_t>(
              std::ranges::count_if(ends, [&](std::size_t other) { return other > end; }));
        }
        ends.insert(ends.end(), own.begin(), own.end());
      }
    }
    return count;
  }

  // Moves each node towards its neighbours, and keeps the distances within its row.
  void place() {
    for (Row& row : rows_) spread(row, std::vector<double>(row.size(), 0));
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[sweep % 2 == 0 ? i : rows_.size() - 1 - i];
        std::vector<double> wanted;
        for (const std::size_t node : row) wanted.push_back(wanted_middle(node));
        spread(row, wanted);
      }
    }
    int least = nodes_.front().middle;
    for (const Node& node : nodes_) least = std::min(least, node.middle);
    for (Node& node : nodes_) node.middle += kBoxWidth / 2 - least;
  }

  // Returns the mean place of the neighbours. A neighbour on the other end of a vertical line
  // counts more.
  double wanted_middle(std::size_t index) const {
    const Node& node = nodes_[index];
    double sum = 0;
    double weights = 0;
    for (const auto* neighbours : {&node.above, &node.below}) {
      for (const std::size_t other : *neighbours) {
        const double weight = node.is_bend() && nodes_[other].is_bend() ? 4 : 1;
        sum += weight * nodes_[other].middle;
        weights += weight;
      }
    }
    return weights == 0 ? node.middle : sum / weights;
  }

  // Moves the nodes of a row apart, in one pass to the right and in one pass to the left. The mean
  // of both passes is the result.
  void spread(const Row& row, const std::vector<double>& wanted) {
    const std::size_t n = row.size();
    std::vector<double> rightward = wanted;
    std::vector<double> leftward = wanted;
    for (std::size_t i = 1; i < n; ++i) {
      const double least = rightward[i - 1] + distance(row[i - 1], row[i]);
      rightward[i] = std::max(rightward[i], least);
    }
    for (std::size_t i = n - 1; i-- > 0;) {
      const double most = leftward[i + 1] - distance(row[i], row[i + 1]);
      leftward[i] = std::min(leftward[i], most);
    }
    for (std::size_t i = 0; i < n; ++i) {
      nodes_[row[i]].middle = static_cast<int>((rightward[i] + leftward[i]) / 2);
    }
  }

  double distance(std::size_t left, std::size_t right) const {
    const auto half = [&](std::size_t node) { return nodes_[node].is_bend() ? 0 : kBoxWidth / 2; };
    return half(left) + half(right) + kMargin;
  }

  static int top_of(const Node& node, int bottom) {
    return bottom - kBoxHeight - static_cast<int>(node.level) * kRowHeight;
  }

  void draw_arrow(std::ostream& out, const Arrow& arrow, int left, int bottom) const {
    const Node& from = nodes_[arrow.nodes.front()];
    const Node& to = nodes_[arrow.nodes.back()];
    out << (arrow.through_public_headers ? "<path class='users' d='M" : "<path d='M")
        << left + from.middle << " " << top_of(from, bottom) + kBoxHeight;
    for (std::size_t i = 1; i + 1 < arrow.nodes.size(); ++i) {
      const Node& bend = nodes_[arrow.nodes[i]];
      out << " L" << left + bend.middle << " " << top_of(bend, bottom) << " v" << kBoxHeight;
    }
    out << " L" << left + to.middle << " " << top_of(to, bottom) - 2 << "'><title>" << from.folder
        << (arrow.through_public_headers ? " uses " : " includes ") << to.folder
        << "</title></path>\n";
  }

  void draw_box(std::ostream& out, const std::string& folder, int middle, int top) const {
    const std::string part = library_part(layers_, edges_, folder);
    out << "<rect x='" << middle - kBoxWidth / 2 << "' y='" << top << "' width='" << kBoxWidth
        << "' height='" << kBoxHeight << "' rx='6'/>\n"
        << "<text x='" << middle << "' y='" << top + (part.empty() ? 26 : 18) << "'>"
        << (folder == "." ? "main" : folder) << "</text>\n";
    if (part.empty()) return;
    out << "<text class='small' x='" << middle << "' y='" << top + 34 << "'>" << part
        << "</text>\n";
  }

  const Layers& layers_;
  Edges edges_;
  std::vector<Node> nodes_;
  std::vector<Row> rows_;  // By level, the lowest first.
  std::vector<Arrow> arrows_;
  std::map<std::string, std::size_t> box_of_;  // The node of each folder.
};

}  // namespace

std::string picture_of(const Layers& library, const Layers& launcher) {
  const Column left(library, {{"training", {"communicator"}}});
  const Column right(launcher, {});
  const int levels = static_cast<int>(std::max(left.level_count(), right.level_count()));
  const int height = kTitleHeight + kLegendHeight + kMargin + levels * kRowHeight;
  const int width = left.width() + right.width() + 3 * kMargin;
  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height
      << "' viewBox='0 0 " << width << " " << height << "'>\n"
      << "<style>\n"
         "rect { fill: #f2f6fb; stroke: #4a6fa5; }\n"
         "path { stroke: #8a8f98; fill: none; marker-end: url(#head); }\n"
         ".users { stroke-dasharray: 5 4; }\n"
         ".head { stroke: none; fill: #8a8f98; marker-end: none; }\n"
         "text { font: 14px sans-serif; text-anchor: middle; fill: #1c2733; }\n"
         ".small { font-size: 10px; fill: #5b6672; }\n"
         ".title { font-size: 15px; font-weight: bold; }\n"
         "</style>\n"
         "<rect width='100%' height='100%' style='fill: white; stroke: none'/>\n"
         "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
         "markerHeight='7' orient='auto'><path class='head' d='M0 0 L8 4 L0 8 z'/></marker>"
         "</defs>\n";
  left.draw(out, kMargin, height - kMargin, "lib/",
            "arrow: may include; dashed arrow: uses, but only through public headers");
  right.draw(
      out, 2 * kMargin + left.width(), height - kMargin, "launcher/",
      "small names: folders of lib/ that a box may include and that the boxes below it may not");
  out << "</svg>\n";
  return out.str();
}

}  // namespace rota::style

// Collects the cuts between elements, and names the pieces between the cuts.
#include "plan/chunks.h"

#include <iterator>

namespace rota::bench {

Chunks::Chunks(std::span<const Arrow> arrows) {
  for (const Arrow& arrow : arrows) {
    if (arrow.elements.count == 0) continue;
    cuts_.insert(arrow.elements.offset);
    cuts_.insert(arrow.elements.offset + arrow.elements.count);
  }
}

std::string Chunks::name_of(const Arrow& arrow) const {
  const Slice& elements = arrow.elements;
  if (elements.count == 0) return "";
  const auto begin = cuts_.find(elements.offset);
  const auto end = cuts_.find(elements.offset + elements.count);
  const auto first = std::distance(cuts_.begin(), begin);
  const auto last = std::distance(cuts_.begin(), end) - 1;
  std::string name = "c" + std::to_string(first);
  if (last > first) name += "-" + std::to_string(last);
  return name;
}

std::vector<std::string> Chunks::legend() const {
  std::vector<std::string> entries;
  for (auto cut = cuts_.begin(); cut != cuts_.end() && std::next(cut) != cuts_.end(); ++cut) {
    entries.push_back("c" + std::to_string(entries.size()) + " [" + std::to_string(*cut) + ":" +
                      std::to_string(*std::next(cut)) + ")");
  }
  return entries;
}

}  // namespace rota::bench

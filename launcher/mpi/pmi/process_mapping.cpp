// Compresses the nodes of all ranks into blocks, since MPICH reads a short text only.
#include "launcher/mpi/pmi/process_mapping.h"

#include <vector>

namespace rota::launcher {
namespace {

// `count` nodes from `first` on, with `size` ranks each.
struct NodeBlock {
  std::uint32_t first = 0;
  std::size_t count = 0;
  std::size_t size = 0;
};

std::vector<NodeBlock> blocks_of(std::span<const std::uint32_t> nodes) {
  std::vector<NodeBlock> blocks;
  for (std::size_t begin = 0; begin < nodes.size();) {
    std::size_t end = begin;
    while (end < nodes.size() && nodes[end] == nodes[begin]) ++end;
    const std::size_t size = end - begin;
    const bool continues = !blocks.empty() && blocks.back().size == size &&
                           blocks.back().first + blocks.back().count == nodes[begin];
    if (continues) {
      ++blocks.back().count;
    } else {
      blocks.push_back({.first = nodes[begin], .count = 1, .size = size});
    }
    begin = end;
  }
  return blocks;
}

// Returns the length of the shortest beginning of `nodes` that, repeated, makes all of it.
std::size_t period_of(std::span<const std::uint32_t> nodes) {
  std::vector<std::size_t> borders(nodes.size() + 1, 0);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    std::size_t border = borders[i];
    while (border > 0 && nodes[i] != nodes[border]) border = borders[border];
    borders[i + 1] = nodes[i] == nodes[border] ? border + 1 : 0;
  }
  return nodes.size() - borders[nodes.size()];
}

std::string text_of(const std::vector<NodeBlock>& blocks) {
  std::string text = "(vector";
  for (const NodeBlock& block : blocks) {
    text += ",(" + std::to_string(block.first) + "," + std::to_string(block.count) + "," +
            std::to_string(block.size) + ")";
  }
  return text + ")";
}

}  // namespace

std::string process_mapping_of(std::span<const std::uint32_t> nodes) {
  const std::string whole = text_of(blocks_of(nodes));
  const std::string repeated = text_of(blocks_of(nodes.first(period_of(nodes))));
  return repeated.size() < whole.size() ? repeated : whole;
}

}  // namespace rota::launcher

// A group of one rank, for tests of what measures groups: no other process is needed.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/group.h"

namespace rota::bench {

// A test says by prepare() what a call does.
class GroupOfOne : public Group {
 public:
  std::string name() const override { return "alone"; }
  std::size_t rank() const override { return 0; }
  std::size_t world_size() const override { return 1; }
  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory) override {
    return plain_memory(bytes);
  }
  void barrier() override {}
  std::vector<double> gather_from_all(std::span<const double> values) override {
    return {values.begin(), values.end()};
  }
};

}  // namespace rota::bench

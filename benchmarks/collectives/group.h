// The interface between the method that measures and the ranks that call collectives. rota, each
// peer library and the limit (the best time that the machine can reach) implement it.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/numbers.h"
#include "collectives/work.h"

namespace rota::bench {

// A call that can be made repeatedly. Its preparation is already done.
struct PreparedCall {
  std::function<void()> make;  // Empty if the group has no such call.
  std::string plan;            // The plan, if known: "auto", "ring", "-".
};

class Group {
 public:
  virtual ~Group() = default;

  virtual std::string name() const = 0;  // "rota shm". Contains no quotes.
  virtual std::size_t rank() const = 0;
  virtual std::size_t world_size() const = 0;

  // Returns zeroed memory, which is released with the last pointer to it.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory memory) = 0;

  // All ranks must call this function and the next two together. layout_of() describes the contents
  // of the buffers.
  virtual PreparedCall prepare(const Work& work, const Buffers& buffers) = 0;
  virtual void barrier() = 0;
  // Returns the values of all ranks, rank by rank. Every rank gives the same number of values.
  virtual std::vector<double> gather_from_all(std::span<const double> values) = 0;
};

// Returns memory of kind Memory::kAny, which every group can use.
inline std::shared_ptr<std::byte> plain_memory(std::size_t bytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(bytes);
  return {owner, owner->data()};
}

}  // namespace rota::bench

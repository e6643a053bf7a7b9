// Ranks that call collectives, as the method sees them: one implementation for rota, one for each
// peer, and one for what the machine can do at most.
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

// A call that is ready to be made, again and again: what can be done beforehand has been done.
struct PreparedCall {
  std::function<void()> make;  // Empty where the group has no such call.
  std::string plan;            // How it does it, as far as that is known: "auto", "ring", "-".
};

class Group {
 public:
  virtual ~Group() = default;

  virtual std::string name() const = 0;  // "rota shm". Has no quotes.
  virtual std::size_t rank() const = 0;
  virtual std::size_t world_size() const = 0;

  // Zeroed, and given back when the last pointer to it is gone.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory memory) = 0;

  // Collective, as are all that follow. The buffers are those that layout_of means.
  virtual PreparedCall prepare(const Work& work, const Buffers& buffers) = 0;
  virtual void barrier() = 0;
  // What all ranks gave, rank by rank; each gives as many.
  virtual std::vector<double> gather_from_all(std::span<const double> values) = 0;
};

// Memory::kAny, for every group.
inline std::shared_ptr<std::byte> plain_memory(std::size_t bytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(bytes);
  return {owner, owner->data()};
}

}  // namespace rota::bench

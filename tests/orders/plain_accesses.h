// Finds data races: two accesses to the same bytes, of which one writes and one is not atomic, and
// neither of which happens before the other.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orders/execution.h"

namespace rota::orders {

class PlainAccesses {
 public:
  enum class Kind : std::uint8_t { kRead, kWrite, kAtomicRead, kAtomicWrite };

  // Records an access of a thread, which it makes after the events that `execution` has. Returns
  // the other thread if the access races with one of that thread.
  std::optional<std::size_t> add(const Execution& execution, std::size_t thread, Kind kind,
                                 const volatile void* address, std::size_t bytes);

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint16_t index = 0;  // Of the thread's next event.
    Kind kind = Kind::kRead;
  };

  void append(std::vector<Range>& ranges, const Range& range);

  std::array<std::vector<Range>, kMostThreads> ranges_{};
};

}  // namespace rota::orders

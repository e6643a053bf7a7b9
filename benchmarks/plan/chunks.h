// Short names for the elements that messages carry. The elements are cut wherever a message begins
// or ends. The pieces are named c0, c1, … in order.
#pragma once
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "plan/schedule.h"

namespace rota::bench {

class Chunks {
 public:
  explicit Chunks(std::span<const Arrow> arrows);

  // Returns "c2" or "c0-3"; empty for a message without elements.
  std::string name_of(const Arrow& arrow) const;

  // Returns "c0 [0:16)", "c1 [16:32)", …
  std::vector<std::string> legend() const;

 private:
  std::set<std::size_t> cuts_;  // Indices of elements.
};

}  // namespace rota::bench

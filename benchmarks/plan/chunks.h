// Short names for what messages carry: the elements are cut wherever a message begins or ends, and
// the pieces are called c0, c1, … in order.
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

  // "c2", "c0-3"; empty for a bare message.
  std::string name_of(const Arrow& arrow) const;

  // "c0 [0:16)", "c1 [16:32)", …
  std::vector<std::string> legend() const;

 private:
  std::set<std::size_t> cuts_;  // Indices of elements.
};

}  // namespace rota::bench

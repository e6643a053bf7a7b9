// A store of the launcher that has started the ranks, such as mpirun or srun. Through the store,
// rank 0 tells the other ranks where it listens.
#pragma once
#include <string>

#include "base/time.h"

namespace rota::stores {

class Store {
 public:
  virtual ~Store() = default;

  // Returns rank 0's `word` on every rank; the words of other ranks are not used. All ranks must
  // call it, each once. The word has at most kMostWordBytes bytes, all of them printable ASCII, and
  // no space. Throws Error kTimeout at `deadline`; kPeerLost if the launcher has closed the store;
  // kBadData if its answers make no sense; kSystem if it refuses.
  virtual std::string share(const std::string& word, base::TimePoint deadline) = 0;
};

// Every launcher that was seen takes values of this length.
inline constexpr std::size_t kMostWordBytes = 1000;

}  // namespace rota::stores

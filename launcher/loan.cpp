// Lends, until it is not needed any more.
#include "launcher/loan.h"

#include <utility>

#include "os/shared_memory.h"

namespace rota::launcher {

Loan Loan::of_arenas(std::size_t rank_count, std::size_t arena_bytes) {
  Loan loan(rank_count);
  loan.are_shared_ = true;
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    loan.lent_.push_back(os::make_shared_memory("rota-arena-" + std::to_string(rank), arena_bytes));
  }
  return loan;
}

Loan Loan::of_listeners(std::vector<os::Listener> listeners) {
  Loan loan(listeners.size());
  for (os::Listener& listener : listeners) loan.lent_.push_back(std::move(listener.socket));
  return loan;
}

std::vector<int> Loan::lend(std::size_t local_rank) const {
  std::vector<int> fds;
  for (std::size_t i = 0; i < lent_.size(); ++i) {
    if (are_shared_ || i == local_rank) fds.push_back(lent_[i].get());
  }
  return fds;
}

// A rank's listening socket is its own now: when the rank ends, the port closes. Arenas are kept
// until the last rank has them.
void Loan::release(std::size_t local_rank) {
  if (is_welcomed_[local_rank]) return;
  is_welcomed_[local_rank] = true;
  ++welcomed_count_;
  if (!are_shared_ && local_rank < lent_.size()) lent_[local_rank].reset();
  if (are_shared_ && welcomed_count_ == is_welcomed_.size()) lent_.clear();
}

}  // namespace rota::launcher

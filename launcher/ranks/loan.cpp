// Lends, until it is not needed any more.
#include "launcher/ranks/loan.h"

#include <string>
#include <utility>

#include "os/shared_memory.h"

namespace rota::launcher {

void Loan::add_arenas(std::size_t arena_bytes) {
  for (std::size_t rank = 0; rank < is_welcomed_.size(); ++rank) {
    arenas_.push_back(os::make_shared_memory("rota-arena-" + std::to_string(rank), arena_bytes));
  }
}

Loan Loan::of_listeners(std::vector<os::Listener> listeners) {
  Loan loan(listeners.size());
  for (os::Listener& listener : listeners) loan.listeners_.push_back(std::move(listener.socket));
  return loan;
}

std::vector<int> Loan::lend(std::size_t local_rank) const {
  std::vector<int> fds;
  if (table_) fds.push_back(table_.get());
  if (local_rank < listeners_.size()) fds.push_back(listeners_[local_rank].get());
  for (const os::Fd& arena : arenas_) fds.push_back(arena.get());
  return fds;
}

// A rank's listening socket is its own now: when the rank ends, the port closes. What all get is
// kept until the last rank has it.
void Loan::release(std::size_t local_rank) {
  if (is_welcomed_[local_rank]) return;
  is_welcomed_[local_rank] = true;
  ++welcomed_count_;
  if (local_rank < listeners_.size()) listeners_[local_rank].reset();
  if (welcomed_count_ < is_welcomed_.size()) return;
  arenas_.clear();
  table_.reset();
}

}  // namespace rota::launcher

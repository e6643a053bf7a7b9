// Hands over descriptors to ranks, and closes the launcher's copy of a descriptor as soon as no
// rank needs it: a rank's port then closes when the rank ends.
#include "launcher/ranks/descriptor_handoff.h"

#include <string>
#include <utility>

#include "os/shared_mapping.h"

namespace rota::launcher {

void DescriptorHandoff::add_arenas(std::size_t arena_bytes) {
  for (std::size_t rank = 0; rank < is_welcomed_.size(); ++rank) {
    arenas_.push_back(os::make_shared_memory("rota-arena-" + std::to_string(rank), arena_bytes));
  }
}

DescriptorHandoff DescriptorHandoff::of_listeners(std::vector<os::Listener> listeners) {
  DescriptorHandoff handoff(listeners.size());
  for (os::Listener& listener : listeners) handoff.listeners_.push_back(std::move(listener.socket));
  return handoff;
}

std::vector<int> DescriptorHandoff::descriptors_of(std::size_t local_rank) const {
  std::vector<int> fds;
  if (table_) fds.push_back(table_.get());
  if (local_rank < listeners_.size()) fds.push_back(listeners_[local_rank].get());
  for (const os::Fd& arena : arenas_) fds.push_back(arena.get());
  return fds;
}

// Closes the launcher's copy of the rank's listening socket: when the rank ends, the port closes.
// The descriptors that all ranks get are kept until the last rank has them.
void DescriptorHandoff::release(std::size_t local_rank) {
  if (is_welcomed_[local_rank]) return;
  is_welcomed_[local_rank] = true;
  ++welcomed_count_;
  if (local_rank < listeners_.size()) listeners_[local_rank].reset();
  if (welcomed_count_ < is_welcomed_.size()) return;
  arenas_.clear();
  table_.reset();
}

}  // namespace rota::launcher

// The descriptor handoff keeps the descriptors that the ranks of this host get with their welcome,
// until each rank has its own.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "os/fd.h"
#include "os/listener.h"

namespace rota::launcher {

class DescriptorHandoff {
 public:
  // Makes a handoff that has no descriptors yet.
  explicit DescriptorHandoff(std::size_t rank_count) : is_welcomed_(rank_count) {}

  // Makes a handoff in which each rank gets its own listener.
  static DescriptorHandoff of_listeners(std::vector<os::Listener> listeners);

  // Makes one arena for each rank; every rank gets all of them. Throws Error kSystem, kNoMemory.
  void add_arenas(std::size_t arena_bytes);

  // Stores the arenas of all ranks of this machine. A host is one rotarun, and a machine may have
  // several rotaruns: then only some of these ranks belong to this host.
  void add_arenas(std::vector<os::Fd> of_all) { arenas_ = std::move(of_all); }

  // Sets the rank table of the job. Every rank gets the table as its first descriptor.
  void set_table(os::Fd table) noexcept { table_ = std::move(table); }

  // Returns the descriptors that a rank gets, its listener before the arenas. They are valid until
  // release().
  std::vector<int> descriptors_of(std::size_t local_rank) const;

  // Says that the rank's descriptors have been sent.
  void release(std::size_t local_rank);

 private:
  os::Fd table_;
  std::vector<os::Fd> listeners_;  // By local rank. May be empty, as may arenas_.
  std::vector<os::Fd> arenas_;     // In the order in which every rank gets them.
  std::vector<bool> is_welcomed_;
  std::size_t welcomed_count_ = 0;
};

}  // namespace rota::launcher

// The descriptors that the ranks of this host are lent with their welcome, until each has its own.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "os/fd.h"
#include "os/listener.h"

namespace rota::launcher {

class Loan {
 public:
  // Of nothing, yet.
  explicit Loan(std::size_t rank_count) : is_welcomed_(rank_count) {}

  // Each rank gets its own.
  static Loan of_listeners(std::vector<os::Listener> listeners);

  // One arena a rank; every rank gets them all. Throws Error kSystem, kNoMemory.
  void add_arenas(std::size_t arena_bytes);

  // Those of all ranks of this machine, of which only some are here.
  void add_arenas(std::vector<os::Fd> of_all) { arenas_ = std::move(of_all); }

  // The table of the job, which every rank gets first.
  void set_table(os::Fd table) noexcept { table_ = std::move(table); }

  // What a rank gets, its listener before the arenas; valid until release().
  std::vector<int> lend(std::size_t local_rank) const;

  // The rank has been sent its descriptors.
  void release(std::size_t local_rank);

 private:
  os::Fd table_;
  std::vector<os::Fd> listeners_;  // By local rank. This and the next may be empty.
  std::vector<os::Fd> arenas_;     // In the order in which every rank gets them.
  std::vector<bool> is_welcomed_;
  std::size_t welcomed_count_ = 0;
};

}  // namespace rota::launcher

// What the launcher keeps for its ranks: their lines to the coordinator, and the descriptors that
// it lends them.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "launcher/job_plan.h"
#include "os/fd.h"
#include "rendezvous/switchboard.h"

namespace rota::launcher {

class Mailroom {
 public:
  // Told each message of a rank, after the coordinator.
  using Listener = std::function<void(std::size_t rank, const rendezvous::Message& message)>;

  // Makes the arenas, or the listening sockets. Throws Error kSystem, kNoMemory.
  Mailroom(const JobPlan& plan, Listener listener);

  Mailroom(const Mailroom&) = delete;
  Mailroom& operator=(const Mailroom&) = delete;

  // The rank's end of its line, made now.
  os::Fd open(std::size_t rank);

  rendezvous::Switchboard& switchboard() noexcept { return switchboard_; }

  // With the address of each rank that listens.
  const RankTable& table() const noexcept { return job_.table; }

 private:
  std::vector<int> lend(std::size_t rank) const;
  void release(std::size_t rank);

  bool are_arenas_;  // What is lent.
  rendezvous::Job job_;
  std::vector<os::Fd> lent_;  // Index: rank. Arenas, which all get; or sockets, one for each.
  rendezvous::Switchboard switchboard_;
  std::vector<bool> is_welcomed_;
  std::size_t welcomed_count_ = 0;
};

}  // namespace rota::launcher

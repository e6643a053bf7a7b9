// What the launcher keeps for its ranks: their lines to the coordinator, and the descriptors that
// it lends them.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/job_plan.h"
#include "launcher/plan/table_json.h"
#include "launcher/ranks/loan.h"
#include "launcher/ranks/provision.h"
#include "launcher/status/status_port.h"
#include "os/fd.h"
#include "rendezvous/switchboard.h"

namespace rota::launcher {

// A job that ranks can be welcomed to, and what those of this host are given and lent.
struct Prepared {
  rendezvous::Job job;
  Loan loan;
  Provision provision;
  Peers peers;
  KnownDevices devices{};
  std::optional<StatusPort> status_port{};  // Where it has been open already.
};

// For a job of this host alone: makes the arenas, or the listening sockets, whose addresses it
// writes into the job. Throws Error kSystem, kNoMemory.
Prepared prepare_here(const Options& options, const JobPlan& plan,
                      const std::vector<std::string>& environment);

class Mailroom {
 public:
  // Told each message of a rank, after the coordinator.
  using Listener = std::function<void(std::size_t rank, const rendezvous::Message& message)>;

  // `ranks` are those of this host, by local rank. Throws Error kSystem.
  Mailroom(const rendezvous::Job& job, Loan loan, const std::vector<std::size_t>& ranks,
           Listener listener);

  Mailroom(const Mailroom&) = delete;
  Mailroom& operator=(const Mailroom&) = delete;

  // A rank's end of its line, made now.
  os::Fd open(std::size_t rank);

  rendezvous::Switchboard& switchboard() noexcept { return switchboard_; }

 private:
  std::vector<int> lend(std::size_t rank) const;
  void release(std::size_t rank);

  Loan loan_;
  std::map<std::size_t, std::size_t> local_ranks_;  // Of the ranks of this host.
  rendezvous::Switchboard switchboard_;
};

}  // namespace rota::launcher

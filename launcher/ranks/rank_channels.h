// The rank channels are the connections of this host's ranks to the coordinator, and the
// descriptors that the launcher hands over to these ranks.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/mpi/mpi_plan.h"
#include "launcher/plan/job_plan.h"
#include "launcher/plan/table_json.h"
#include "launcher/ranks/descriptor_handoff.h"
#include "launcher/ranks/provision.h"
#include "launcher/status/status_port.h"
#include "os/fd.h"
#include "rendezvous/message_router.h"

namespace rota::launcher {

// A job that can welcome its ranks, and what the ranks of this host get.
struct Prepared {
  rendezvous::Job job;
  DescriptorHandoff handoff;
  Provision provision;
  Peers peers;
  MpiPlan mpi{};
  KnownDevices devices{};
  std::optional<StatusPort> status_port{};  // Set if it is open already.
};

// Prepares a job of this host alone: makes the arenas or the listening sockets, and writes the
// addresses of the sockets into the job. Throws Error kSystem, kNoMemory.
Prepared prepare_here(const Options& options, const JobPlan& plan,
                      const std::vector<std::string>& environment);

class RankChannels {
 public:
  // Called with each message of a rank, after the coordinator has handled it.
  using Listener = std::function<void(std::size_t rank, const rendezvous::Message& message)>;

  // `ranks`: the ranks of this host, by local rank. Throws Error kSystem.
  RankChannels(const rendezvous::Job& job, DescriptorHandoff handoff,
               const std::vector<std::size_t>& ranks, Listener listener);

  RankChannels(const RankChannels&) = delete;
  RankChannels& operator=(const RankChannels&) = delete;

  // Makes a rank's connection now, and returns the rank's end of it.
  os::Fd open(std::size_t rank);

  rendezvous::MessageRouter& router() noexcept { return router_; }

 private:
  std::vector<int> descriptors_of(std::size_t rank) const;
  void release(std::size_t rank);

  DescriptorHandoff handoff_;
  std::map<std::size_t, std::size_t> local_ranks_;  // By rank of this host.
  rendezvous::MessageRouter router_;
};

}  // namespace rota::launcher

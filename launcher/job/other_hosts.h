// OtherHosts is the interface to the other hosts of a job, for the host that decides what they do.
// Through OtherHosts, this host starts the other hosts, receives their events and ends them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/mpi/fence.h"
#include "launcher/mpi/mpi_letter.h"
#include "launcher/output/rank_output.h"
#include "launcher/ranks/job_event.h"
#include "os/poll_set.h"
#include "rendezvous/connection.h"

namespace rota::launcher {

class OtherHosts {
 public:
  virtual ~OtherHosts() = default;

  // Returns the connection to a rank on another host. The connection's fd cannot be waited for: the
  // event kRankSpoke shows when to read.
  virtual std::unique_ptr<rendezvous::Connection> connection_to(std::size_t rank) = 0;

  // Each of these functions makes one iteration of a loop, and never blocks.
  virtual void add_to(os::PollSet& polls) = 0;
  virtual std::vector<JobEvent> handle(const os::PollSet& polls, base::TimePoint now) = 0;
  virtual void send_all(base::TimePoint now) = 0;
  virtual std::optional<base::TimePoint> next_deadline() const = 0;

  // Returns the ranks that are lost with a host.
  virtual std::vector<std::size_t> ranks_of(std::size_t host) const = 0;

  // Each of these functions sends a message to all other hosts. `text` is printed on those hosts.
  // `signal`: as for LocalProcesses::ask_to_end().
  virtual void start() = 0;
  virtual void ask_to_end(int signal, const std::string& text) = 0;
  virtual void kill() = 0;

  // Sends a signal to the first process of each rank on the other hosts.
  virtual void signal_ranks(int signal) = 0;

  // Tells the other hosts that a fence of MPI ranks has ended.
  virtual void end_fence(const FenceResult& result) = 0;

  // Sends a letter to the MPI server of another host.
  virtual void send_letter(const MpiLetter& letter) = 0;

  // Tells the other hosts whether this host can take more of their output now, if it shows that
  // output.
  virtual void set_flow(Flow flow) = 0;

  // Returns whether no other host has a process of the job any more.
  virtual bool have_ended() const = 0;

  // Sends the job's exit code to the other hosts. The host of `last_rank`, if given, exits after
  // the others. Afterwards the caller continues its loop until are_gone().
  virtual void finish(int exit_code, std::optional<std::size_t> last_rank) = 0;
  virtual bool are_gone() const = 0;
};

}  // namespace rota::launcher

// An MPI server tells the MPI libraries of this host's ranks about the other ranks, so that
// MPI_Init finds the whole world. There is an implementation for each way in which MPIs ask.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/mpi/fence.h"
#include "launcher/mpi/mpi_letter.h"
#include "os/fd.h"
#include "os/poll_set.h"

namespace rota::launcher {

// What a rank gets at its start.
struct MpiOutfit {
  std::vector<std::string> variables{};  // "NAME=VALUE".
  os::Fd kept_fd{};                      // Stays open in the rank, under the same number.
};

// What a rank of this host said, or what the ranks of this host did together.
struct MpiEvent {
  enum class Kind {
    kConnected,  // The rank's MPI_Init has begun.
    kFinalized,  // The rank's MPI_Finalize has ended.
    kAborted,    // The rank ends the job. code: for the job's exit code; text: what it did.
    kFenced,     // share: the state of a fence on this host.
    kWrote,      // letter: to the server of another host.
    kFailed,     // The server cannot serve the ranks any more. code: of the job; text: why.
  };
  Kind kind = Kind::kConnected;
  std::size_t local_rank = 0;
  int code = 0;
  std::string text{};
  FenceShare share{};
  MpiLetter letter{};
};

class MpiServer {
 public:
  virtual ~MpiServer() = default;

  // Returns whether outfit_of() need not wait for anything. Until then, the caller makes iterations
  // of its loop, for a limited time.
  virtual bool is_ready() const { return true; }

  // Makes the outfit of a rank, just before the rank starts. Throws Error kSystem.
  virtual MpiOutfit outfit_of(std::size_t local_rank) = 0;

  // Each of these functions makes one iteration of a loop, and never blocks.
  virtual void add_to(os::PollSet& polls) = 0;
  virtual void handle(const os::PollSet& polls, base::TimePoint now) = 0;
  virtual std::optional<base::TimePoint> next_deadline() const = 0;

  // Handles everything that a rank has said before now. It is called once the rank's process has
  // ended, before the end is judged.
  virtual void catch_up(std::size_t local_rank, base::TimePoint now) = 0;

  // Returns whether the server knows what a rank has done whose process has ended well. A server in
  // another process may be late.
  virtual bool has_heard_all(std::size_t /*local_rank*/) const { return true; }

  // Called once the end of a rank has been judged: the server need not wait for it any more.
  virtual void on_end(std::size_t /*local_rank*/) {}

  // Lets a fence end: all its ranks, on all hosts, have arrived.
  virtual void end_fence(const FenceResult& result, base::TimePoint now) = 0;

  // Takes a letter of the server of another host. Servers that write none get none.
  virtual void take_letter(const MpiLetter& /*letter*/) {}

  // Returns what has happened since the last call, in this order.
  virtual std::vector<MpiEvent> take_events() = 0;
};

}  // namespace rota::launcher

// Keeps what the groups of a process have in common over MPI: a communicator of rota's own, the
// tags that are still free there, and the rule which threads may call MPI.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rota/mpi_calls.h>

#include "base/time.h"
#include "os/origin.h"

namespace rota::transport::mpi {

using rota::mpi::Calls;
using rota::mpi::Handle;
using rota::mpi::ThreadLevel;

// Returns a text such as "MPI_Isend failed: MPI_ERR_TRUNCATE: message truncated".
std::string failure_of(const Calls& calls, const char* function, int error);

class World {
 public:
  // Duplicates `comm`. All ranks of `comm` must call it. Calls `look_around` at intervals while it
  // waits for them; a throw ends the wait. Errors name `caller`, which is what the program calls.
  // Throws Error kInvalidArgument before MPI_Init, after MPI_Finalize, on a thread that may not
  // call MPI, and if `comm` is no communicator of one group; kTimeout if a rank has not called it
  // at `deadline`; kClosed if MPI_Finalize begins meanwhile; kSystem.
  World(const Calls& calls, Handle comm, base::TimePoint deadline,
        const std::function<void()>& look_around = {},
        const std::string& caller = "rota::mpi::communicator");
  // Leaves the duplicate to MPI if MPI has ended, if this thread may not call MPI, and after
  // keep_for_ever().
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Calls& calls() const noexcept { return calls_; }
  Handle comm() const noexcept { return comm_; }
  std::size_t rank() const noexcept { return static_cast<std::size_t>(rank_); }
  std::size_t world_size() const noexcept { return static_cast<std::size_t>(world_size_); }

  // Returns whether only the thread that initialised MPI may call MPI.
  bool is_for_one_thread() const noexcept { return level_ < ThreadLevel::kSerialized; }

  // Returns whether only the program's own calls may call MPI. At MPI_THREAD_SERIALIZED, a thread
  // of rota could be in MPI while the program calls MPI itself.
  bool is_for_callers_only() const noexcept { return level_ < ThreadLevel::kMultiple; }

  // Returns the parts of all ranks, in rank order. The parts have equal sizes. All ranks must call
  // it. Throws Error kTimeout at `deadline`, kClosed, kSystem.
  std::vector<std::byte> all_gather(std::span<const std::byte> own, base::TimePoint deadline);

  // Returns the flag that a thread must hold to call MPI. All worlds of the process share it.
  // Returns null if threads may call MPI at the same time.
  std::atomic_flag* turn() const noexcept;

  // Returns the first of `count` tags with which no other messages to this process travel. Throws
  // Error kSystem if all tags of this MPI are used.
  int take_tags(std::size_t count);

  // Called when messages may be left that nobody receives. If the duplicate were freed, MPI could
  // give its number to the next one, which would then receive these messages.
  void keep_for_ever() noexcept { is_kept_.store(true, std::memory_order_relaxed); }
  bool is_kept() const noexcept { return is_kept_.load(std::memory_order_relaxed); }

  // Throws Error kClosed after MPI_Finalize: an MPI may end a program that calls it then.
  void require_open() const;

  // Returns whether this thread may call MPI now. In the child of a fork, no thread may.
  bool may_call() const noexcept;

 private:
  // How long a rank waits for the others, and what they have not done if they stay away.
  struct Patience {
    base::TimePoint deadline;
    std::string missing;
    std::function<void()> look_around{};
  };
  void duplicate(Handle comm, const Patience& patience);
  void run_collective(const char* function, const std::function<int(Handle&)>& begin,
                      std::shared_ptr<const void> buffer, const Patience& patience);
  void wait(Handle& request, const Patience& patience) const;
  void check(const char* function, int error) const;

  const Calls& calls_;
  os::Origin origin_;
  ThreadLevel level_;
  Handle comm_ = 0;
  int rank_ = 0;
  int world_size_ = 1;
  int largest_tag_ = 0;
  std::atomic<std::size_t> used_tags_{0};
  std::atomic<bool> is_kept_{false};
};

// Holds World::turn() while it exists. Must not be used by a thread that holds the turn already.
class TurnHolder {
 public:
  explicit TurnHolder(const World& world) noexcept;
  ~TurnHolder();
  TurnHolder(const TurnHolder&) = delete;
  TurnHolder& operator=(const TurnHolder&) = delete;

 private:
  std::atomic_flag* flag_;
};

}  // namespace rota::transport::mpi

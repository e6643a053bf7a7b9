// Connects one rank with all its peers.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <rota/error.h>
#include <rota/memory.h>

#include "base/time.h"
#include "transport/channel.h"
#include "transport/shared_memory.h"

namespace rota::transport {

class Fabric;
struct CallTerms;
struct Descriptors;
struct GroupShape;

// Why a group broke, and which rank noticed it first.
struct Cause {
  std::size_t rank = 0;  // The rank that noticed.
  ErrorCode code = ErrorCode::kAborted;
  std::optional<std::size_t> blamed;
  std::string text;
};

// What a check for news costs.
enum class Look : std::uint8_t {
  kMemory,   // A read of memory.
  kLibrary,  // A call of a library, which may make system calls.
  kSocket,   // A system call.
};

// How a rank waits on a transport, and which threads may call it.
struct WaitTraits {
  Look look = Look::kSocket;
  // Nothing ends a sleep(), which is short. Other threads may call the transport meanwhile.
  bool cannot_wake = false;
  // Only the thread that made the transport may call it, except for wake() and abort().
  bool one_thread = false;
  // Only threads that call the communicator may call the transport: rota has no thread of its own
  // that does. Implied by `one_thread`.
  bool callers_only = false;
  // The thread that calls the transport holds this flag, which several transports share. Null: the
  // transport needs no such flag. wake() and the counters are called without it.
  std::atomic_flag* driving = nullptr;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Returns the name in rank tables, which is the same on every rank of the group. The string is
  // never freed.
  virtual std::string_view name() const noexcept = 0;

  virtual WaitTraits wait_traits() const noexcept { return {}; }

  virtual Channel& channel(std::size_t peer) noexcept = 0;  // Requires peer != own rank.

  // Returns the shared memory, if all ranks can access each other's memory; otherwise null. The
  // object lives as long as the transport.
  virtual SharedMemory* shared_memory() noexcept { return nullptr; }

  // Sleeps until something may have moved, for at most `at_most`. No other call here blocks.
  virtual void sleep(base::Duration at_most) = 0;

  // Ends the sleep() of another thread. If no thread sleeps, ends the next sleep(). With
  // `cannot_wake`, does nothing. Any thread may call it at any time, even during another call.
  virtual void wake() noexcept = 0;

  // Returns whether data of this peer may still be on its way when the caller learns in another way
  // that the peer is lost. Most often the data ends with the end of a stream. If false, a caller
  // may assume that all data has arrived.
  virtual bool ends_by_itself(std::size_t peer) const noexcept = 0;

  // Makes the fabric of a new group. The new group's ranks are ranks of this transport, or threads
  // of such ranks. Throws Error kInvalidArgument if this transport cannot have further groups.
  virtual std::unique_ptr<Fabric> group_fabric(const GroupShape& shape);

  // Returns memory that peers access in place, if this transport offers such memory. Throws Error
  // kNoMemory.
  virtual Block allocate(std::size_t bytes) = 0;

  // Both functions count payload bytes since the start. sent_bytes() counts bytes given to peers.
  // staged_bytes() counts bytes that passed through the transport's own memory. Any thread may call
  // both.
  virtual std::uint64_t sent_bytes() const noexcept = 0;
  virtual std::uint64_t staged_bytes() const noexcept = 0;

  // Returns whether this peer has closed its end. If true, everything that the peer did before is
  // visible. Returns false in any case if the peer has a stream, such as a connection: then the end
  // of the stream shows that the peer has left.
  virtual bool has_left(std::size_t) const noexcept { return false; }

  // These two functions make the next check of every peer fail. The first cause of all ranks wins.
  // If ranks share memory, begin_abort() takes effect immediately, and its caller may find out the
  // cause before it calls abort().
  virtual void begin_abort(std::size_t) noexcept {}
  virtual void abort(const Cause& cause) noexcept = 0;

  // Returns which library may still use the buffers of calls that failed, after abort(), such as
  // "MPI". Empty if none does.
  virtual std::string_view keeps_buffers() const noexcept { return {}; }

  // Returns whether some rank has begun to abort. If false, everything that this rank has read from
  // peers' memory until now is valid: no peer's program had got its memory back before the read.
  virtual bool broken() const noexcept = 0;

  // Returns the rank that began to abort first, if the transport shows it. aborted() may return the
  // cause only later.
  virtual std::optional<std::size_t> aborting() const noexcept { return std::nullopt; }

  // Returns the first cause, if the transport carries causes.
  virtual std::optional<Cause> aborted() = 0;
};

}  // namespace rota::transport

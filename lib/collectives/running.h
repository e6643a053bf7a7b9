// The interface of an operation under way, whatever runs it: a plan over channels, shared memory,
// or another library. The window of operations knows nothing else about an operation.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "collectives/operation.h"
#include "transport/shared_memory.h"

namespace rota::collectives {

// A set of streams. A stream carries data in the order of the operations that use it. A stream is
// one direction to one peer, or a resource that all ranks share. One operation at a time uses a
// stream.
class Streams {
 public:
  static constexpr std::size_t words_for(std::size_t stream_count) noexcept {
    return (stream_count + kBits - 1) / kBits;
  }
  explicit Streams(std::span<std::uint64_t> words) noexcept : words_(words) {}

  void clear() noexcept { std::ranges::fill(words_, 0); }
  void add(std::size_t stream) noexcept {
    words_[stream / kBits] |= std::uint64_t{1} << stream % kBits;
  }
  bool meets(const Streams& other) const noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kBits = 64;
  std::span<std::uint64_t> words_;
};

enum class Turn : std::uint8_t {
  kNothing,  // Nothing could be moved.
  kMoved,    // Something was moved, and more is left.
  kDone,
};

// The largest number of operations of a group that may be under way together.
inline constexpr std::uint64_t kMostRunning = 8;

// A place in which operations run, one after another. Only one thread at a time may use it.
class Running {
 public:
  Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  virtual ~Running() = default;

  // Adds to `streams` the streams that `operation` uses.
  virtual void add_streams(const Operation& operation, Streams& streams) const noexcept = 0;

  // Begins an operation. `operation` is borrowed until step() returns kDone; until then start()
  // must not be called again. Throws what step() throws.
  virtual void start(const Operation& operation) = 0;

  // Moves what can be moved. Never blocks, never reads a clock. Must not be called after kDone.
  // Throws Error kPeerLost, kMismatch, kNoMemory; kSystem if a device or a library has failed;
  // kClosed after MPI_Finalize. The operation cannot continue after that.
  virtual Turn step() = 0;

  // Returns the peer that the operation waits for. Returns nothing if only this rank delays the
  // operation, and after kDone.
  virtual std::optional<Wait> waiting() const noexcept = 0;

  // Returns which library may still use the buffers of an operation that has begun and cannot be
  // ended, such as "MPI". Empty if none does. Called after the group has failed.
  virtual std::string_view keeps_buffers() const noexcept { return {}; }

  // Compares the rank's operation with the operation of `peer`. Throws Error kMismatch. A rank that
  // waits too long calls this: if the two operations use different methods, nothing has compared
  // them before. Must not be called after kDone.
  virtual void compare_with(std::size_t peer) const = 0;
};

// What rank 0 of a new group tells the others, so that all of them can make a method for the group.
using GroupWord = std::array<std::byte, 128>;

// A rank's view of a group that is made from another group.
struct NewGroup {
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::string who;  // This rank, such as "rank 3 (host)".
  base::Duration deadline{0};
  transport::SharedMemory* memory = nullptr;  // Null if the ranks do not share memory.
};

// A way to run operations. A communicator has several methods, and knows only this interface of
// them.
class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  // Returns whether the method runs this algorithm. A communicator uses the first method that runs
  // it.
  virtual bool makes(Algorithm algorithm) const noexcept = 0;

  // Returns whether the method can use values in this memory. A communicator uses a method only for
  // calls whose values lie there.
  virtual bool takes(MemoryKind memory) const noexcept { return memory.is_host(); }

  // Returns why the method cannot run this call, as a clause. Empty if it can. The answer is the
  // same on all ranks.
  virtual std::string_view why_not(const Description&) const noexcept { return {}; }

  // Returns whether the method's operations run a plan.
  virtual bool runs_plans() const noexcept { return false; }

  // Returns a memory. If all parts of a grouped call are in this memory, an operation can use a
  // scatter list of the parts. The argument is the total size of the parts in bytes. Returns
  // nothing if the method can use only contiguous values. Then the parts are copied in and out.
  virtual std::span<const std::byte> memory_of_parts(std::size_t) const noexcept { return {}; }

  // Returns whether the host CPU can read and write the values, and so can copy them.
  virtual bool host_reads_values() const noexcept { return true; }

  // Returns what restricts the method to the thread that made the communicator, such as "the
  // library X". Empty if nothing does. Then any thread may use the method, one thread at a time.
  virtual std::string_view one_thread() const noexcept { return {}; }

  // Called before an operation is queued, if no other operation is under way. Prepares what the
  // operation will need, so that the preparation overlaps other work. Returns false if there is
  // never anything to prepare. Then make_ready() is not called again.
  virtual bool make_ready() noexcept { return false; }

  // Called for values on a device by the thread that calls the collectives, before it queues the
  // operation with this number. Makes memory that the operation may need. The thread that drives
  // must not make it: CUDA may wait for all streams before it pins memory, and these streams may
  // wait for that thread. Returns Operation::staging. All operations up to `finished` are done.
  // Throws Error kInvalidArgument, kNoMemory, kSystem.
  virtual std::byte* make_staging(const PlannedCollective&, std::uint64_t /*number*/,
                                  std::uint64_t /*finished*/) {
    return nullptr;
  }

  // Returns the number of streams that all operations of this method use together.
  virtual std::size_t stream_count() const noexcept = 0;

  // Returns whether operations must start in the order of their calls, even if the operations share
  // no stream and no memory. The order of calls is the same on all ranks.
  virtual bool starts_in_order() const noexcept { return false; }

  // Ends operations that are under way, if the method can. Called after the group has failed and
  // its ranks know of it. May wait, but not for ever.
  virtual void stop() noexcept {}

  // The next two are for groups that are made from the method's group. Rank 0 of the new group gets
  // its word, and all ranks of the new group make a method from it. Both return nothing if the
  // method serves only its own group. Throw Error kSystem.
  virtual std::optional<GroupWord> make_group_word() { return std::nullopt; }
  virtual std::unique_ptr<Method> for_group(const GroupWord&, const NewGroup&) const {
    return nullptr;
  }

  // Makes place `place` of the kMostRunning places for operations. The method's own streams are
  // numbered from `first_stream` on.
  virtual std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) = 0;
};

}  // namespace rota::collectives

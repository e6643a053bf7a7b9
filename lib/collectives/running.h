// An operation under way, whatever moves it: a plan over channels, memory that ranks share, or
// another library. The window of operations knows no more of it than this.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "collectives/operation.h"

namespace rota::collectives {

// A set of streams. A stream carries data in the order of the operations that use it: one direction
// to one peer, or what all ranks share. It is held by one operation at a time.
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
  kMoved,    // Something was, and there is more to do.
  kDone,
};

// So many operations of a group may be under way side by side.
inline constexpr std::uint64_t kMostRunning = 8;

// One place for an operation, used again and again. One thread at a time.
class Running {
 public:
  Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  virtual ~Running() = default;

  // Adds the streams that `operation` would hold.
  virtual void add_streams(const Operation& operation, Streams& streams) const noexcept = 0;

  // `operation` is borrowed until step() says kDone. Until then there is no other start(). Throws
  // Error kNoMemory.
  virtual void start(const Operation& operation) = 0;

  // Moves what can be moved. Never blocks, never reads a clock. Not to be called after kDone.
  // Throws Error kPeerLost, kMismatch, kNoMemory; the operation can then not go on.
  virtual Turn step() = 0;

  // Empty where nothing but this rank keeps it, and where it is done.
  virtual std::optional<Wait> waiting() const noexcept = 0;

  // For a rank that waits in vain: `peer` may be in an operation that another method makes, and
  // then no message shows that the two differ. Throws Error kMismatch. Not for one that is done.
  virtual void compare_with(std::size_t peer) const = 0;
};

// A way of making operations. A communicator has several, and knows no more of one than this.
class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  // Whether it makes what takes this algorithm. The first that does is taken.
  virtual bool makes(Algorithm algorithm) const noexcept = 0;

  // Whether its operations run a plan.
  virtual bool runs_plans() const noexcept { return false; }

  // Where the parts of a grouped call, which have `bytes` together, have to lie for an operation to
  // take a list of them. Empty: it takes one run of values, so that parts are copied to and fro.
  virtual std::span<const std::byte> memory_of_parts(std::size_t) const noexcept { return {}; }

  // Whether the host may read and write the values, as it does where it copies them.
  virtual bool host_reads_values() const noexcept { return true; }

  // What of it takes one thread alone, which is the one that made the communicator: "the library
  // X". Empty: any thread may call, one at a time.
  virtual std::string_view one_thread() const noexcept { return {}; }

  // For who is about to queue an operation, and none is under way: gets ready what that will want,
  // while there is other work to do. False where there is never anything: it is asked once.
  virtual bool make_ready() noexcept { return false; }

  // How many streams all its operations have between them.
  virtual std::size_t stream_count() const noexcept = 0;

  // Whether its operations have to start in the order of their calls, which is the same on all
  // ranks, also where they share nothing.
  virtual bool starts_in_order() const noexcept { return false; }

  // The place number `place`, of those that may be under way together. The method's own streams are
  // numbered from `first_stream` on.
  virtual std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) = 0;
};

}  // namespace rota::collectives

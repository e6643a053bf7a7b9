// One rank's way to all its peers.
#pragma once
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
struct Lent;
struct Site;

// Why a group broke, and at whose place it was noticed first.
struct Cause {
  std::size_t rank = 0;  // Who noticed.
  ErrorCode code = ErrorCode::kAborted;
  std::optional<std::size_t> blamed;
  std::string text;
};

// What it is like to wait on a transport, and who may.
struct Manner {
  bool looks_at_memory = false;  // A look is no call of the system's: it pays to look for long.
  bool naps = false;        // Nothing ends a rest(), which is short: others may drive meanwhile.
  bool one_thread = false;  // All calls but wake() and abort() are the thread's that made it.
};

class Transport {
 public:
  virtual ~Transport() = default;

  // As rank tables call it: the same on every rank of its group. For ever.
  virtual std::string_view name() const noexcept = 0;

  virtual Manner manner() const noexcept { return {}; }

  virtual Channel& channel(std::size_t peer) noexcept = 0;  // Requires peer != own rank.

  // Where all ranks see each other's memory; else null. Is there as long as the transport.
  virtual SharedMemory* shared_memory() noexcept { return nullptr; }

  // Sleeps until something may have moved, at most so long. The only call here that blocks.
  virtual void rest(base::Duration at_most) = 0;

  // Ends a rest() that another thread is in, or else the next one, unless rests are naps. The only
  // call here that any thread may make at any time.
  virtual void wake() noexcept = 0;

  // Whether the loss of this peer shows as the end of its stream, after all that it had sent. Where
  // it does not, who hears of its end from elsewhere may take it that all it had sent is there.
  virtual bool ends_by_itself(std::size_t peer) const noexcept = 0;

  // Makes the transports of a group of this one's ranks, or of threads of theirs. Throws Error
  // kInvalidArgument where this transport has no further groups.
  virtual std::unique_ptr<Fabric> found(const Site& site);

  // Memory that peers reach in place where this transport can. Throws Error kNoMemory.
  virtual Block allocate(std::size_t bytes) = 0;

  // Payload since the start: what was given to peers, and what passed through memory of the
  // transport's own. Any thread may ask.
  virtual std::uint64_t sent_bytes() const noexcept = 0;
  virtual std::uint64_t staged_bytes() const noexcept = 0;

  // Whether this peer has closed its end, where its stream does not show it. Then all that it did
  // before can be seen.
  virtual bool has_left(std::size_t) const noexcept { return false; }

  // Makes every peer's next look fail. The first cause of all ranks wins. Where ranks share memory,
  // begin_abort() does so at once, and its caller may find out the cause before it calls abort().
  virtual void begin_abort(std::size_t) noexcept {}
  virtual void abort(const Cause& cause) noexcept = 0;

  // Whether some rank has begun to abort. What was read of peers' memory before this call was read
  // before they had it back, if it says no.
  virtual bool broken() const noexcept = 0;

  // Who began to abort first, where the transport shows it: its cause may follow.
  virtual std::optional<std::size_t> aborting() const noexcept { return std::nullopt; }

  // The first cause, where the transport carries one.
  virtual std::optional<Cause> aborted() = 0;
};

}  // namespace rota::transport

// One rank's way to all its peers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rota/error.h>
#include <rota/memory.h>

#include "base/time.h"
#include "transport/channel.h"

namespace rota::transport {

// Why a group broke, and at whose place it was noticed first.
struct Cause {
  std::size_t rank = 0;  // Who noticed.
  ErrorCode code = ErrorCode::kAborted;
  std::optional<std::size_t> blamed;
  std::string text;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual Channel& channel(std::size_t peer) noexcept = 0;  // Requires peer != own rank.

  // Sleeps until something may have moved, at most so long. The only call here that blocks.
  virtual void rest(base::Duration at_most) = 0;

  // Memory that peers reach in place where this transport can. Throws Error kNoMemory.
  virtual Block allocate(std::size_t bytes) = 0;

  // Bytes copied beside the wire's own.
  virtual std::uint64_t staged_bytes() const noexcept = 0;

  // Makes every peer's next look fail. The first cause of all ranks wins.
  virtual void abort(const Cause& cause) noexcept = 0;

  // The first cause, where the transport carries one.
  virtual std::optional<Cause> aborted() = 0;
};

}  // namespace rota::transport

// The one exception of rota, thrown at its public face.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <rota/export.h>

namespace rota {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument = 1,  // The call made no sense here; nothing was done.
  kMismatch,             // Ranks disagree: about an operation, a count, a model, an option.
  kTimeout,              // A deadline passed. blamed_rank() is whom the wait was for.
  kPeerLost,             // A rank ended, or its connection did, while it was needed.
  kAborted,              // Another rank broke the communicator; the text is the first cause.
  kClosed,               // The communicator was closed with this request pending.
  kNoMemory,             // The host has no room for a buffer.
  kSystem,               // The operating system refused; the text has the call and the reason.
  kBadData,              // A file is damaged, or is not what its name or header says.
  kNotFinite,            // A loss became infinite or NaN.
};

// The name of `code` as it is printed: "timeout", "peer lost", …
ROTA_EXPORT std::string_view to_string(ErrorCode code) noexcept;

class ROTA_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  Error(ErrorCode code, const std::string& what, std::size_t blamed_rank)
      : std::runtime_error(what), code_(code), blamed_rank_(blamed_rank) {}

  ErrorCode code() const noexcept { return code_; }

  // The rank this failure is to be laid at, where another rank than the thrower is.
  std::optional<std::size_t> blamed_rank() const noexcept { return blamed_rank_; }

 private:
  ErrorCode code_;
  std::optional<std::size_t> blamed_rank_;
};

}  // namespace rota

// Defines the exception type of rota's public API.
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
  kInvalidArgument = 1,  // The call makes no sense here; nothing was done.
  kMismatch,             // Ranks disagree: about an operation, a count, a model, an option.
  kTimeout,              // A deadline passed; this rank waited for blamed_rank().
  kPeerLost,             // A rank or its connection ended while it was needed.
  kAborted,              // Another rank broke the communicator; the text is the first cause.
  kClosed,               // The communicator was moved from, or closed with this request pending.
  kNoMemory,             // The host or a device has no room for a buffer.
  kSystem,               // A system call or a device failed; the text says which, and why.
  kBadData,              // A file is damaged, or does not match its name or header.
  kNotFinite,            // A loss, or the norm of the gradient, became infinite or NaN.
  kNotFound,             // A file or folder that is to be read does not exist.
  kCannotWrite,          // A file cannot be created or written; the text names it and the reason.
};

// Returns the name of `code` as messages show it: "timeout", "peer lost", …
ROTA_EXPORT std::string_view to_string(ErrorCode code) noexcept;

class ROTA_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  Error(ErrorCode code, const std::string& what, std::size_t blamed_rank)
      : std::runtime_error(what), code_(code), blamed_rank_(blamed_rank) {}

  ErrorCode code() const noexcept { return code_; }

  // Returns the rank that caused this failure. Returns nothing if that rank is unknown, or if it is
  // the rank that throws.
  std::optional<std::size_t> blamed_rank() const noexcept { return blamed_rank_; }

 private:
  ErrorCode code_;
  std::optional<std::size_t> blamed_rank_;
};

// An Error kSystem: the system cannot read a file or a folder that is to be read, such as a
// checkpoint. It may be whole.
class ROTA_EXPORT UnreadableFile : public Error {
 public:
  explicit UnreadableFile(const std::string& what) : Error(ErrorCode::kSystem, what) {}
  UnreadableFile(const std::string& what, std::size_t blamed_rank)
      : Error(ErrorCode::kSystem, what, blamed_rank) {}
};

}  // namespace rota

// Gives the error codes their names.
#include <rota/error.h>

namespace rota {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kMismatch:
      return "mismatch";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kPeerLost:
      return "peer lost";
    case ErrorCode::kAborted:
      return "aborted";
    case ErrorCode::kClosed:
      return "closed";
    case ErrorCode::kNoMemory:
      return "no memory";
    case ErrorCode::kSystem:
      return "system";
    case ErrorCode::kBadData:
      return "bad data";
    case ErrorCode::kNotFinite:
      return "not finite";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kCannotWrite:
      return "cannot write";
  }
  return "unknown";
}

}  // namespace rota

// errno as an Error.
#include "os/system_error.h"

#include <cerrno>
#include <system_error>

namespace rota::os {

void throw_errno(const std::string& what) { throw_errno(what, errno); }

void throw_errno(const std::string& what, int error_number) {
  const bool no_room = error_number == ENOMEM || error_number == ENOSPC;
  throw Error(no_room ? ErrorCode::kNoMemory : ErrorCode::kSystem,
              what + ": " + std::generic_category().message(error_number));
}

}  // namespace rota::os

// Turns errno into an Error.
#include "os/system_error.h"

#include <cerrno>
#include <system_error>

namespace rota::os {
namespace {

const char* advice_for(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free space there, or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "allow this user to write there, or choose another folder";
    case EFBIG:
      return "raise the limit of file sizes (ulimit -f), or choose another file system";
    case EEXIST:
    case ENOTEMPTY:
    case ENOTDIR:
      return "something else is there: move it away, or choose another folder";
    case ENOENT:
      return "the folder is gone: let no other program delete it";
    default:
      return "look at the disk and its file system, or choose another folder";
  }
}

}  // namespace

void throw_errno(const std::string& what) { throw_errno(what, errno); }

void throw_errno(const std::string& what, int error_number) {
  const bool no_room = error_number == ENOMEM || error_number == ENOSPC;
  const std::string advice = error_number == ENOSYS ? "; rota needs Linux 3.17 or later" : "";
  throw Error(no_room ? ErrorCode::kNoMemory : ErrorCode::kSystem,
              what + ": " + std::generic_category().message(error_number) + advice);
}

void throw_cannot_write(const std::string& path, const std::string& what, int error_number) {
  throw Error(ErrorCode::kCannotWrite, path + ": cannot be " + what + ": " +
                                           std::generic_category().message(error_number) + "; " +
                                           advice_for(error_number));
}

}  // namespace rota::os

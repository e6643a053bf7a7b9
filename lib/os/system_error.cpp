// Turns errno into an Error.
#include "os/system_error.h"

#include <cerrno>
#include <system_error>

#include "base/counted.h"
#include "os/host.h"

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

bool is_no_room(int error) noexcept { return error == ENOMEM || error == ENOSPC; }

}  // namespace

void throw_errno(const std::string& what) { throw_errno(what, errno); }

void throw_errno(const std::string& what, int error_number) {
  std::string advice;
  if (error_number == ENOSYS) advice = "; rota needs Linux 3.17 or later";
  if (error_number == ENOMEM) advice = advice_on_memory();
  throw Error(is_no_room(error_number) ? ErrorCode::kNoMemory : ErrorCode::kSystem,
              what + ": " + std::generic_category().message(error_number) + advice);
}

void throw_unreadable(const std::string& what) { throw_unreadable(what, errno); }

void throw_unreadable(const std::string& what, int error_number) {
  if (is_no_room(error_number)) throw_errno(what, error_number);
  throw UnreadableFile(what + ": " + std::generic_category().message(error_number));
}

// The C library reports EAGAIN, not ENOMEM, if a new thread finds no addresses for its stack.
void throw_cannot_start(const std::string& what, int error_number) {
  if (error_number != EAGAIN) throw_errno(what, error_number);
  throw Error(ErrorCode::kSystem, what + ": " + std::generic_category().message(error_number) +
                                      advice_on_processes(process_limit()) + advice_on_memory());
}

std::string advice_on_memory() { return advice_on_memory(address_limit_bytes()); }

std::string advice_on_memory(std::uint64_t limit) {
  if (limit == UINT64_MAX) return {};
  return "; this process may have " + std::to_string(limit) +
         " bytes of addresses (ulimit -v): raise the limit";
}

std::string advice_on_processes(std::uint64_t limit) {
  if (limit == UINT64_MAX) {
    return "; the control group (pids.max) or the system allows no more processes: raise the limit";
  }
  return "; this user may have " +
         base::counted(limit, "process or thread", "processes and threads") +
         " (ulimit -u), and the control group (pids.max) may allow fewer: "
         "raise the limit";
}

void throw_cannot_write(const std::string& path, const std::string& what, int error_number) {
  throw Error(ErrorCode::kCannotWrite, path + ": cannot be " + what + ": " +
                                           std::generic_category().message(error_number) + "; " +
                                           advice_for(error_number));
}

}  // namespace rota::os

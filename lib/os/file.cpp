// Files that one looks at before one trusts them.
#include "os/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rota::os {

OpenedFile open_file(const std::string& path) {
  OpenedFile opened;
  opened.file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!opened.file || ::fstat(opened.file.get(), &status) != 0) {
    opened.failure = std::generic_category().message(errno);
    opened.file.reset();
    return opened;
  }
  opened.is_regular = S_ISREG(status.st_mode);
  opened.owner = status.st_uid;
  opened.permissions = status.st_mode & 07777;
  return opened;
}

bool overwrite_file(const std::string& path, std::string_view text) noexcept {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (::ftruncate(file.get(), 0) != 0) return false;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  return written == static_cast<ssize_t>(text.size());
}

std::uint32_t own_user() noexcept { return ::geteuid(); }

}  // namespace rota::os

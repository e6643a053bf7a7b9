// Opens and overwrites files that must be checked before they are trusted.
#include "os/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "os/host.h"

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
  if (is_beyond_file_limit(text.size())) return false;
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (::ftruncate(file.get(), 0) != 0) return false;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  return written == static_cast<ssize_t>(text.size());
}

std::optional<std::string> folder_open_to_all(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  const std::filesystem::path named = std::filesystem::absolute(path, error);
  for (const std::filesystem::path& folder : {named.parent_path(), file.parent_path()}) {
    struct stat status {};
    if (folder.empty() || ::stat(folder.c_str(), &status) != 0) continue;
    const bool is_sticky = (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & S_IWOTH) != 0 && !is_sticky) return folder.string();
  }
  return std::nullopt;
}

std::optional<std::string> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return std::nullopt;
  return std::generic_category().message(errno);
}

std::uint32_t own_user() noexcept { return ::geteuid(); }

std::uint32_t own_group() noexcept { return ::getegid(); }

}  // namespace rota::os

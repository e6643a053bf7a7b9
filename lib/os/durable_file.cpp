// Creates, renames and deletes files and folders, with errors that say what to do.
#include "os/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <rota/error.h>

#include "os/host.h"
#include "os/lock_file.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

constexpr const char* kRenamesNeeded =
    "rota needs a file system that renames folders; name a folder on a local disk or on a volume "
    "that all hosts mount";

// Returns whether a file system says by this error that it renames no folders. A folder of another
// user may give EPERM too.
bool says_no_renames(int error) noexcept {
  constexpr std::array kErrors = {ENOSYS, EOPNOTSUPP, EINVAL, EXDEV, EPERM};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

std::string folder_above(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

NewFile::NewFile(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (!file_) throw_cannot_write(path_, "created", errno);
}

void NewFile::append(std::span<const std::byte> bytes) {
  const auto what = [this] { return "written after " + std::to_string(written_) + " bytes"; };
  while (!bytes.empty()) {
    if (is_beyond_file_limit(written_ + bytes.size())) throw_cannot_write(path_, what(), EFBIG);
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_cannot_write(path_, what(), errno);
    written_ += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// A file system that refuses leaves all the work to fsync().
void NewFile::start_writing() noexcept {
  ::sync_file_range(file_.get(), static_cast<off_t>(started_),
                    static_cast<off_t>(written_ - started_), SYNC_FILE_RANGE_WRITE);
  started_ = written_;
}

void NewFile::cut_back(std::uint64_t size) noexcept {
  const auto end = static_cast<off_t>(size);
  if (::ftruncate(file_.get(), end) == 0 && ::lseek(file_.get(), end, SEEK_SET) == end) {
    written_ = size;
    started_ = std::min(started_, size);
  }
}

void NewFile::lock() {
  if (try_lock(file_, path_) == FileLock::kHeld) throw_cannot_write(path_, "locked", EBUSY);
}

void NewFile::close() noexcept {
  unlock(file_);
  file_.reset();
}

void NewFile::sync() {
  const std::string what = "synced after " + std::to_string(written_) + " bytes";
  if (::fsync(file_.get()) != 0) throw_cannot_write(path_, what, errno);
  // Some network file systems report a full disk only here.
  if (::close(file_.release()) != 0) throw_cannot_write(path_, what, errno);
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) throw_cannot_write(path, "created", errno);
}

std::string why_no_path(const std::string& path) {
  const std::size_t end = path.find("://");
  const auto is_of_scheme = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  };
  const std::string_view scheme = std::string_view(path).substr(0, end);
  if (end == std::string::npos || end == 0 || !std::ranges::all_of(scheme, is_of_scheme)) return {};
  return path +
         " is an address, such as that of an object store, and not a path: " + kRenamesNeeded;
}

void make_folders(const std::string& path) {
  if (const std::string why = why_no_path(path); !why.empty()) {
    throw Error(ErrorCode::kCannotWrite, why);
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return;
  const std::string parent = folder_above(path);
  if (parent != path) make_folders(parent);
  if (::mkdir(path.c_str(), 0777) != 0) {
    const int reason = errno;
    // Another process may have made it meanwhile.
    if (std::filesystem::is_directory(path, error)) return;
    throw_cannot_write(path, "created", reason);
  }
  sync_folder(parent);
}

void sync_folder(const std::string& path) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw_cannot_write(path, "opened", errno);
  // Some file systems sync names without being asked, and answer EINVAL.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) throw_cannot_write(path, "synced", errno);
}

void rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    throw_cannot_write(from, "renamed to " + to, errno);
  }
}

void require_rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  const int reason = errno;
  if (!says_no_renames(reason)) throw_cannot_write(from, "renamed to " + to, reason);
  throw Error(ErrorCode::kCannotWrite, from + ": cannot be renamed to " + to + ": " +
                                           std::generic_category().message(reason) + "; " +
                                           kRenamesNeeded);
}

bool rename_to_free_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  const bool is_unknown = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
  if (is_unknown) return rename_to_made_name(from, to);
  throw_cannot_write(from, "renamed to " + to, errno);
}

bool rename_to_made_name(const std::string& from, const std::string& to) {
  if (::mkdir(to.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    throw_cannot_write(from, "renamed to " + to, errno);
  }
  if (std::rename(from.c_str(), to.c_str()) == 0) return true;
  const int reason = errno;
  // Another program may have put something there, although it has not made the folder.
  if (reason == ENOTEMPTY || reason == EEXIST) return false;
  ::rmdir(to.c_str());
  throw_cannot_write(from, "renamed to " + to, reason);
}

void remove_all(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) throw_cannot_write(path, "deleted", error.value());
}

bool exists(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) throw_unreadable(path);
  return false;
}

std::vector<std::string> names_in(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  if (error == std::errc::no_such_file_or_directory) {
    throw Error(ErrorCode::kNotFound, path + ": " + error.message());
  }
  if (error) throw_unreadable(path, error.value());
  std::ranges::sort(names);
  return names;
}

}  // namespace rota::os

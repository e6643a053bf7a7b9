// Replaces functions of the C library by the same system calls, with a look at each.
#include "checkpoint/watched_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <utility>

namespace rota::testing {
namespace {

struct Watch {
  CallWatch calls;
  std::mutex mutex;
};

// Other code may make calls before main() and after it, when no object of this file exists.
std::atomic<Watch*> current{nullptr};

// Returns the path of the open file, even after a rename.
std::string path_of(int file) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t count = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

std::string path_at(int folder, const char* path) {
  if (folder == AT_FDCWD || path[0] == '/') return path;
  return path_of(folder) + "/" + path;
}

bool is_there(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool is_inside(const std::string& folder, const std::string& path) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Makes the system call `work`, which is given the shown call, or null if nobody watches it.
template <typename Describe, typename Work>
auto watched(Describe describe, Work work) {
  Watch* const watch = current.load();
  if (watch == nullptr) return work(nullptr);
  FileCall call = describe();
  if (!is_inside(watch->calls.folder, call.path)) return work(nullptr);
  const std::lock_guard lock(watch->mutex);
  call.bytes.resize(std::min(call.bytes.size(), watch->calls.most_bytes));
  if (watch->calls.before) watch->calls.before(call);
  const auto result = work(&call);
  if (result < 0 || !watch->calls.after) return result;
  if (call.kind == FileCall::Kind::kWrite) call.bytes.resize(static_cast<std::size_t>(result));
  watch->calls.after(call);
  return result;
}

int open_at(int folder, const char* path, int flags, unsigned mode) {
  const auto describe = [&] {
    FileCall call{.path = path_at(folder, path)};
    const bool creates = (flags & O_CREAT) != 0 && !is_there(call.path);
    call.kind = creates ? FileCall::Kind::kCreate : FileCall::Kind::kOpen;
    return call;
  };
  return watched(describe, [&](const FileCall*) {
    return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  });
}

int remove_at(int folder, const char* path, int flags) {
  const auto describe = [&] {
    return FileCall{.kind = FileCall::Kind::kRemove, .path = path_at(folder, path)};
  };
  return watched(describe, [&](const FileCall*) {
    return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
  });
}

FileCall write_of(int file, const void* bytes, std::size_t count, off_t offset) {
  return {.kind = FileCall::Kind::kWrite,
          .path = path_of(file),
          .offset = static_cast<std::uint64_t>(offset),
          .bytes = {static_cast<const char*>(bytes), count}};
}

}  // namespace

void watch_calls(CallWatch watch) {
  static Watch* const kept = new Watch;  // Never deleted, like `current`.
  current = nullptr;
  kept->calls = std::move(watch);
  current = kept;
}

}  // namespace rota::testing

using rota::testing::FileCall;
using rota::testing::watched;

extern "C" {
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const unsigned mode = va_arg(list, unsigned);
  va_end(list);
  return rota::testing::open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const unsigned mode = va_arg(list, unsigned);
  va_end(list);
  return rota::testing::open_at(folder, path, flags, mode);
}
int close(int file) {
  return watched(
      [&] {
        return FileCall{.kind = FileCall::Kind::kClose, .path = rota::testing::path_of(file)};
      },
      [&](const FileCall*) { return static_cast<int>(::syscall(SYS_close, file)); });
}
ssize_t write(int file, const void* bytes, size_t count) {
  return watched(
      [&] { return rota::testing::write_of(file, bytes, count, ::lseek(file, 0, SEEK_CUR)); },
      [&](const FileCall* call) {
        return ::syscall(SYS_write, file, bytes, call == nullptr ? count : call->bytes.size());
      });
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  return watched([&] { return rota::testing::write_of(file, bytes, count, offset); },
                 [&](const FileCall* call) {
                   return ::syscall(SYS_pwrite64, file, bytes,
                                    call == nullptr ? count : call->bytes.size(), offset);
                 });
}
int ftruncate(int file, off_t size) noexcept {
  const auto describe = [&] {
    return FileCall{.kind = FileCall::Kind::kTruncate,
                    .path = rota::testing::path_of(file),
                    .offset = static_cast<std::uint64_t>(size)};
  };
  return watched(describe, [&](const FileCall*) {
    return static_cast<int>(::syscall(SYS_ftruncate, file, size));
  });
}
int fsync(int file) {
  return watched(
      [&] { return FileCall{.kind = FileCall::Kind::kSync, .path = rota::testing::path_of(file)}; },
      [&](const FileCall*) { return static_cast<int>(::syscall(SYS_fsync, file)); });
}
int rename(const char* from, const char* to) noexcept {
  return watched(
      [&] { return FileCall{.kind = FileCall::Kind::kRename, .path = from, .to = to}; },
      [&](const FileCall*) {
        return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
      });
}
int mkdir(const char* path, mode_t mode) noexcept {
  return watched([&] { return FileCall{.kind = FileCall::Kind::kMakeFolder, .path = path}; },
                 [&](const FileCall*) {
                   return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
                 });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return rota::testing::remove_at(folder, path, flags);
}
int unlink(const char* path) noexcept { return rota::testing::remove_at(AT_FDCWD, path, 0); }
int rmdir(const char* path) noexcept {
  return rota::testing::remove_at(AT_FDCWD, path, AT_REMOVEDIR);
}
// The C library's remove() would call the kernel directly, and nobody would see it.
int remove(const char* path) noexcept {
  struct stat status {};
  const bool is_folder = ::lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  return is_folder ? ::rmdir(path) : ::unlink(path);
}
}

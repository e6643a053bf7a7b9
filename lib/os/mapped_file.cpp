// Opens, reads and maps regular files.
#include "os/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/sizes.h"
#include "os/system_error.h"

namespace rota::os {
namespace {

// Works like reading a byte of each page, but a page that cannot be read is an error and not
// SIGBUS.
constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, which older headers lack.

[[noreturn]] void refuse_kind(const std::string& path, const char* kind) {
  throw Error(ErrorCode::kBadData, path + ": is " + kind + ", expected a regular file");
}

const char* kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device";
}

Fd open_untrusted(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  Fd file(::open(path.c_str(), kFlags));
  if (file) return file;
  switch (errno) {
    case ENOENT:
      throw Error(ErrorCode::kNotFound, path + ": " + std::generic_category().message(ENOENT));
    case ELOOP:
      refuse_kind(path, "a symbolic link");
    case ENXIO:
      refuse_kind(path, "a socket");
    default:
      throw_unreadable(path);
  }
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)), file_(open_untrusted(path_)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_unreadable("fstat of " + path_);
  if (!S_ISREG(status.st_mode)) refuse_kind(path_, kind_of(status.st_mode));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::move(other.file_)),
      size_(other.size_),
      mapped_(std::exchange(other.mapped_, {})) {}

MappedFile::~MappedFile() {
  if (mapped_.empty()) return;
  ::munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size());
}

std::size_t MappedFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file_.get(), bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw_unreadable("read of " + path_ + " at byte " + std::to_string(offset + done));
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::span<const std::byte> MappedFile::map() {
  if (!mapped_.empty() || size_ == 0) return mapped_;
  const auto count = base::as_size(size_);
  if (!count) {
    throw Error(ErrorCode::kNoMemory, "mmap of " + path_ +
                                          ": a 32-bit program has no addresses for " +
                                          std::to_string(size_) + " bytes");
  }
  void* start = ::mmap(nullptr, *count, PROT_READ, MAP_PRIVATE, file_.get(), 0);
  if (start == MAP_FAILED) throw_unreadable("mmap of " + path_);
  mapped_ = {static_cast<const std::byte*>(start), *count};
  return mapped_;
}

void MappedFile::fetch(std::uint64_t offset, std::size_t count) const {
  const std::string what = "read of " + path_ + " at byte " + std::to_string(offset);
  auto* start = const_cast<std::byte*>(mapped_.data()) + offset;
  while (::madvise(start, count, kPopulateRead) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == EFAULT || errno == EHWPOISON) throw_unreadable(what, EIO);
    if (errno != EINVAL) throw_unreadable(what);
    // Linux before 5.14.
    std::vector<std::byte> bytes(count);
    if (read(offset, bytes) < count) throw_unreadable(what, EIO);
    return;
  }
}

}  // namespace rota::os

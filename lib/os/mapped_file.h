// Reads files that may be damaged. What is at the path may not even be a file. The contents can be
// used without a copy in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "os/fd.h"

namespace rota::os {

// A regular file, open for reading. Its contents become bytes by a mapping of the whole file.
class MappedFile {
 public:
  // Opens `path`, but follows no link there and never waits. Throws Error kNotFound if nothing is
  // there, kBadData if it is not a regular file, and UnreadableFile.
  explicit MappedFile(std::string path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }

  // Reads bytes from `offset` on, without a mapping, so that a failing disk is an Error. Returns
  // fewer bytes than `bytes` has only at the end of the file. Throws UnreadableFile.
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) const;

  // Maps the file. The bytes live as long as this object. Throws UnreadableFile, Error kNoMemory.
  std::span<const std::byte> map();

  // Reads `count` bytes from `offset` on into the memory of the mapping. Without this call, an
  // access to the mapping could end the process by SIGBUS, if the disk fails or the file has become
  // shorter. Requires that map() has been called, and that `offset` is a multiple of 1 MiB. Throws
  // UnreadableFile.
  void fetch(std::uint64_t offset, std::size_t count) const;

  // Closes the descriptor, so that a process can have more files mapped than descriptors. The bytes
  // of map() stay; read() and fetch() must not be called afterwards.
  void close_descriptor() noexcept { file_.reset(); }

 private:
  std::string path_;
  Fd file_;
  std::uint64_t size_ = 0;
  std::span<const std::byte> mapped_;
};

}  // namespace rota::os

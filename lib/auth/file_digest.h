// Makes a digest of a file, so that two hosts can compare their files by length and digest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "auth/key.h"

namespace rota::auth {

struct FileDigest {
  std::uint64_t bytes = 0;
  Digest sha256{};

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Returns the digest of the whole file, as sha256sum gives it, or nothing if the file cannot be
// read.
std::optional<FileDigest> digest_of_file(const std::string& path);

// Returns the digest of only the first and the last `end_bytes` bytes. This takes the same time for
// a file of any length.
std::optional<FileDigest> digest_of_ends(const std::string& path, std::size_t end_bytes);

}  // namespace rota::auth

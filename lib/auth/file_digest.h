// What a file holds, told by its length and a digest, so that two hosts can compare theirs.
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

// Of all that it holds, as sha256sum has it. Empty where it cannot be read.
std::optional<FileDigest> digest_of_file(const std::string& path);

// Of its first and its last `end_bytes` alone: as fast however long it is.
std::optional<FileDigest> digest_of_ends(const std::string& path, std::size_t end_bytes);

}  // namespace rota::auth

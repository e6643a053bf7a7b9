// A file that appears under its name only when it is whole. Without this class, a crash could leave
// half of a file under the name of a good one.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "os/durable_file.h"
#include "os/origin.h"

namespace rota::formats {

class ReplacingFile {
 public:
  // Creates a file with a hidden name in the folder of `path`. Throws Error kCannotWrite, for
  // example if something other than a regular file is at `path`.
  explicit ReplacingFile(const std::filesystem::path& path);
  // Deletes the hidden file, unless commit() has renamed it. In the child of a fork, leaves it to
  // the parent.
  ~ReplacingFile();
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  // Throws Error kCannotWrite.
  void append(std::span<const std::byte> bytes);

  // Syncs the file, then renames it to its name, then syncs the folder. Call it once. Throws Error
  // kCannotWrite.
  void commit();

 private:
  os::Origin origin_;
  std::string path_;
  std::string folder_;
  std::string hidden_;  // Empty once the file has its name.
  std::optional<os::NewFile> file_;
};

// Returns the path of the regular file to which links from `path` lead. Throws Error kNotFound if
// nothing is there, and UnreadableFile.
std::string resolved(const std::filesystem::path& path);

}  // namespace rota::formats

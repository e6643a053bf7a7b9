// Writes a file under a hidden name, and renames it when the disk has it.
#include "formats/replacing_file.h"

#include <cstdint>
#include <span>
#include <system_error>

#include <rota/error.h>

#include "base/hex.h"
#include "os/host.h"

namespace rota::formats {
namespace {

// Returns a name that no other file has. Several hosts may share the folder, several threads may
// write a file of this name, and a process that was killed leaves its hidden file. The host's name
// and the number of the process do not tell these apart: when a container starts again in its pod,
// its processes have the same numbers.
std::string hidden_name(const std::filesystem::path& path) {
  std::uint64_t number = 0;
  os::fill_with_randomness(std::as_writable_bytes(std::span(&number, 1)));
  return "." + path.filename().string() + "." + base::to_hex(number);
}

}  // namespace

ReplacingFile::ReplacingFile(const std::filesystem::path& path)
    : path_(path.string()),
      folder_(path.has_parent_path() ? path.parent_path().string() : "."),
      hidden_((std::filesystem::path(folder_) / hidden_name(path)).string()) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::kCannotWrite,
                path_ + ": cannot be replaced: it is not a regular file; choose another name");
  }
  if (!std::filesystem::is_directory(folder_, error)) {
    throw Error(ErrorCode::kCannotWrite, path_ + ": cannot be written: there is no folder " +
                                             folder_ + "; make it, or choose another one");
  }
  file_.emplace(hidden_);
}

ReplacingFile::~ReplacingFile() {
  file_.reset();
  std::error_code ignored;
  if (!hidden_.empty() && origin_.is_here()) std::filesystem::remove(hidden_, ignored);
}

void ReplacingFile::append(std::span<const std::byte> bytes) { file_->append(bytes); }

void ReplacingFile::commit() {
  file_->sync();
  os::rename(hidden_, path_);
  hidden_.clear();
  os::sync_folder(folder_);
}

std::string resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  if (!error) return found.string();
  const bool is_missing =
      error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  const std::string text = path.string() + ": " + error.message();
  if (!is_missing) throw UnreadableFile(text);
  throw Error(ErrorCode::kNotFound, text);
}

}  // namespace rota::formats

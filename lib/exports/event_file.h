// Writes an event file to the disk: its first two records, and then the events.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include <rota/error.h>

#include "formats/events.h"
#include "os/durable_file.h"

namespace rota::exports {

// Another EventFile is open in the folder. Other failures can be borne, but not this one: the two
// files would hide points of each other.
class FolderInUse : public Error {
 public:
  explicit FolderInUse(const std::string& what) : Error(ErrorCode::kCannotWrite, what) {}
};

class EventFile {
 public:
  // Creates a file in `folder`, which it makes if it is missing. Waits up to `patience` until no
  // other EventFile, of any process, is open there. Then writes the record of the version, and with
  // `first_step` the record of the start. `wall_time` is in seconds since 1970. Throws Error
  // kCannotWrite. Throws FolderInUse if another EventFile is still open; no file of this one stays.
  EventFile(const std::filesystem::path& folder, double wall_time,
            std::optional<std::int64_t> first_step, std::chrono::milliseconds patience);

  const std::filesystem::path& path() const noexcept { return path_; }

  // Writes `events`. Before the very first event, writes the record of the start at `first_step`.
  // Throws Error kCannotWrite; then none of them is in the file, and the file is as before.
  void append(const std::deque<formats::Event>& events, std::int64_t first_step);

  // Lets others write to the folder. append() may not be called again.
  void close() noexcept { file_.close(); }

 private:
  void write(const std::string& bytes);

  std::filesystem::path path_;
  os::NewFile file_;
  bool has_start_ = false;
};

}  // namespace rota::exports

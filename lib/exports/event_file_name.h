// Names event files so that readers, which sort the names, read the newest file last.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rota::exports {

// Returns whether readers read a file with this name.
bool is_event_file(std::string_view name) noexcept;

// Who writes the file, and when.
struct EventFileOrigin {
  std::int64_t seconds = 0;  // Since 1970, by a clock that may have gone back.
  std::string host;
  int process = 0;
  unsigned number = 0;  // Differs between the files of a process.
};

// Returns "events.out.tfevents.TIME.HOST.PROCESS.NUMBER". `names` are the names in the folder. TIME
// is `origin.seconds`, or later if the name would otherwise not sort behind all event files in the
// folder.
std::string name_event_file(const EventFileOrigin& origin, std::span<const std::string> names);

}  // namespace rota::exports

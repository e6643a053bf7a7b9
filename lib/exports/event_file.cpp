// Every event file begins with a start at its first step. A reader then forgets what earlier files
// have at this step and later: these are points that an interrupted run wrote after its last saved
// state.
#include "exports/event_file.h"

#include <atomic>
#include <span>
#include <thread>

#include "base/time.h"
#include "exports/event_file_name.h"
#include "formats/records.h"
#include "os/host.h"
#include "os/lock_file.h"

namespace rota::exports {
namespace {

std::filesystem::path new_path_in(const std::filesystem::path& folder, double wall_time) {
  static std::atomic<unsigned> count{0};
  os::make_folders(folder.string());
  const EventFileOrigin origin{static_cast<std::int64_t>(wall_time), os::host_name(),
                               os::own_process(), count++};
  return folder / name_event_file(origin, os::names_in(folder.string()));
}

// Returns another file in the folder of `path` that is open for writing, or an empty name.
std::string other_open_file(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  for (const std::string& name : os::names_in(folder.string())) {
    if (name == path.filename() || !is_event_file(name)) continue;
    if (os::is_locked((folder / name).string())) return name;
  }
  return {};
}

// Waits, because a process that was killed may still be ending.
void require_alone(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kInterval{20};
  const base::TimePoint end = base::Clock::now() + patience;
  std::string other = other_open_file(path);
  while (!other.empty() && base::Clock::now() < end) {
    std::this_thread::sleep_for(kInterval);
    other = other_open_file(path);
  }
  if (other.empty()) return;
  throw FolderInUse(path.parent_path().string() + ": another writer is writing " + other +
                    " there; give each run a folder of its own");
}

void append_event(std::string& bytes, const formats::Event& event) {
  for (const std::string& record : formats::encode(event)) formats::append_record(bytes, record);
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder, double wall_time,
                     std::optional<std::int64_t> first_step, std::chrono::milliseconds patience)
    : path_(new_path_in(folder, wall_time)), file_(path_.string()) {
  file_.lock();
  try {
    require_alone(path_, patience);
  } catch (const Error&) {
    os::remove_all(path_.string());  // With a start, it would hide points of the other file.
    throw;
  }
  std::string bytes;
  append_event(bytes, {wall_time, 0, {}, formats::FileVersion{}});
  if (first_step) append_event(bytes, {wall_time, *first_step, {}, formats::SessionStart{}});
  write(bytes);
  has_start_ = first_step.has_value();
}

void EventFile::append(const std::deque<formats::Event>& events, std::int64_t first_step) {
  if (events.empty()) return;
  std::string bytes;
  if (!has_start_) {
    append_event(bytes, {events.front().wall_time, first_step, {}, formats::SessionStart{}});
  }
  for (const formats::Event& event : events) append_event(bytes, event);
  write(bytes);
  has_start_ = true;
}

void EventFile::write(const std::string& bytes) {
  const std::uint64_t before = file_.written();
  try {
    file_.append(std::as_bytes(std::span(bytes)));
  } catch (const Error&) {
    file_.cut_back(before);  // A reader would stop at half a record.
    throw;
  }
}

}  // namespace rota::exports

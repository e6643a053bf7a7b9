// Locks the file `owner`, and reads and writes the name in it.
#include "checkpoint/owner.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "base/time.h"
#include "checkpoint/file_names.h"
#include "os/host.h"
#include "os/mapped_file.h"

namespace rota::checkpoint {
namespace {

constexpr std::size_t kMostOwnerBytes = 4096;
constexpr std::chrono::milliseconds kPause{50};
// An owner writes its name as soon as it has the lock.
constexpr std::chrono::seconds kNamePatience{1};

// Takes the next line of `text`, which must start with `name` and a space, and returns the rest of
// this line.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name) || end <= name.size() ||
      text[name.size()] != ' ') {
    return std::nullopt;
  }
  const std::string_view value = text.substr(name.size() + 1, end - name.size() - 1);
  text.remove_prefix(end + 1);
  return value;
}

std::optional<RunId> take_run(std::string_view& text, std::string_view name) {
  const auto value = take_line(text, name);
  return value ? run_id_from(*value) : std::nullopt;
}

std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view name) {
  const auto value = take_line(text, name);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size()) return std::nullopt;
  return number;
}

// Returns what the file says now, or nothing if the file is missing, or if its owner is writing it.
std::optional<OwnerName> read_owner(const std::string& path) {
  try {
    std::array<std::byte, kMostOwnerBytes> bytes{};
    const std::size_t count = os::MappedFile(path).read(0, bytes);
    return owner_name_from({reinterpret_cast<const char*>(bytes.data()), count});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return std::nullopt;
    throw;
  }
}

[[noreturn]] void refuse_folder(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kCannotWrite, path + ": " + why);
}

}  // namespace

std::string encode(const OwnerName& name) {
  return "run " + to_text(name.run) + "\nstart " + std::to_string(name.start) + "\nhost " +
         name.host + "\nprocess " + std::to_string(name.process) + "\ntoken " +
         to_text(name.token) + "\n";
}

std::optional<OwnerName> owner_name_from(std::string_view text) {
  const auto run = take_run(text, "run");
  const auto start = take_number(text, "start");
  const auto host = take_line(text, "host");
  const auto process = take_number(text, "process");
  const auto token = take_run(text, "token");
  if (!run || !start || !host || !process || !token || !text.empty()) return std::nullopt;
  return OwnerName{.run = *run,
                   .start = *start,
                   .host = std::string(*host),
                   .process = *process,
                   .token = *token};
}

std::string describe(const OwnerName& name) {
  return "run " + to_text(name.run) + ", start " + std::to_string(name.start) + ", process " +
         std::to_string(name.process) + " on host " + name.host;
}

Owner::Owner(const std::string& folder, const RunId& run, std::uint64_t start,
             std::chrono::milliseconds patience)
    : folder_(folder),
      path_(folder + "/" + kOwnerName),
      name_{.run = run,
            .start = start,
            .host = os::host_name(),
            .process = static_cast<std::uint64_t>(os::own_process()),
            .token = random_run_id()},
      file_(path_) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  os::LockFile::Lock lock = file_.try_lock();
  bool has_said = false;
  while (lock == os::LockFile::Lock::kHeld) {
    const auto other = other_job();
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline && (other || now >= deadline + kNamePatience)) {
      refuse_second_job(patience);
    }
    if (other && !std::exchange(has_said, true)) say_wait(*other, patience);
    std::this_thread::sleep_for(kPause);
    lock = file_.try_lock();
  }
  has_lock_ = lock == os::LockFile::Lock::kLocked;
  file_.write(encode(name_));
}

// Returns the other job that the file names, if it names one. The run is drawn anew at each start,
// so no other job has it.
std::optional<OwnerName> Owner::other_job() const {
  auto other = read_owner(path_);
  if (!other || other->run != name_.run) return other;
  refuse_folder(folder_, "another host of this job saves its checkpoints there (" +
                             describe(*other) +
                             "), but each host needs a folder of its own: for a folder that hosts "
                             "share, set storage to 'shared' (kShared)");
}

// Otherwise a job that waits for a minute would look as if it hung.
void Owner::say_wait(const OwnerName& other, std::chrono::milliseconds patience) const {
  std::fprintf(stderr,
               "rota: another job saves its checkpoints in %s (%s): this job waits up to %s for it "
               "to end\n",
               folder_.c_str(), describe(other).c_str(), base::to_text(patience).c_str());
}

void Owner::refuse_second_job(std::chrono::milliseconds patience) const {
  const auto other = read_owner(path_);
  refuse_folder(folder_, "another job saves its checkpoints there (" +
                             (other ? describe(*other) : "it has not written its name yet") +
                             ") and has not ended within " + base::to_text(patience) +
                             ": end that job, or choose another folder for this one");
}

void Owner::rename(const RunId& run, std::uint64_t start) {
  require_ownership();
  name_.run = run;
  name_.start = start;
  file_.write(encode(name_));
}

void Owner::require_ownership() const {
  const auto other = read_owner(path_);
  if (other && other->token == name_.token) return;
  refuse_folder(folder_, (other ? "another job has taken the folder over (" + describe(*other) + ")"
                                : "the file owner is missing or damaged") +
                             std::string(", so this job (") + describe(name_) +
                             ") must not save there: give each job a folder of its own");
}

}  // namespace rota::checkpoint

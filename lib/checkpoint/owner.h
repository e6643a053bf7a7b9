// Lets only one job at a time save to a folder of checkpoints. Otherwise two jobs would remove each
// other's checkpoints.
// The owner holds a lock on the file `owner` in the folder, and writes its name there. The kernel
// ends the lock with the process. Some network file systems have no locks: there, the job that came
// last owns the folder, and the earlier job notices that before its next save.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/run_id.h"
#include "os/lock_file.h"

namespace rota::checkpoint {

// What the file `owner` says, for people and for other jobs.
struct OwnerName {
  RunId run;
  std::uint64_t start = 1;  // Which start of the run.
  std::string host;
  std::uint64_t process = 0;  // Its number (pid) on that host.
  RunId token;                // Random: no other Owner has it.
  friend bool operator==(const OwnerName&, const OwnerName&) = default;
};

std::string encode(const OwnerName& name);

// Returns nothing if the text is not complete, or not from encode().
std::optional<OwnerName> owner_name_from(std::string_view text);

// "run 5f0c…, start 2, process 4711 on host a"
std::string describe(const OwnerName& name);

class Owner {
 public:
  // Locks the existing folder for this process, and writes this owner's name to the file `owner`.
  // Waits up to `patience` for another owner to end, and names it on stderr when the wait begins.
  // Throws Error kCannotWrite if another job owns the folder (the text names that job), or if
  // `owner` cannot be written. Does not wait for an owner of the same run, which is another host of
  // this job.
  Owner(const std::string& folder, const RunId& run, std::uint64_t start,
        std::chrono::milliseconds patience = {});

  // Writes another run or start, once it is known from a checkpoint. Throws Error kCannotWrite.
  void rename(const RunId& run, std::uint64_t start);

  const OwnerName& name() const noexcept { return name_; }

  // Returns false where the file system has no locks.
  bool has_lock() const noexcept { return has_lock_; }

  // Throws Error kCannotWrite if this job no longer owns the folder. The text names the new owner.
  // Call it before each rename in the folder.
  void require_ownership() const;

 private:
  std::optional<OwnerName> other_job() const;
  void say_wait(const OwnerName& other, std::chrono::milliseconds patience) const;
  [[noreturn]] void refuse_second_job(std::chrono::milliseconds patience) const;

  std::string folder_;
  std::string path_;  // Of the file `owner`.
  OwnerName name_;
  os::LockFile file_;
  bool has_lock_ = false;
};

}  // namespace rota::checkpoint

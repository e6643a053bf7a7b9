// Runs rotarun, or any program, as a user would: with arguments, an environment and input; and
// finds what it left behind.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "os/fd.h"

namespace rota::testing {

struct Command {
  std::vector<std::string> arguments;    // The program's path first.
  std::vector<std::string> environment;  // "NAME=VALUE", beside this process's own.
  std::string input;
  std::string directory;     // Empty: this process's.
  int standard_input = -1;   // A descriptor in place of `input`.
  int standard_output = -1;  // A descriptor in place of being captured.
  int standard_error = -1;
};

struct Result {
  int exit_code = -1;  // -1: a signal ended it.
  int signal = 0;
  std::string out;
  std::string err;
  bool was_in_time = false;    // False: it had to be killed.
  std::size_t most_bytes = 0;  // Of its memory, as far as that was resident.
};

// A running program. It is killed with this process.
class Process {
 public:
  explicit Process(Command command);
  Process(Process&&) = delete;
  ~Process();

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const noexcept;

  // Reads until stdout or stderr has `text`; false when that takes too long.
  bool wait_for(const std::string& text);
  const std::string& out() const noexcept { return out_; }
  const std::string& err() const noexcept { return err_; }

  // Reads until it ends, for `limit` at most: long, since sanitized programs are slow.
  Result wait(std::chrono::nanoseconds limit = std::chrono::seconds(150));

 private:
  bool read_for(std::chrono::nanoseconds limit);
  bool has_ended();
  bool reap(int options);

  pid_t pid_ = -1;
  os::Fd out_fd_;
  os::Fd err_fd_;
  std::string out_;
  std::string err_;
  std::optional<int> status_;
  std::size_t most_bytes_ = 0;
};

Result run(Command command);

// The rotarun of this build, and a command of it.
std::string rotarun_path();
Command rotarun(std::vector<std::string> arguments);
Result run_rotarun(std::vector<std::string> arguments);

// Makes orphans of the programs started from here come to this process, so that none gets away.
void adopt_orphans();

// The processes that descend from this one, zombies too.
std::vector<pid_t> live_descendants();

// Reaps what has ended; true when nothing is left, before `limit` is over.
bool all_gone_within(std::chrono::nanoseconds limit);

// The state letter of a process, as ps shows it ('R', 'S', 'T', 'Z', …), or 0 when it has gone.
char state_of(pid_t pid);

}  // namespace rota::testing

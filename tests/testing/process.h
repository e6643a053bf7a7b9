// Runs rotarun, or any other program, as a user would: with arguments, an environment and input.
// Also finds the processes that the program left behind.
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
  std::vector<std::string> environment;  // "NAME=VALUE", in addition to this process's environment.
  std::string input;
  std::string directory;     // Empty: this process's directory.
  int standard_input = -1;   // A descriptor in place of `input`.
  int standard_output = -1;  // A descriptor in place of being captured.
  int standard_error = -1;
};

struct Result {
  int exit_code = -1;  // -1: a signal ended it.
  int signal = 0;
  std::string out;
  std::string err;
  bool was_in_time = false;    // False: the process was killed at the limit.
  std::size_t most_bytes = 0;  // The most memory that was resident.
};

// Returns whether a program's output has words of a sanitizer or of the allocator about damage.
bool has_damage(const std::string& said);

// A running program. It is killed with this process.
class Process {
 public:
  explicit Process(Command command);
  Process(Process&&) = delete;
  ~Process();

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const noexcept;

  // Reads until stdout or stderr contains `text`. Returns false if that takes longer than `limit`,
  // and says so, or if the program has closed both.
  bool wait_for(const std::string& text, std::chrono::nanoseconds limit = std::chrono::seconds(20));
  const std::string& out() const noexcept { return out_; }
  const std::string& err() const noexcept { return err_; }

  // Reads until the program ends, for at most `limit`. Says so if it takes longer. The default is
  // long: sanitized programs are slow.
  Result wait(std::chrono::nanoseconds limit = std::chrono::seconds(150));

 private:
  bool read_for(std::chrono::nanoseconds limit);
  bool has_ended();
  bool reap(int options);

  // Reads what an ended program has left in its pipes. Prints the whole output, once, if it has
  // words about damage: CI tries no test again that prints them, and most tests do not print the
  // output of their programs.
  void take_the_rest();

  pid_t pid_ = -1;
  os::Fd out_fd_;
  os::Fd err_fd_;
  std::string out_;
  std::string err_;
  bool is_shown_ = false;
  std::optional<int> status_;
  std::size_t most_bytes_ = 0;
};

Result run(Command command);

// These functions give the path of this build's rotarun, a command that runs it, and the result of
// a run.
std::string rotarun_path();
Command rotarun(std::vector<std::string> arguments);
Result run_rotarun(std::vector<std::string> arguments);

// Makes this process the parent of orphans of the programs it starts, so that no process escapes.
void adopt_orphans();

// Returns all descendants of this process, including zombies.
std::vector<pid_t> live_descendants();

// Reaps the children that have ended, adopted orphans too. Returns true if no child is left before
// `limit` has passed.
bool all_gone_within(std::chrono::nanoseconds limit);

// Returns the state letter of a process as ps shows it ('R', 'S', 'T', 'Z', …); 0 if the process is
// gone.
char state_of(pid_t pid);

}  // namespace rota::testing

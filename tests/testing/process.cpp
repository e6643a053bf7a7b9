// Runs rotarun, or any other program, as a user would.
#include "testing/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "base/time.h"
#include "os/pipe.h"
#include "os/poll_set.h"
#include "os/process.h"
#include "testing/paths.h"

namespace rota::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(2);

// Reads the bytes that are available. Closes `fd` when nothing more will come.
void take_all(os::Fd& fd, std::string& text) {
  char buffer[65536];
  while (fd) {
    const os::ReadResult result = os::read_available(fd.get(), buffer);
    if (result.io == os::Io::kWouldBlock) return;
    if (result.io == os::Io::kClosed) return fd.reset();
    text.append(buffer, result.count);
  }
}

// Returns this process's environment with more variables, which replace those of the same name.
std::vector<std::string> environment_with(std::vector<std::string> more) {
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry; ++entry) {
    const std::string_view own = *entry;
    const std::string_view name = own.substr(0, own.find('=') + 1);
    const bool is_replaced = std::ranges::any_of(
        more, [&](const std::string& other) { return other.starts_with(name); });
    if (!is_replaced) environment.emplace_back(own);
  }
  std::ranges::move(more, std::back_inserter(environment));
  return environment;
}

// Returns a pipe that holds `input` and has no writer.
os::Fd pipe_with(const std::string& input) {
  auto [read_end, write_end] = os::make_pipe();
  if (::fcntl(read_end.get(), F_SETFL, 0) != 0) throw std::runtime_error("fcntl");
  if (::write(write_end.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    throw std::runtime_error("the input does not fit into a pipe");
  }
  return std::move(read_end);
}

// Words of a sanitizer or of the allocator about damaged memory or a race: see .ci/results.awk.
constexpr std::array<std::string_view, 6> kDamage = {
    "Sanitizer", "runtime error:", "free(): ", "malloc(): ", "double free", "stack smashing"};

// Says that a test has waited too long: see .ci/results.awk.
void say_in_vain(const std::string& what, std::chrono::nanoseconds limit) {
  std::cerr << "waited in vain for " << base::to_text(limit) << ": " << what << std::endl;
}

}  // namespace

bool has_damage(const std::string& said) {
  return std::ranges::any_of(
      kDamage, [&](std::string_view word) { return said.find(word) != std::string::npos; });
}

Process::Process(Command command) {
  // Descriptors inherited from this test's parent must not reach the programs that it starts.
  ::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  auto [out_read, out_write] = os::make_pipe();
  auto [err_read, err_write] = os::make_pipe();
  const os::Fd input = pipe_with(command.input);
  os::ProcessPlan plan;
  plan.program = command.arguments.at(0);
  plan.arguments = std::move(command.arguments);
  plan.environment = environment_with(std::move(command.environment));
  plan.working_directory = command.directory;
  plan.standard_input = command.standard_input >= 0 ? command.standard_input : input.get();
  plan.standard_output = command.standard_output >= 0 ? command.standard_output : out_write.get();
  plan.standard_error = command.standard_error >= 0 ? command.standard_error : err_write.get();
  sigemptyset(&plan.signals.mask);
  pid_ = os::start_process(plan);
  out_fd_ = std::move(out_read);
  err_fd_ = std::move(err_read);
}

Process::~Process() {
  if (!has_ended()) {
    signal(SIGKILL);
    reap(0);
  }
  take_the_rest();
}

void Process::signal(int number) const noexcept {
  if (!status_) ::kill(pid_, number);
}

bool Process::has_ended() { return status_ || reap(WNOHANG); }

bool Process::reap(int options) {
  constexpr std::size_t kUnit = 1024;
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, options, &usage) != pid_) return false;
  status_ = status;
  most_bytes_ = static_cast<std::size_t>(usage.ru_maxrss) * kUnit;
  return true;
}

bool Process::read_for(std::chrono::nanoseconds limit) {
  os::PollSet polls;
  if (out_fd_) polls.add(out_fd_.get(), true, false);
  if (err_fd_) polls.add(err_fd_.get(), true, false);
  polls.wait(Clock::now() + limit);
  take_all(out_fd_, out_);
  take_all(err_fd_, err_);
  return out_fd_ || err_fd_;
}

void Process::take_the_rest() {
  take_all(out_fd_, out_);
  take_all(err_fd_, err_);
  if (is_shown_ || (!has_damage(out_) && !has_damage(err_))) return;
  std::cerr << out_ << err_ << std::flush;
  is_shown_ = true;
}

bool Process::wait_for(const std::string& text, std::chrono::nanoseconds limit) {
  const auto is_there = [&] {
    return out_.find(text) != std::string::npos || err_.find(text) != std::string::npos;
  };
  const auto end = Clock::now() + limit;
  while (!is_there() && Clock::now() < end && read_for(milliseconds(100))) {
  }
  if (is_there()) return true;
  if (out_fd_ || err_fd_) say_in_vain("the program did not print " + text, limit);
  return false;
}

Result Process::wait(std::chrono::nanoseconds limit) {
  const auto end = Clock::now() + limit;
  while (!has_ended() && Clock::now() < end) read_for(kPause);
  Result result;
  result.was_in_time = has_ended();
  if (!result.was_in_time) {
    say_in_vain("the program did not end", limit);
    signal(SIGKILL);
    reap(0);
  }
  take_the_rest();
  if (WIFEXITED(*status_)) result.exit_code = WEXITSTATUS(*status_);
  if (WIFSIGNALED(*status_)) result.signal = WTERMSIG(*status_);
  result.out = out_;
  result.err = err_;
  result.most_bytes = most_bytes_;
  return result;
}

Result run(Command command) { return Process(std::move(command)).wait(); }

std::string rotarun_path() { return bin_path("rotarun"); }

Command rotarun(std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(), rotarun_path());
  return command;
}

Result run_rotarun(std::vector<std::string> arguments) {
  return run(rotarun(std::move(arguments)));
}

void adopt_orphans() { os::adopt_orphans(); }

std::vector<pid_t> live_descendants() { return os::descendants_of(::getpid()); }

bool all_gone_within(std::chrono::nanoseconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0) return true;
    if (reaped > 0) continue;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos ? '\0' : line.at(name_end + 2);
}

}  // namespace rota::testing

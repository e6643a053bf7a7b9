// Runs the agents that start rotarun on other hosts: starts them, sends each a start request, and
// tells the leader when an agent ends.
#include "launcher/hosts/agents/agents.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <span>
#include <sstream>
#include <utility>

#include <rota/error.h>

#include "cluster/environment.h"
#include "launcher/command/options.h"
#include "os/host.h"
#include "os/pipe.h"
#include "os/system_error.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kPlaceholder = "{host}";
constexpr std::uint32_t kAllHosts = UINT32_MAX;

// How the outer process tells the inner one that an agent has ended.
struct Record {
  std::uint32_t host = kAllHosts;
  std::int32_t kind = 0;
  std::int32_t value = 0;
};

void set_blocking(int fd, bool blocks) {
  const int flags = ::fcntl(fd, F_GETFL);
  const int wanted = blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
  if (flags < 0 || ::fcntl(fd, F_SETFL, wanted) != 0) os::throw_errno("fcntl(O_NONBLOCK)");
}

// Raises the limit of open files: each agent needs a descriptor. The destructor restores the limit,
// and open descriptors stay open.
class ManyFiles {
 public:
  ManyFiles() : limit_(os::raise_open_file_limit()) {}
  ManyFiles(const ManyFiles&) = delete;
  ManyFiles& operator=(const ManyFiles&) = delete;
  ~ManyFiles() {
    rlimit now{};
    if (limit_ == 0 || ::getrlimit(RLIMIT_NOFILE, &now) != 0) return;  // The old limit is unknown.
    now.rlim_cur = limit_;
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  std::uint64_t limit() const noexcept { return limit_; }

 private:
  std::uint64_t limit_;
};

}  // namespace

std::vector<std::string> agent_command(const std::string& agent, const std::string& host,
                                       const std::string& rotarun) {
  std::vector<std::string> command;
  std::istringstream words(agent);
  for (std::string word; words >> word;) {
    for (std::size_t at = 0; (at = word.find(kPlaceholder, at)) != std::string::npos;) {
      word.replace(at, kPlaceholder.size(), host);
      at += host.size();
    }
    command.push_back(word);
  }
  if (command.empty()) throw UsageError("--agent names no program, such as \"ssh {host}\"");
  command.push_back(rotarun);
  command.emplace_back("--follow");
  return command;
}

Agents::Agents(const std::vector<AgentPlan>& plans, std::string request,
               const std::vector<std::string>& environment, const os::SignalWatch& signals)
    : request_(request.size()) {
  const auto text = std::as_writable_bytes(std::span(request));
  os::copy_secret(text, request_.bytes());
  os::wipe(text);
  const ManyFiles files;
  std::tie(endings_read_, endings_write_) = os::make_pipe();
  for (const AgentPlan& plan : plans) {
    if (signals.has_request()) return;
    auto [read, write] = os::make_pipe();
    set_blocking(read.get(), true);  // Programs such as cat need reads that block.
    set_blocking(write.get(), false);
    os::StartFailure failure;
    os::ProcessPlan process;
    process.program = os::find_program(plan.command.front(),
                                       cluster::find_variable(environment, "PATH"), "", failure);
    if (process.program.empty()) {
      throw UsageError("--agent: cannot run " + plan.command.front() + ": " + failure.text);
    }
    process.arguments = plan.command;
    process.environment = environment;
    process.standard_input = read.get();
    process.signals = signals.state_at_start();
    process.open_file_limit = files.limit();
    // Ctrl-C must not end the agents: rotarun itself asks their hosts to end the job.
    process.own_session = true;
    host_of_[os::start_process(process)] = plan.host;
    lifelines_.push_back({.input = std::move(write), .own_request = plan.request});
    send_to(lifelines_.back());
  }
}

// Sends a part of the request. If the agent has closed its input, the request counts as sent: the
// Ending of the agent reports that the agent is gone. A poll for that input would return
// immediately each time, because a pipe without a reader always counts as writable.
void Agents::send_to(Lifeline& lifeline) const {
  const std::string& own = lifeline.own_request;
  const std::string_view common(reinterpret_cast<const char*>(request_.bytes().data()),
                                request_.bytes().size());
  while (!is_done(lifeline)) {
    const std::size_t sent = lifeline.sent_bytes;
    const std::string_view rest =
        sent < own.size() ? std::string_view(own).substr(sent) : common.substr(sent - own.size());
    const os::WriteResult written = os::write_available(lifeline.input.get(), rest);
    if (written.io == os::Io::kWouldBlock) return;
    if (written.io == os::Io::kClosed) lifeline.sent_bytes = own.size() + common.size();
    lifeline.sent_bytes += written.count;
  }
}

void Agents::add_to(os::PollSet& polls) const {
  polls.add(endings_read_.get(), true, false);
  for (const Lifeline& lifeline : lifelines_) {
    if (!is_done(lifeline)) polls.add(lifeline.input.get(), false, true);
  }
}

void Agents::send_requests() {
  for (Lifeline& lifeline : lifelines_) send_to(lifeline);
}

void Agents::after_fork() {
  lifelines_.clear();
  endings_read_.reset();
}

void Agents::on_process(const os::ProcessEvent& event) {
  using Kind = os::ProcessEvent::Kind;
  const auto agent = host_of_.find(event.pid);
  const bool has_ended = event.kind == Kind::kExited || event.kind == Kind::kKilled;
  if (agent == host_of_.end() || !has_ended) return;
  const Record record{
      .host = agent->second ? static_cast<std::uint32_t>(*agent->second) : kAllHosts,
      .kind = event.kind == Kind::kKilled,
      .value = event.value};
  host_of_.erase(agent);
  const ssize_t written = ::write(endings_write_.get(), &record, sizeof record);
  static_cast<void>(written);  // After the job, nobody reads the record.
}

std::optional<Agents::Ending> Agents::next_ending() {
  std::array<char, sizeof(Record)> bytes{};
  if (os::read_available(endings_read_.get(), bytes).count != sizeof(Record)) return std::nullopt;
  Record record;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&record));
  using Kind = os::ProcessEvent::Kind;
  Ending ending{
      .event = {.kind = record.kind != 0 ? Kind::kKilled : Kind::kExited, .value = record.value}};
  if (record.host != kAllHosts) ending.host = record.host;
  return ending;
}

}  // namespace rota::launcher

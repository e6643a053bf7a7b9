// The programs that start rotarun on other hosts.
#include "launcher/hosts/agents.h"

#include <unistd.h>

#include <array>
#include <sstream>
#include <utility>

#include <rota/error.h>

#include "launcher/options.h"
#include "launcher/rank_environment.h"
#include "os/host.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kPlaceholder = "{host}";
constexpr std::uint32_t kAllHosts = UINT32_MAX;

// How an ending goes from one process of ours to the other.
struct Record {
  std::uint32_t host = kAllHosts;
  std::int32_t kind = 0;
  std::int32_t value = 0;
};

void write_orders(int fd, const std::string& orders) {
  std::size_t written = 0;
  while (written < orders.size()) {
    const ssize_t count = ::write(fd, orders.data() + written, orders.size() - written);
    if (count < 0) return;  // It is gone, and its ending says so.
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace

std::vector<std::string> agent_command(const std::string& agent, const std::string& host,
                                       const std::string& rotarun) {
  std::vector<std::string> command;
  std::istringstream words(agent);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find(kPlaceholder);
    if (at != std::string::npos) word.replace(at, kPlaceholder.size(), host);
    command.push_back(word);
  }
  if (command.empty()) throw UsageError("--agent names no program, such as \"ssh {host}\"");
  command.push_back(rotarun);
  command.emplace_back("--follow");
  return command;
}

Agents::Agents(const std::vector<AgentPlan>& plans, const std::vector<std::string>& environment,
               const os::SignalState& signals) {
  std::tie(endings_read_, endings_write_) = os::make_pipe();
  for (const AgentPlan& plan : plans) {
    auto [read, write] = os::make_pipe();
    os::StartFailure failure;
    os::ProcessPlan process;
    process.program =
        os::find_program(plan.command.front(), find_variable(environment, "PATH"), "", failure);
    if (process.program.empty()) {
      throw UsageError("--agent: cannot run " + plan.command.front() + ": " + failure.text);
    }
    process.arguments = plan.command;
    process.environment = environment;
    process.standard_input = read.get();
    process.signals = signals;
    process.own_session = true;  // What is typed at our terminal is for us to pass on.
    host_of_[os::start_process(process).pid] = plan.host;
    write_orders(write.get(), plan.orders);
    lifelines_.push_back(std::move(write));
  }
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
  static_cast<void>(written);  // Nobody reads it where the job is over.
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

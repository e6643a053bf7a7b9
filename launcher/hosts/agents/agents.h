// Agents are the programs that start rotarun on other hosts: ssh, srun, or the program that --agent
// names. Agents are children of rotarun's outer process, so that the job's own processes can be
// ended without them.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/guard.h"
#include "os/fd.h"
#include "os/poll_set.h"
#include "os/process.h"
#include "os/secret_memory.h"
#include "os/signals.h"

namespace rota::launcher {

// An agent to be started.
struct AgentPlan {
  std::optional<std::size_t> host;   // Empty: the agent starts all hosts.
  std::vector<std::string> command;  // The whole command, with the remote rotarun.
  std::string request;               // The first part of the standard input, for this agent only.
};

// Returns the command of an agent for one host: the words of `agent`, such as "ssh {host}", then
// `rotarun` and --follow. The host's name replaces each {host}. Throws UsageError if `agent`
// contains no word.
std::vector<std::string> agent_command(const std::string& agent, const std::string& host,
                                       const std::string& rotarun);

class Agents final : public OtherChildren {
 public:
  struct Ending {
    std::optional<std::size_t> host;
    os::ProcessEvent event;
  };

  // Starts all agents, but starts no further agent once a signal asks for the job's end. The
  // standard input of each agent has two parts: first AgentPlan::request, then `request`, which is
  // the same for all agents. `request` contains a key, so it is kept in memory that no core file
  // contains. Programs are looked up in the PATH of `environment`. Throws UsageError if a program
  // is not found, and Error kSystem.
  Agents(const std::vector<AgentPlan>& plans, std::string request,
         const std::vector<std::string>& environment, const os::SignalWatch& signals);

  // For the outer process, after the inner one exists: closes the descriptors of the inner one.
  void after_fork() override;

  // For the outer process, when a child has changed its state: if an agent has ended, tells the
  // inner process.
  void on_process(const os::ProcessEvent& event) override;
  bool have_ended() const noexcept override { return host_of_.empty(); }

  // For the inner process: each of these functions makes one iteration of its loop. An agent may
  // read slowly, and a pipe may hold only some bytes, so several iterations may be needed to send a
  // request.
  void add_to(os::PollSet& polls) const;
  void send_requests();
  std::optional<Ending> next_ending();

 private:
  // An agent's standard input. While it is open, the rotarun that the agent started keeps running.
  struct Lifeline {
    os::Fd input;
    std::string own_request;
    std::size_t sent_bytes = 0;
  };

  bool is_done(const Lifeline& lifeline) const noexcept {
    return lifeline.sent_bytes == lifeline.own_request.size() + request_.bytes().size();
  }
  void send_to(Lifeline& lifeline) const;

  os::SecretMemory request_;  // The second part of the standard input, the same for all agents.
  std::vector<Lifeline> lifelines_;
  std::map<pid_t, std::optional<std::size_t>> host_of_;
  os::Fd endings_read_;
  os::Fd endings_write_;
};

}  // namespace rota::launcher

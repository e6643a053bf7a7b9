// The programs that start rotarun on other hosts: ssh, srun, or what --agent says. They are
// children of rotarun's outer process, so that the job's own processes can be ended without them.
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

// One to be started.
struct AgentPlan {
  std::optional<std::size_t> host;   // Empty: it is for all.
  std::vector<std::string> command;  // Whole, the remote rotarun included.
  std::string orders;                // For its standard input; what all get alike follows.
};

// "ssh {host}" and the words that follow it, for one host. Without {host} it stays as it is.
// Throws UsageError where there is no word.
std::vector<std::string> agent_command(const std::string& agent, const std::string& host,
                                       const std::string& rotarun);

class Agents final : public OtherChildren {
 public:
  struct Ending {
    std::optional<std::size_t> host;
    os::ProcessEvent event;
  };

  // Starts all, or no more of them once somebody asks for the job's end. `orders` go to each,
  // behind its own; they have a key in them, and are kept where no core file has it. `environment`
  // is searched for PATH. Throws UsageError where a program is not found, Error kSystem.
  Agents(const std::vector<AgentPlan>& plans, std::string orders,
         const std::vector<std::string>& environment, const os::SignalWatch& signals);

  // In the outer process, once the inner one exists: gives up what is the inner one's.
  void after_fork() override;

  // In the outer process: a child of it has ended. Tells the inner one where it was an agent.
  void on_process(const os::ProcessEvent& event) override;
  bool have_ended() const noexcept override { return host_of_.empty(); }

  // In the inner process: one turn of a loop. An agent may take its time to read its orders, and a
  // pipe may hold less than all of them.
  void add_to(os::PollSet& polls) const;
  void send_orders();
  std::optional<Ending> next_ending();

 private:
  // An agent's standard input. While it is open, what was started lives.
  struct Lifeline {
    os::Fd input;
    std::string own_orders;
    std::size_t sent_bytes = 0;
  };

  bool is_done(const Lifeline& lifeline) const noexcept {
    return lifeline.sent_bytes == lifeline.own_orders.size() + orders_.bytes().size();
  }
  void send_to(Lifeline& lifeline) const;

  os::SecretMemory orders_;  // Of all.
  std::vector<Lifeline> lifelines_;
  std::map<pid_t, std::optional<std::size_t>> host_of_;
  os::Fd endings_read_;
  os::Fd endings_write_;
};

}  // namespace rota::launcher

// LocalProcesses has the processes of a job on this host, and their output. It starts the
// processes, reports how they end, and ends them. It lasts as long as the job, and has the members
// of one world after another.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "launcher/command/options.h"
#include "launcher/output/rank_output.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/ranks/job_event.h"
#include "launcher/ranks/oom_kills.h"
#include "os/poll_set.h"
#include "os/process.h"
#include "os/process_tree.h"

namespace rota::launcher {

class LocalProcesses {
 public:
  using Report = std::function<void(const JobEvent& event)>;
  using ShowLife = std::function<void()>;  // Sends other hosts what is due.

  // `report` is called for each event, with the number of the member and of its world. `guard`: the
  // parent of this process.
  LocalProcesses(const Options& options, pid_t guard, Report report);
  LocalProcesses(const LocalProcesses&) = delete;
  LocalProcesses& operator=(const LocalProcesses&) = delete;

  // Begins a world; its ranks here are those of `assignment`. From now on all calls name a member
  // by its local rank, and the numbers of evaluators follow those of ranks. Processes that remain
  // from an earlier world are still watched and ended, but their output is dropped. Throws
  // UsageError if the files for output cannot be made.
  void begin(const HostAssignment& assignment);

  // Starts a member, and sets the standard output and error of `process`. Throws Error kSystem,
  // kNoMemory.
  void start(std::size_t member, os::ProcessPlan process);

  // Reports that a member cannot be started. Neither this member nor those after it are started
  // then.
  void give_up(std::size_t member, const std::string& why);

  // Each of these functions makes one iteration of a loop, reports what has happened, and never
  // blocks.
  void add_to(os::PollSet& polls);
  void hear_starts(const os::PollSet& polls);
  void hear_processes();
  void pass_on_output(const os::PollSet& polls) { output_.handle(polls); }

  // Shows what a rank or an evaluator of another host wrote.
  void show(const JobEvent& event);

  // Returns a text for all hosts, which says that the guard of this host, `host`, has ended.
  std::string describe_guard_loss(const std::string& host);

  // has_children() returns whether this process still has a descendant. has_running() returns
  // whether a member of the world has not ended. A member that has not begun counts, too.
  bool has_children() const noexcept { return has_children_; }
  bool has_running() const;

  // Asks all members to end. `signal` is SIGINT or SIGTERM. It is SIGCONT if the members were asked
  // before, but may be suspended. A member that has not begun by then is not started, and counts as
  // ended.
  void ask_to_end(int signal);
  void kill();

  // Sends a signal to the first process of each rank, and not to evaluators.
  void signal_ranks(int signal);

  // Says which processes still run although their rank or evaluator has ended. Waits a moment for
  // processes that end right after it.
  void tell_outlived();

  // Ends the processes that still run, and takes the last output. Calls `show_life` at the
  // beginning, and again and again while processes are still there. Returns false if a process is
  // still there after `at_most`.
  bool finish(base::Duration at_most, const ShowLife& show_life);

  RankOutput& output() noexcept { return output_; }
  void say(const std::string& line) { output_.say("rotarun: " + line + "\n"); }

 private:
  struct Member {
    std::uint32_t world = 0;
    JobMember who;
    std::size_t index = 0;  // Its index in the calls of its world.
    std::string program{};  // The path.
    os::ProcessTree tree{};
    std::size_t position = 0;
    bool has_events = false;  // The tree has events in this iteration.
    bool has_ended = false;
  };

  void add_member(const JobMember& who);
  void hear_tree(Member& member);
  void on_start_failure(const Member& member, const os::StartFailure& failure);
  void on_process(Member& member, const os::ProcessEvent& event);
  void report_not_started(const Member& member, const std::string& why);
  void leave_out_unbegun();
  void forget_trees();
  void report_end(Member& member, JobEvent event);
  void report(const Member& member, JobEvent event);

  pid_t guard_;
  Report report_;
  RankOutput output_;
  std::uint32_t world_ = 0;  // The number of the current world.
  std::vector<Member*> members_;
  std::vector<JobMember> remote_members_;
  bool sends_output_ = false;
  std::list<Member> all_;                         // Also members that remain from earlier worlds.
  std::unordered_map<pid_t, Member*> member_of_;  // By the process id of its keeper.
  bool has_children_ = false;
  bool has_lost_keeper_ = false;
  OomKills oom_kills_;
};

}  // namespace rota::launcher

// The processes of a job on this host, and what they write: starts them, hears how they end, and
// ends them. It lives as long as the job does, and the members of one world after the other in it.
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
#include "launcher/plan/host_share.h"
#include "launcher/ranks/news.h"
#include "os/poll_set.h"
#include "os/process.h"
#include "os/process_tree.h"

namespace rota::launcher {

class Household {
 public:
  using Report = std::function<void(const News& news)>;

  // `report` is told what happens to whom, by its number and that of its world. `guard`: the parent
  // of this process.
  Household(const Options& options, pid_t guard, Report report);
  Household(const Household&) = delete;
  Household& operator=(const Household&) = delete;

  // A world begins, whose ranks here are those of `share`. From now on all calls name a member by
  // its local rank, and evaluators go on from there. Who is left of an earlier world is heard and
  // ended still, and writes to nobody. Throws UsageError where the output's files cannot be made.
  void begin(const Share& share);

  // The outputs of `process` are chosen here. Throws Error kSystem, kNoMemory.
  void start(std::size_t member, os::ProcessPlan process);

  // This one cannot be started, so it and those after it are not.
  void give_up(std::size_t member, const std::string& why);

  // One turn of a loop; reports what has happened. Never blocks.
  void add_to(os::PollSet& polls);
  void hear_starts(const os::PollSet& polls);
  void hear_processes();
  void pass_on_output(const os::PollSet& polls) { output_.handle(polls); }

  // What a rank or an evaluator of another host wrote.
  void show(const News& news);

  // For all hosts, where the guard of this one, `host`, has ended.
  std::string describe_guard_loss(const std::string& host);

  // Whether a process is left that descends from this one; and whether one of the world's members
  // has not ended, or not begun.
  bool has_children() const noexcept { return has_children_; }
  bool has_running() const;

  // `signal` is SIGINT or SIGTERM; SIGCONT where they know already, but may be suspended. Who has
  // not begun by then is not to be started, and has ended.
  void ask_to_end(int signal);
  void kill();

  // Ends what is left, and takes the last of the output. False where a process stays for so long.
  bool finish(base::Duration at_most);

  RankOutput& output() noexcept { return output_; }
  void say(const std::string& line) { output_.say("rotarun: " + line + "\n"); }

 private:
  struct Member {
    std::uint32_t world = 0;
    Guest who;
    std::size_t index = 0;  // By which its world's calls name it.
    std::string program{};  // The path.
    os::ProcessTree tree{};
    std::size_t position = 0;
    bool has_news = false;  // Of the tree.
    bool has_ended = false;
  };

  void add_member(const Guest& who);
  void hear_tree(Member& member);
  void on_start_failure(const Member& member, const os::StartFailure& failure);
  void on_process(Member& member, const os::ProcessEvent& event);
  void report_not_started(const Member& member, const std::string& why);
  void leave_out_unbegun();
  std::string why_killed(int signal);
  void report_end(Member& member, News news);
  void report(const Member& member, News news);

  pid_t guard_;
  Report report_;
  RankOutput output_;
  std::uint32_t world_ = 0;  // Its number, and whose it is.
  std::vector<Member*> members_;
  std::vector<Guest> guests_;
  bool sends_output_ = false;
  std::list<Member> all_;                         // With those who are left of earlier worlds.
  std::unordered_map<pid_t, Member*> member_of_;  // By its keeper.
  bool has_children_ = false;
  bool has_lost_keeper_ = false;
  std::optional<std::uint64_t> oom_kill_count_;  // Of which those that are known here.
};

}  // namespace rota::launcher

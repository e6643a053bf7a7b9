// The ranks of this host, and evaluators beside them: starts them, passes on what they write, hears
// how they end, and ends them when it is told to.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/output/rank_output.h"
#include "launcher/plan/host_share.h"
#include "launcher/ranks/mpi_program.h"
#include "launcher/ranks/news.h"
#include "launcher/ranks/provision.h"
#include "os/poll_set.h"
#include "os/process.h"
#include "os/process_tree.h"
#include "os/signals.h"

namespace rota::launcher {

// What a run needs beside the options and the plan.
struct RunContext {
  std::vector<std::string> program_paths;  // By group: found and runnable when looked for.
  std::vector<std::string> environment;    // Rotarun's own.
  std::uint64_t open_file_limit = 0;       // What the ranks are to have.
  pid_t guard = 0;
  bool has_input = true;         // Ours is for rank 0.
  std::optional<News> obstacle;  // kNotStarted, where it cannot run here: others are to hear it.
};

class LocalRanks {
 public:
  // All calls name a rank by its local rank, and evaluators go on from there; what they report has
  // its rank in the job, or the evaluator's number.
  using Report = std::function<void(const News& news)>;
  using OpenLine = std::function<os::Fd(std::size_t local_rank)>;

  // Throws UsageError where the output's files cannot be made.
  LocalRanks(const Options& options, const RunContext& context, os::SignalWatch& signals,
             Share share, Provision provision, Report report);
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  const Share& share() const noexcept { return share_; }

  // `open_line` makes a rank's end of its line. Reports what could not be started.
  void start_all(const Peers& peers, const OpenLine& open_line);

  // One turn of a loop; reports what has happened. Never blocks.
  void add_to(os::PollSet& polls);
  void hear_starts(const os::PollSet& polls);
  void hear_processes();
  void pass_on_output(const os::PollSet& polls) { output_.handle(polls); }

  // Why a process of the job was killed by this signal, where the kernel did it: empty else.
  std::string why_killed(int signal);

  // Whether a process is left that descends from this one.
  bool has_children() const noexcept { return has_children_; }

  // `signal` is SIGINT or SIGTERM; SIGCONT where they know already, but may be suspended.
  void ask_to_end(int signal);
  void kill();

  // Ends what is left, and takes the last of the output. False where a process stays for so long.
  bool finish(base::Duration at_most);

  // Looks for what the ranks should not have loaded, when it is time.
  std::optional<base::TimePoint> next_look() const;
  void look(base::TimePoint now);

  RankOutput& output() noexcept { return output_; }
  void say(const std::string& line) { output_.say("rotarun: " + line + "\n"); }
  bool has_running() const;

 private:
  struct Member {
    os::ProcessTree tree;
    std::size_t position = 0;
    bool has_news = false;  // Of the tree.
    bool has_ended = false;
  };

  bool is_rank(std::size_t local) const noexcept { return local < share_.ranks.size(); }
  std::size_t group_of(std::size_t local) const;
  std::size_t number_of(std::size_t local) const;
  std::string name_of(std::size_t local) const;
  std::vector<std::string> environment_of(std::size_t local, const Peers& peers, int line) const;
  void start(std::size_t local, const Peers& peers, const OpenLine& open_line);
  void hear_tree(std::size_t local);
  void on_start_failure(std::size_t local, const os::StartFailure& failure);
  void on_process(std::size_t local, const os::ProcessEvent& event);
  void report_end(std::size_t local, News news);
  void report(News news);

  const Options& options_;
  const RunContext& context_;
  os::SignalWatch& signals_;
  Share share_;
  Provision provision_;
  Report report_;
  RankOutput output_;
  os::Fd null_;
  std::vector<Member> members_;
  std::unordered_map<pid_t, std::size_t> member_of_;  // By its keeper.
  bool has_children_ = false;
  bool has_lost_keeper_ = false;
  std::optional<MpiWatch> mpi_watch_;
  std::optional<std::uint64_t> oom_kill_count_;  // Of which those that are known here.
};

}  // namespace rota::launcher

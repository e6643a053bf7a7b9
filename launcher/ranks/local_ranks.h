// The ranks of one world that are on this host, and evaluators beside them: what each is started
// with.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_share.h"
#include "launcher/ranks/household.h"
#include "launcher/ranks/mpi_program.h"
#include "launcher/ranks/news.h"
#include "launcher/ranks/provision.h"
#include "os/fd.h"
#include "os/process.h"
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
  using OpenLine = std::function<os::Fd(std::size_t local_rank)>;

  // All outlive it. They are members of `household` from now on. Throws UsageError where the
  // output's files cannot be made.
  LocalRanks(const Options& options, const RunContext& context, os::SignalWatch& signals,
             Share share, Provision provision, Household& household);
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  const Share& share() const noexcept { return share_; }

  // `open_line` makes a rank's end of its line. Starts no more of them once somebody asks for the
  // job's end, which is for the caller to hear.
  void start_all(const Peers& peers, const OpenLine& open_line);

  // Looks for what the ranks should not have loaded, when it is time.
  std::optional<base::TimePoint> next_look() const;
  void look(base::TimePoint now);

 private:
  // Ranks are named by their local rank, and evaluators go on from there.
  bool is_rank(std::size_t local) const noexcept { return local < share_.ranks.size(); }
  std::size_t group_of(std::size_t local) const;
  std::size_t index_of(std::size_t evaluator) const { return evaluator - share_.ranks.size(); }
  std::vector<std::string> environment_of(std::size_t local, const Peers& peers, int line) const;
  os::ProcessPlan plan_of(std::size_t local, const Peers& peers, int line) const;

  const Options& options_;
  const RunContext& context_;
  os::SignalWatch& signals_;
  Share share_;
  Provision provision_;
  Household& household_;
  os::Fd null_;
  std::optional<MpiWatch> mpi_watch_;
};

}  // namespace rota::launcher

// LocalRanks has the ranks and evaluators of one world on this host. It starts each of them with
// its environment, its cores and its standard input.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/mpi/mpi_plan.h"
#include "launcher/mpi/mpi_server.h"
#include "launcher/mpi/pmix/session_folders.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/ranks/job_event.h"
#include "launcher/ranks/local_processes.h"
#include "launcher/ranks/mpi_program.h"
#include "launcher/ranks/provision.h"
#include "os/fd.h"
#include "os/process.h"
#include "os/signals.h"

namespace rota::launcher {

// What a run needs besides the options and the plan.
struct RunContext {
  std::vector<std::string> program_paths;  // By group; found and runnable when checked.
  std::vector<MpiKind> mpi;                // By group: which MPI its ranks have.
  std::vector<std::string> mpi_libraries;  // By group: rota's library for the messages; or empty.
  SessionFolders* mpi_folders = nullptr;   // If a group has an MPI.
  std::vector<std::string> environment;    // Rotarun's own.
  std::uint64_t open_file_limit = 0;       // The limit for the ranks.
  pid_t guard = 0;
  bool has_input = true;  // rotarun's input goes to rank 0.
  // Set to kNotStarted if the program cannot run here: the other hosts must be told about it.
  std::optional<JobEvent> obstacle;

  // Returns a name for the MPI world, if this host leads the job.
  std::string mpi_name() const { return mpi_folders == nullptr ? "" : mpi_folders->name(); }
};

class LocalRanks {
 public:
  using OpenConnection = std::function<os::Fd(std::size_t local_rank)>;
  using ShowLife = LocalProcesses::ShowLife;

  // All references must outlive this object. The ranks and evaluators are members of `processes`
  // from now on. Throws UsageError if the files for output cannot be made.
  LocalRanks(const Options& options, const RunContext& context, os::SignalWatch& signals,
             HostAssignment assignment, Provision provision, LocalProcesses& processes);
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  const HostAssignment& assignment() const noexcept { return assignment_; }

  // Makes the MPI server of this host, before the start. Throws UsageError if the programs here
  // have another MPI than the plan says. Throws Error kSystem.
  void serve_mpi(const MpiPlan& plan);

  // Each of these functions makes one iteration of a loop for the MPI server, and never blocks.
  // hear_mpi() returns what the ranks did. catch_up() does the same for a rank whose process has
  // ended. Then hold() gets the event of that end. It returns whether the end cannot be judged yet,
  // because the MPI server is late: hear_mpi() returns the event again once it can.
  void add_to(os::PollSet& polls);
  std::vector<JobEvent> hear_mpi(const os::PollSet& polls, base::TimePoint now);
  std::vector<JobEvent> catch_up(std::size_t rank, base::TimePoint now);
  bool hold(const JobEvent& end, base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;
  void end_fence(const FenceResult& result, base::TimePoint now);
  void take_letter(const MpiLetter& letter);

  // Starts all ranks and evaluators. `open_connection` makes a rank's end of its connection. Calls
  // `show_life` again and again, as this may take long. Once a signal asks for the job's end,
  // starts no further process; the caller handles that signal.
  void start_all(const Peers& peers, const OpenConnection& open_connection,
                 const ShowLife& show_life);

  // Checks at certain times whether a rank has loaded an MPI library, and warns.
  void look(base::TimePoint now);

 private:
  // `local` is the local rank of a rank; the numbers of evaluators follow.
  bool is_rank(std::size_t local) const noexcept { return local < assignment_.ranks.size(); }
  std::size_t group_of(std::size_t local) const;
  std::size_t index_of(std::size_t evaluator) const { return evaluator - assignment_.ranks.size(); }
  std::vector<std::string> environment_of(std::size_t local, const Peers& peers, int connection,
                                          const MpiOutfit& outfit) const;
  os::ProcessPlan plan_of(std::size_t local, const Peers& peers, int connection,
                          const MpiOutfit& outfit) const;
  struct HeldEnd {
    JobEvent event{};
    std::size_t local = 0;
    base::TimePoint until{};
  };
  void release_ends(base::TimePoint now, std::vector<JobEvent>& events);
  MpiOutfit outfit_of(std::size_t local);
  std::vector<JobEvent> take_mpi_events();
  void wait_for_mpi(const ShowLife& show_life);

  const Options& options_;
  const RunContext& context_;
  os::SignalWatch& signals_;
  HostAssignment assignment_;
  Provision provision_;
  LocalProcesses& processes_;
  os::Fd null_;
  std::optional<MpiWatch> mpi_watch_;
  MpiPlan mpi_plan_;
  std::vector<HeldEnd> held_ends_;
  std::set<std::size_t> once_held_;        // Local ranks.
  std::unique_ptr<MpiServer> mpi_server_;  // Null if no rank has MPI.
};

}  // namespace rota::launcher

// A PmixCompanion is the MPI server for PMIx, which Open MPI asks. The server itself is a process,
// rotarun-pmix, because libpmix has threads and takes long to load. This class starts it, keeps the
// connection to it, and ends it with the last rank of this host.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/mpi/mpi_plan.h"
#include "launcher/mpi/mpi_server.h"
#include "launcher/mpi/pmix/open_mpi_variables.h"
#include "launcher/mpi/pmix/session_folders.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/pmix/wire/pmix_link.h"
#include "os/signals.h"

namespace rota::launcher {

class PmixCompanion final : public MpiServer {
 public:
  // What the server and the ranks get from rotarun.
  struct Surroundings {
    const std::vector<std::string>& environment;  // Rotarun's own.
    // By group: the environment of its ranks, with -x and without MPI's variables.
    std::vector<std::vector<std::string>> group_environments;
    const os::SignalState& signals;  // At the start of rotarun.
    SessionFolders* folders;         // They are made now. Null: they are not needed.
    OpenMpiFacts facts;              // Without the memory folder.
  };

  // Returns whether the program rotarun-pmix exists. absence() is a sentence for the case that it
  // does not.
  static bool is_installed();
  static std::string absence();

  // Starts the process, which loads its libraries meanwhile, and tells it the job. Throws Error
  // kSystem, with a sentence for people, if there is no such program or no place for its files.
  PmixCompanion(const MpiPlan& plan, const HostAssignment& assignment, Surroundings surroundings);
  PmixCompanion(const PmixCompanion&) = delete;
  PmixCompanion& operator=(const PmixCompanion&) = delete;

  bool is_ready() const override;
  MpiOutfit outfit_of(std::size_t local_rank) override;
  void add_to(os::PollSet& polls) override;
  void handle(const os::PollSet& polls, base::TimePoint now) override;
  std::optional<base::TimePoint> next_deadline() const override { return std::nullopt; }
  void catch_up(std::size_t local_rank, base::TimePoint now) override;
  bool has_heard_all(std::size_t local_rank) const override;
  void on_end(std::size_t local_rank) override;
  void end_fence(const FenceResult& result, base::TimePoint now) override;
  void take_letter(const MpiLetter& letter) override;
  std::vector<MpiEvent> take_events() override;

 private:
  void hear();
  void on_message(const PmixMessage& message);
  void on_fence(const PmixMessage& message);
  void ask(const PmixMessage& question);
  void answer(PmixMessage message);
  void write(std::uint32_t to, const PmixMessage& message);
  std::size_t first_in_world() const;  // A local rank. There is one.
  std::optional<std::size_t> local_rank_of(std::uint32_t mpi_rank) const;

  MpiPlan plan_;
  std::vector<std::size_t> ranks_;                  // The ranks of this host, by local rank.
  std::vector<std::size_t> groups_;                 // By local rank.
  std::vector<std::vector<std::string>> settings_;  // By group.
  std::size_t rank_count_ = 0;                      // Ranks of this host in the MPI world.
  std::vector<bool> is_in_world_;                   // By local rank, as is the next one.
  std::vector<bool> running_;    // Whether a rank of the MPI world has not ended.
  std::vector<bool> connected_;  // Whether a rank has called MPI_Init, and may finalize.
  PmixLink link_;
  std::map<std::uint32_t, std::vector<std::string>> variables_;  // By rank in the MPI world.
  std::vector<MpiEvent> events_;
  // What other hosts have asked and the server has not answered, by the number that the server got:
  // a rank of the host that asked, and the number that it gave.
  std::map<int, std::pair<std::uint32_t, int>> requests_;
  int next_number_ = 0;
  std::string name_;     // The server's, for sentences: it names the host.
  std::string failure_;  // Why the server has ended before the ranks.
};

}  // namespace rota::launcher

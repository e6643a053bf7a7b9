// Watches the ranks of an MPI world, on the host that leads the job: that all of them call MPI_Init
// and MPI_Finalize, and that none waits in a fence for ever. It is a state machine without a clock
// or a socket.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "launcher/job/root_cause.h"
#include "launcher/mpi/fence.h"
#include "launcher/mpi/mpi_plan.h"

namespace rota::launcher {

// How long the ranks may wait for each other in MPI_Init and MPI_Finalize, unless --join-timeout
// says otherwise.
inline constexpr std::chrono::seconds kMpiPatience{600};

// How long a rank may take to call MPI_Init after another rank has called it, and after its own
// start. A shorter --join-timeout counts, too.
inline constexpr std::chrono::seconds kMpiConnectTime{10};

class MpiWorld {
 public:
  // `patience`: how long a fence may wait for its ranks. `is_transport`: rota calls MPI in the
  // ranks, and not their programs.
  MpiWorld(const MpiPlan& plan, base::Duration patience, bool is_transport = false);

  // The next functions ignore ranks that are not in the MPI world.
  void on_started(std::size_t rank, base::TimePoint now);
  void on_connected(std::size_t rank, base::TimePoint now);
  void on_finalized(std::size_t rank);

  // Takes the share of a host in a fence. Returns the result if the fence ends with this share.
  std::optional<FenceResult> on_fenced(FenceShare share, base::TimePoint now) {
    return fences_.take(std::move(share), now);
  }

  // Takes the end of a rank. Returns a fault if the rank ended well, but without MPI_Init or
  // MPI_Finalize: its peers would wait for it, or it was alone in an MPI world of its own.
  std::optional<Fault> on_exit(std::size_t rank, bool is_success);

  // Returns a fault if a rank has not called MPI_Init in time, or a fence has waited too long for a
  // rank.
  std::optional<Fault> fault_by(base::TimePoint now) const;

  // Returns a sentence if a fence has waited too long, and only the hosts of the absent ranks are
  // known: a PMIx server tells when all ranks of its host have arrived. Otherwise returns nothing.
  std::string stall_by(base::TimePoint now) const;

  // Returns why the ranks' data are too many for a fence; empty if they are not.
  std::string excess() const;

  std::optional<base::TimePoint> next_deadline() const;

 private:
  enum class State { kUnstarted, kStarted, kConnected, kFinalized, kEnded };
  // Ranks that have not arrived in a fence, or one or more of them have not.
  using Absentees = std::vector<std::size_t>;

  struct Absence {
    std::size_t rank = 0;
    base::TimePoint end{};  // When the rank has had its time.
  };
  std::string why_left(State state) const;
  std::optional<Absence> next_absence() const;
  std::optional<std::vector<Absentees>> absent_from_fence(base::TimePoint now) const;

  MpiPlan plan_;
  base::Duration patience_;
  bool is_transport_;
  base::Duration connect_time_;
  std::vector<State> states_;  // By number in the MPI world, as is the next one.
  std::vector<base::TimePoint> started_at_;
  std::optional<std::size_t> first_connected_;
  base::TimePoint connected_at_{};
  Fences fences_;
};

}  // namespace rota::launcher

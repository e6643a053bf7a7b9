// The server's side of PMI-1 for the ranks of one host: from the bytes that MPICH in the ranks
// writes to the answers. It is a state machine without a clock or a socket.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/mpi/fence.h"
#include "launcher/mpi/mpi_plan.h"
#include "launcher/mpi/mpi_server.h"
#include "launcher/mpi/pmi/pmi_line.h"
#include "launcher/plan/host_assignment.h"

namespace rota::launcher {

class PmiEngine {
 public:
  PmiEngine(const MpiPlan& plan, const HostAssignment& assignment);

  // The name of the store is that of the MPI world: MPICH 5 calls shared memory after it, and two
  // jobs may run on a host.
  const std::string& store_name() const noexcept { return store_name_; }

  // Takes what a rank wrote. The rank must be in the MPI world.
  void on_bytes(std::size_t local_rank, std::string_view bytes);

  // Ends the barrier. `result` has what the ranks of all hosts have put into the store.
  void end_fence(const FenceResult& result);

  // Returns the barrier in which ranks of this host wait for other ranks of this host.
  std::optional<FenceShare> incomplete_fence() const;

  struct Answer {
    std::size_t local_rank = 0;
    std::string bytes{};
  };
  // Both return what is new since the last call, in order.
  std::vector<Answer> take_answers() { return std::exchange(answers_, {}); }
  std::vector<MpiEvent> take_events() { return std::exchange(events_, {}); }

 private:
  enum class State { kOutside, kStarted, kConnected, kWaiting, kFinalized, kFailed };
  struct Rank {
    State state = State::kOutside;  // kOutside: not in the MPI world.
    std::uint32_t number = 0;       // In the job.
    std::size_t group = 0;
    PmiLines lines{};
    std::string command{};  // The command that goes over several lines; empty: none.
  };

  void on_line(std::size_t local_rank, std::string_view line);
  void on_command(std::size_t local_rank, std::string_view command, const PmiLine& line);
  void on_init(std::size_t local_rank, const PmiLine& line);
  void on_put(std::size_t local_rank, const PmiLine& line);
  void on_get(std::size_t local_rank, const PmiLine& line);
  void on_barrier(std::size_t local_rank);
  void on_finalize(std::size_t local_rank);
  void on_abort(std::size_t local_rank, const PmiLine& line);
  bool refuse(std::size_t local_rank, std::string_view command);
  std::vector<std::uint32_t> arrived() const;
  void answer(std::size_t local_rank, std::string_view text);
  void fail(std::size_t local_rank, const std::string& what);

  std::size_t world_size_;
  std::string store_name_;
  std::vector<Rank> ranks_;  // By local rank.
  std::map<std::string, std::string, std::less<>> store_;
  std::map<std::string, std::string> news_;  // Put here since the last barrier.
  std::size_t store_bytes_ = 0;
  std::size_t barrier_count_ = 0;  // Barriers that have ended.
  std::vector<Answer> answers_;
  std::vector<MpiEvent> events_;
};

}  // namespace rota::launcher

// The environment that a rank starts with.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/groups.h"
#include "launcher/plan/peers.h"

namespace rota::launcher {

// What rotarun promises each rank, as ROTA_* variables; and what programs of another kind find
// under the names that torchrun, Open MPI and TensorFlow have for it.
struct RankContract {
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::size_t local_rank = 0;
  std::size_t local_world_size = 1;
  std::size_t host_index = 0;
  std::size_t host_count = 1;
  std::size_t thread_count = 1;     // OMP_NUM_THREADS, where nobody has set it.
  std::string device{};             // CUDA_VISIBLE_DEVICES; empty: as it is.
  std::optional<Endpoint> first{};  // Of rank 0: MASTER_ADDR, MASTER_PORT.
  std::string tf_config{};          // TF_CONFIG; empty: there is none.
  bool is_only_one = false;         // That this rotarun starts.
  int rendezvous_fd = -1;
  std::optional<int> terminal_columns{};
};

// `base` without what another launcher has told this process about itself as a rank of its own,
// and with the contract. What launchers of MPI have told is kept where the rank is the very one
// that they have started this process as, and no other: a program of MPI's finds its world by it.
// What -x names is as -x says, whoever has it; ROTA_* come before even that.
std::vector<std::string> make_environment(const std::vector<std::string>& base,
                                          const std::vector<Variable>& variables,
                                          const RankContract& contract);

// What an evaluator is promised, which is no rank.
struct EvaluatorContract {
  std::size_t index = 0;    // Among the evaluators: ROTA_ROLE_INDEX.
  std::string tf_config{};  // TF_CONFIG; empty: there is none.
  std::optional<int> terminal_columns{};
};

// As above, but with nothing that makes a process a rank.
std::vector<std::string> environment_of_evaluator(const std::vector<std::string>& base,
                                                  const std::vector<Variable>& variables,
                                                  const EvaluatorContract& contract);

// Whether MPI in a rank of this host would not know of the others: there are some, and no launcher
// of MPI's waits here for one process to join its world, which the only rank of this host is.
bool hides_ranks_from_mpi(std::size_t ranks_here, std::size_t world_size,
                          const std::vector<std::string>& environment);

// The names among `variables` that are to be passed on but are not set.
std::vector<std::string> unset_variables(const std::vector<std::string>& environment,
                                         const std::vector<Variable>& variables);

}  // namespace rota::launcher

// Makes the environment that a rank or an evaluator starts with. Programs that use rota, PyTorch,
// MPI or TensorFlow find their rank in this environment.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/groups.h"
#include "launcher/plan/peers.h"

namespace rota::launcher {

// What rotarun promises each rank, as ROTA_* variables. Other programs find it under the names that
// torchrun, Open MPI and TensorFlow use.
struct RankContract {
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::size_t local_rank = 0;
  std::size_t local_world_size = 1;
  std::size_t host_index = 0;
  std::size_t host_count = 1;
  std::size_t thread_count = 1;              // OMP_NUM_THREADS, unless it is set.
  std::string device{};                      // CUDA_VISIBLE_DEVICES; empty: not changed.
  bool shares_devices = false;               // ROTA_SHARE_DEVICES; false: not changed.
  std::optional<Endpoint> first{};           // Rank 0's: MASTER_ADDR, MASTER_PORT.
  std::string tf_config{};                   // TF_CONFIG; empty: none.
  bool is_only_one = false;                  // The only rank that this rotarun starts.
  std::vector<std::string> mpi_variables{};  // Of the MPI server: "NAME=VALUE". Empty: no server.
  std::string mpi_library{};                 // ROTA_MPI_LIBRARY; empty: none.
  std::string ports{};                       // ROTA_PORTS; empty: not changed.
  int rendezvous_fd = -1;
  std::optional<int> terminal_columns{};
};

// Returns `base` with the contract, and without the variables by which another launcher made this
// process one of its own ranks. The variables of an MPI launcher are kept if this process's MPI
// rank is exactly this rank, and rotarun has no MPI server for it: an MPI program finds its world
// by them. A variable that -x names has the value of -x, even if another launcher uses this
// variable. ROTA_* variables override even -x.
std::vector<std::string> make_environment(const std::vector<std::string>& base,
                                          const std::vector<Variable>& variables,
                                          const RankContract& contract);

// What rotarun promises an evaluator, which is not a rank.
struct EvaluatorContract {
  std::size_t index = 0;    // Its index among evaluators: ROTA_ROLE_INDEX.
  std::string tf_config{};  // TF_CONFIG; empty: none.
  std::optional<int> terminal_columns{};
};

// Returns the environment of an evaluator. It is made as by make_environment(), but without the
// variables that make a process a rank.
std::vector<std::string> environment_of_evaluator(const std::vector<std::string>& base,
                                                  const std::vector<Variable>& variables,
                                                  const EvaluatorContract& contract);

// What MPI in a rank of this host knows about the other ranks if rotarun does not serve it.
enum class MpiView {
  kWorld,    // Everything: an MPI launcher waits for one process here to join its world of this
             // size, and this host has exactly one rank.
  kAlone,    // Everything: there is only one rank.
  kNothing,  // It would take its rank for a world of one.
};
MpiView mpi_view_of(std::size_t ranks_here, std::size_t world_size,
                    const std::vector<std::string>& environment);

// Returns the names in `variables` that are to be passed on but are not set.
std::vector<std::string> unset_variables(const std::vector<std::string>& environment,
                                         const std::vector<Variable>& variables);

}  // namespace rota::launcher

// A group is one program of a job, with the ranks or evaluators that run it. ":" separates groups
// on the command line, as for mpirun. Ranks are numbered group after group in one world. Evaluators
// run in addition to the ranks of the world, and have no rank.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rota::launcher {

struct Variable {
  std::string name;
  std::optional<std::string> value;  // Empty: the value in rotarun's own environment.
};

// Which MPI the ranks of a group belong to, as --mpi says.
enum class MpiChoice {
  kAuto,  // The program's file decides.
  kPmix,  // Open MPI.
  kPmi,   // MPICH, and what shares its ABI.
  kNone,  // For MPI, each rank is a world of one.
};

struct Group {
  bool is_evaluator = false;
  MpiChoice mpi = MpiChoice::kAuto;
  std::optional<std::size_t> count{};  // Empty: all ranks of the job, or one evaluator.
  std::vector<Variable> variables{};
  std::string working_directory{};     // Empty: rotarun's.
  std::vector<std::string> program{};  // The path, and then the arguments.
};

// Returns the number of ranks of all groups; empty if a group with ranks has no count. If several
// groups have ranks, each must have a count.
std::optional<std::size_t> count_ranks(const std::vector<Group>& groups);

// Returns the index of the rank's group. A rank beyond the counts of all groups belongs to the last
// group with ranks.
std::size_t group_of_rank(const std::vector<Group>& groups, std::size_t rank);

// Returns the index of each evaluator's group, by the number of the evaluator.
std::vector<std::size_t> evaluators_of(const std::vector<Group>& groups);

// Returns the first group with ranks.
const Group& first_of_ranks(const std::vector<Group>& groups);

}  // namespace rota::launcher

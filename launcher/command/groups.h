// The programs of a job, which mpirun's ":" divides on the command line, and who runs which: ranks
// are numbered group after group, in one world; evaluators are beside it, and have no rank.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rota::launcher {

struct Variable {
  std::string name;
  std::optional<std::string> value;  // Empty: what rotarun's own environment has.
};

struct Group {
  bool is_evaluator = false;
  std::optional<std::size_t> count{};  // Empty: one evaluator; or as many ranks as the job has.
  std::vector<Variable> variables{};
  std::string working_directory{};     // Empty: ours.
  std::vector<std::string> program{};  // With its arguments.
};

// The ranks of all groups; empty where their count is open. Requires that no group of several that
// have ranks leaves its count open.
std::optional<std::size_t> count_ranks(const std::vector<Group>& groups);

// The group of a rank: its index. What is beyond the groups' counts is of the last that has ranks.
std::size_t group_of_rank(const std::vector<Group>& groups, std::size_t rank);

// The group of each evaluator, by its number.
std::vector<std::size_t> evaluators_of(const std::vector<Group>& groups);

// The first group that has ranks.
const Group& first_of_ranks(const std::vector<Group>& groups);

}  // namespace rota::launcher

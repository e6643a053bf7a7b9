// The MPI plan says which ranks of a job are one MPI world, how that world's MPI learns about its
// ranks, and which of these ranks share a machine. It is the same on all hosts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/rank_table.h>

#include "launcher/plan/host_assignment.h"

namespace rota::launcher {

// How MPI_Init in a rank asks about the other ranks.
enum class MpiKind : std::uint8_t {
  kNone,
  kPmi,   // PMI-1, by lines on PMI_FD: MPICH.
  kPmix,  // PMIx: Open MPI.
};

// Returns "PMI-1", "PMIx" or "no MPI", for sentences.
std::string_view name_of(MpiKind kind) noexcept;

struct MpiPlace {
  std::uint32_t rank = 0;  // The rank's number in the job.
  // Ranks of one node share memory: with kPmi the ranks of one machine, with kPmix those of one
  // rotarun, whose PMIx server knows no others. A machine may have several rotaruns.
  std::uint32_t node = 0;

  friend bool operator==(const MpiPlace&, const MpiPlace&) = default;
};

struct MpiPlan {
  MpiKind kind = MpiKind::kNone;
  std::string name{};             // Of the MPI world; no other world has it.
  std::vector<MpiPlace> world{};  // Index: the rank's number in MPI_COMM_WORLD. Ascending by rank.

  // Index: node. Each name has letters, digits, dots and hyphens, and is unlike the others.
  std::vector<std::string> node_names{};

  friend bool operator==(const MpiPlan&, const MpiPlan&) = default;
};

// Makes the plan. `kind_of_group`: by group, which MPI its ranks have; the kinds of all groups that
// have one are the same. `hosts`: the assignments of all hosts. `table`: has the name of each
// rank's host. `name`: of the MPI world.
MpiPlan plan_mpi(std::span<const MpiKind> kind_of_group, std::span<const HostAssignment> hosts,
                 const RankTable& table = {}, const std::string& name = {});

// Returns the number in MPI_COMM_WORLD of a rank of the job; empty if the rank is not in that
// world.
std::optional<std::size_t> mpi_rank_of(const MpiPlan& plan, std::size_t rank);

// Returns the variables in which Open MPI's mpirun tells a rank its numbers in the MPI world, each
// as "NAME=VALUE". The rank is in that world.
std::vector<std::string> number_variables(const MpiPlan& plan, const HostAssignment& assignment,
                                          std::size_t local_rank);

// encode() returns the bytes of a plan that travels between hosts. decode_mpi_plan() returns
// nothing unless the bytes are a plan.
std::string encode(const MpiPlan& plan);
std::optional<MpiPlan> decode_mpi_plan(std::string_view bytes);

}  // namespace rota::launcher

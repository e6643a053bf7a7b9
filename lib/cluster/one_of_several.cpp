// Looks through the variables of those who start processes as ranks.
#include "cluster/one_of_several.h"

#include "cluster/one_rank.h"
#include "cluster/sources/slurm_step.h"

namespace rota::cluster {
namespace {

// Of a number above `most`.
std::string sign_above(const Environment& environment, std::string_view name, Range range,
                       std::size_t most) {
  const auto number = environment.number(name, range);
  return number && *number > most ? std::string(name) + " is " + std::to_string(*number) : "";
}

}  // namespace

std::string sign_of_several(const Environment& environment) {
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE"}) {
    if (auto sign = sign_above(environment, size, kAnyRankCount, 1); !sign.empty()) return sign;
  }
  for (const char* size : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (!is_in_step(environment)) break;
    if (auto sign = sign_above(environment, size, kAnyRankCount, 1); !sign.empty()) return sign;
  }
  // Rank 0 says nothing about the size.
  return sign_above(environment, "PMIX_RANK", kAnyRank, 0);
}

}  // namespace rota::cluster

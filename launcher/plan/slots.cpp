// Counts how many ranks can have a CPU of their own here.
#include "launcher/plan/slots.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/number_text.h"

namespace rota::launcher {

Slots count_slots(std::size_t allowed_cpu_count, std::optional<double> quota,
                  std::size_t cpus_per_rank) {
  Slots slots;
  slots.cpu_count = std::max<std::size_t>(1, allowed_cpu_count);
  slots.reason = base::counted(slots.cpu_count, "CPU", "CPUs") + " allowed";
  slots.reason += quota ? ", a quota of " + base::shortest_text(*quota) : ", no quota";
  // A quota of 3 may come as 2.9999 when its period does not divide evenly.
  const double granted = quota ? std::max(1.0, std::floor(*quota + 1e-3)) : HUGE_VAL;
  if (granted < static_cast<double>(slots.cpu_count)) {
    slots.cpu_count = static_cast<std::size_t>(granted);
    slots.is_limited_by_quota = true;
  }
  if (cpus_per_rank > 1) slots.reason += ", " + std::to_string(cpus_per_rank) + " for each rank";
  slots.count = slots.cpu_count / cpus_per_rank;
  return slots;
}

std::string lack_of_slots(std::size_t cpus_per_rank, const Slots& slots) {
  return "--cpus-per-rank " + std::to_string(cpus_per_rank) +
         ": this host has fewer CPUs for ranks: " + slots.reason;
}

std::string lack_of_cpu(std::size_t rank_count, std::optional<double> quota, bool is_pod) {
  if (!quota || *quota + 1e-3 >= static_cast<double>(rank_count)) return {};
  const std::string ranks = rank_count == 1 ? "one rank" : std::to_string(rank_count) + " ranks";
  return "the CPU limit is " + base::shortest_text(*quota) + " for " + ranks +
         " here, so the ranks pause whenever they have used it up: raise " +
         (is_pod ? "resources.limits.cpu" : "the quota of the control group") + " to " +
         std::to_string(rank_count) + " or more" + (is_pod ? ", or remove the limit" : "");
}

}  // namespace rota::launcher

// How many ranks have a CPU to themselves here, and how much memory.
#include "launcher/plan/slots.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rota::launcher {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostGiB = 64;
constexpr std::uint64_t kPageBytes = 64 * 1024;  // The largest page of any kernel of interest.

std::string shortest(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

}  // namespace

Slots count_slots(std::size_t allowed_cpu_count, std::optional<double> quota,
                  std::size_t cpus_per_rank) {
  Slots slots;
  slots.cpu_count = std::max<std::size_t>(1, allowed_cpu_count);
  slots.reason =
      std::to_string(slots.cpu_count) + (slots.cpu_count == 1 ? " CPU" : " CPUs") + " allowed";
  slots.reason += quota ? ", a quota of " + shortest(*quota) : ", no quota";
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

std::string lack_of_cpu(std::size_t rank_count, std::optional<double> quota, bool is_pod) {
  if (!quota || *quota + 1e-3 >= static_cast<double>(rank_count)) return {};
  const std::string ranks = rank_count == 1 ? "one rank" : std::to_string(rank_count) + " ranks";
  return "the CPU limit is " + shortest(*quota) + " here for " + ranks +
         ", so that ranks stand still whenever they have used it up: raise " +
         (is_pod ? "resources.limits.cpu" : "the quota of the control group") + " to " +
         std::to_string(rank_count) + " or more" + (is_pod ? ", or leave it out" : "");
}

std::size_t arena_bytes(std::uint64_t memory_bytes, std::size_t rank_count, bool is_64_bit) {
  if (!is_64_bit) return static_cast<std::size_t>(kGiB / rank_count / kPageBytes * kPageBytes);
  const std::uint64_t whole = (memory_bytes + kGiB - 1) / kGiB;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(whole, 1, kMostGiB) * kGiB);
}

}  // namespace rota::launcher

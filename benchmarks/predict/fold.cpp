// Plans that depend only on the distance between ranks are alike, if hosts and switches are.
#include "predict/fold.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/codings.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

// Calls of more ranks are folded even if the chunks of ranks differ: there are too many steps to
// simulate all ranks.
constexpr std::size_t kMostWhole = 512;
// The mean of chunks of so many grains, in whole grains, is off by less than 1 %.
constexpr std::size_t kManyGrains = 64;

// Returns the size of the groups if all groups have the same, otherwise the number of all ranks.
std::size_t size_of_groups(const std::vector<std::size_t>& firsts) {
  const auto size = static_cast<std::size_t>(std::ranges::count(firsts, 0u));
  if (size == 0 || firsts.size() % size != 0) return firsts.size();
  for (std::size_t rank = 0; rank < firsts.size(); ++rank) {
    if (firsts[rank] != rank / size * size) return firsts.size();
  }
  return size;
}

// Returns the number of elements of which each rank's chunk has a multiple.
std::size_t grain_of_all(const WorldModel& model, const Call& call) {
  return kernels::coded_grain(call.codec) * model.hosts.size();
}

// Returns how many ranks have a chunk. These are the first ones.
std::size_t chunk_count(const WorldModel& model, const Call& call) {
  const std::size_t grain = kernels::coded_grain(call.codec);
  return std::min(model.hosts.size(), (call.count + grain - 1) / grain);
}

// Returns whether no rank shares a cable with other ranks.
bool has_own_cables(const WorldModel& model) {
  return model.switches.empty() && size_of_groups(model.hosts) == 1;
}

// Returns whether the plans of ranks differ in nothing but the numbers of their peers, or so little
// that the time of the call does not change. Ranks without a chunk do less than others. If ranks
// share a cable and have chunks of two sizes, the order in which they use the cable matters. A
// direct plan with one chunk is never folded: it has few steps, and its chunk may be small.
bool has_equal_plans(const WorldModel& model, const Call& call) {
  const std::size_t grain = grain_of_all(model, call);
  const bool is_large = model.hosts.size() > kMostWhole;
  const bool is_even = call.count > 0 && call.count % grain == 0;
  switch (call.algorithm) {
    case Algorithm::kRing:
      return is_even || is_large || call.count >= grain * (has_own_cables(model) ? 1 : kManyGrains);
    case Algorithm::kDirect:
      return is_even || (has_own_cables(model) &&
                         (call.count >= grain || (is_large && chunk_count(model, call) > 1)));
    case Algorithm::kTwoLevel:
      return is_even || (is_large && call.count >= grain);
    default:
      return false;
  }
}

template <class T>
std::vector<T> latest_of_each(const std::vector<T>& all, std::size_t period) {
  std::vector<T> few = all;
  few.resize(std::min(all.size(), period));
  for (std::size_t i = few.size(); i < all.size(); ++i) {
    few[i % period] = std::max(few[i % period], all[i]);
  }
  return few;
}

template <class T>
void spread(const std::vector<T>& few, std::vector<T>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = few[i % few.size()];
}

}  // namespace

std::size_t period_of(const WorldModel& model, const Call& call) {
  if (!has_equal_plans(model, call)) return model.hosts.size();
  const std::size_t host = size_of_groups(model.hosts);
  if (model.switches.empty()) return host;
  const std::size_t group = size_of_groups(model.switches);
  return group % host == 0 ? group : model.hosts.size();
}

void require_alike(const WorldModel& model, const Call& call) {
  const std::size_t world_size = model.hosts.size();
  if (world_size == 1 || period_of(model, call) < world_size) return;
  throw std::invalid_argument("the ranks of an all-reduce of " +
                              std::to_string(call.count * sizeof(float)) + " bytes by " +
                              std::string(to_string(call.algorithm)) +
                              " are not alike in this world, so they cannot be folded");
}

Call with_equal_chunks(const WorldModel& model, const Call& call) {
  const std::size_t grain = grain_of_all(model, call);
  const std::size_t extra = has_own_cables(model) ? grain - 1 : grain / 2;
  Call equal = call;
  equal.count = std::max<std::size_t>(1, (call.count + extra) / grain) * grain;
  return equal;
}

bool has_gaps(const WorldModel& model, const Call& call) {
  return call.algorithm == collectives::Algorithm::kDirect &&
         chunk_count(model, call) < model.hosts.size();
}

WorldModel with_equal_work(const WorldModel& model, const Call& call) {
  const auto n = static_cast<double>(model.hosts.size());
  const auto k = static_cast<double>(chunk_count(model, call));
  WorldModel equal = model;
  equal.between_hosts.busy_seconds *= (2 * n + 3 * k - 4) / (4 * (n - 1));
  equal.between_hosts.seconds_per_byte *= (2 * n + k - 3) / (2 * (n - 1));
  return equal;
}

Clock folded(const Clock& clock, std::size_t period) {
  Clock few = clock;
  few.ranks = latest_of_each(clock.ranks, period);
  few.worked = latest_of_each(clock.worked, period);
  few.leaving = latest_of_each(clock.leaving, period);
  few.arriving = latest_of_each(clock.arriving, period);
  few.up = latest_of_each(clock.up, period);
  few.down = latest_of_each(clock.down, period);
  return few;
}

void unfold(const Clock& few, Clock& clock) {
  spread(few.ranks, clock.ranks);
  spread(few.worked, clock.worked);
  spread(few.leaving, clock.leaving);
  spread(few.arriving, clock.arriving);
  spread(few.up, clock.up);
  spread(few.down, clock.down);
}

}  // namespace rota::bench

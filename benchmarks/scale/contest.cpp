// Runs the kinds of steps by turns.
#include "scale/contest.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "scale/workload.h"
#include "turns.h"

namespace rota::bench {
namespace {

AllRanks all_ranks_of(Group& group) {
  return {[&] { group.barrier(); },
          [&](double value) {
            return std::ranges::max(group.gather_from_all({&value, 1}));
          }};
}

void fill(Sums& sums, std::size_t count, float value) {
  for (std::size_t index = 0; index < count; ++index) {
    std::ranges::fill(sums.gradient(index), value);
  }
}

// Returns the largest value of each round, of all ranks.
std::vector<double> largest_of_rounds(Group& group, const std::vector<double>& own) {
  const std::vector<double> all = group.gather_from_all(own);
  std::vector<double> largest(own.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    largest[i % own.size()] = std::max(largest[i % own.size()], all[i]);
  }
  return largest;
}

}  // namespace

ScaleTimes measure_steps(Group& group, const Steps& steps, const ScaleOptions& options) {
  ScaleTimes times;
  std::vector<double> waiting;  // Of this rank.
  const auto together = [&](std::size_t count) {
    const double before = steps.waited_seconds();
    steps.together(count);
    waiting.push_back((steps.waited_seconds() - before) / static_cast<double>(count));
  };
  std::vector<Contestant> contestants = {{together, &times.step},
                                         {steps.computing, &times.computing},
                                         {steps.communicating, &times.communication}};
  if (steps.whole) contestants.push_back({steps.whole, &times.whole});
  take_turns(all_ranks_of(group), contestants, options.steps, options.rounds);
  waiting.erase(waiting.begin());  // The warm-up's.
  times.waiting = largest_of_rounds(group, waiting);
  return times;
}

std::size_t images_of_a_rank(const ScaleOptions& options, std::size_t ranks) {
  if (options.scaling == Scaling::kWeak) return options.batch_size;
  if (options.batch_size % ranks == 0) return options.batch_size / ranks;
  throw std::invalid_argument("--batch-size " + std::to_string(options.batch_size) + ": " +
                              std::to_string(ranks) +
                              " ranks cannot share this batch equally; strong scaling needs a "
                              "multiple of the number of ranks");
}

Pace pace_of_a_rank(const ScaleOptions& options, std::size_t ranks) {
  const ModelWork& work = model_work_named(options.model);
  const auto images = static_cast<double>(images_of_a_rank(options, ranks));
  return pace_of(work, images / options.images_per_second.value_or(work.images_per_second));
}

void require_sums(const Group& group, Sums& sums, std::size_t count) {
  fill(sums, count, static_cast<float>(group.rank() + 1));
  sum_all(sums, count);
  const std::size_t ranks = group.world_size();
  const auto expected = static_cast<float>(ranks * (ranks + 1)) / 2;
  for (std::size_t index = 0; index < count; ++index) {
    for (const float value : sums.gradient(index)) {
      if (value == expected) continue;
      throw std::runtime_error("scale: " + group.name() + " has summed gradient " +
                               std::to_string(index) + " to " + std::to_string(value) +
                               " in place of " + std::to_string(expected));
    }
  }
  fill(sums, count, 0);
}

ScaleResult result_without_times(const Group& group, std::size_t hosts,
                                 std::span<const std::size_t> counts, const ScaleOptions& options) {
  ScaleResult result{.options = options,
                     .name = group.name(),
                     .rank = group.rank(),
                     .ranks = group.world_size(),
                     .hosts = hosts,
                     .times = {}};
  for (const std::size_t count : counts) result.gradient_bytes += count * sizeof(float);
  return result;
}

ScaleResult run_paced_contest(Group& group, std::size_t hosts, Sums& sums,
                              const ScaleOptions& options) {
  const std::vector<std::size_t> counts = gradient_counts(model_work_named(options.model));
  const Pace pace = pace_of_a_rank(options, group.world_size());
  ScaleResult result = result_without_times(group, hosts, counts, options);
  if (options.megabits) {
    result.least_step =
        least_step_seconds(pace, counts, seconds_of_a_byte(hosts, *options.megabits));
  }

  require_sums(group, sums, counts.size());
  PacedRank rank(pace, real_clock());
  const auto paced = [&rank](Sums* with) {
    return [&rank, with](std::size_t steps) {
      rank.start();
      for (std::size_t i = 0; i < steps; ++i) rank.step(with);
    };
  };
  result.times = measure_steps(group,
                               {.together = paced(&sums),
                                .computing = paced(nullptr),
                                .communicating = repeated([&] { sum_all(sums, counts.size()); }),
                                .whole = {},
                                .waited_seconds = [&rank] { return rank.waited_seconds(); }},
                               options);
  return result;
}

}  // namespace rota::bench

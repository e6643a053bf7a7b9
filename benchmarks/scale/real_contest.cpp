// Trains with all ranks, and alone.
#include "scale/real_contest.h"

#include <rota/communicator.h>

#include <cstdint>
#include <optional>
#include <string>

#include "overlap/digits.h"
#include "overlap/training.h"
#include "scale/workload.h"
#include "turns.h"

namespace rota::bench {
namespace {

TrainingSettings settings_of(const ScaleOptions& options, std::size_t images) {
  return {.model = options.model,
          .batch_size = images,
          .agreements = {{"steps", std::to_string(options.steps)},
                         {"rounds", std::to_string(options.rounds)}}};
}

}  // namespace

ScaleResult run_real_contest(const RotaWorld& world, std::size_t hosts, Sums& sums,
                             const ScaleOptions& options) {
  Group& group = *world.group;
  const std::vector<std::size_t> counts = gradient_counts(model_work_named(options.model));
  const std::size_t images = images_of_a_rank(options, group.world_size());
  const Dataset digits =
      make_digits(kBatches * options.batch_size, static_cast<std::uint32_t>(group.rank() + 1));
  Communicator alone{CommunicatorOptions{}};
  Training together(*world.communicator, digits, settings_of(options, images));
  Training computing(alone, digits, settings_of(options, images));
  std::optional<Training> whole;
  if (options.scaling == Scaling::kStrong) {
    whole.emplace(alone, digits, settings_of(options, options.batch_size));
  }
  require_sums(group, sums, counts.size());
  Steps steps{.together = repeated([&] { together.step(); }),
              .computing = repeated([&] { computing.step(); }),
              .communicating = repeated([&] { sum_all(sums, counts.size()); }),
              .whole = {},
              .waited_seconds = [&] { return together.waited_seconds(); }};
  if (whole) steps.whole = repeated([&] { whole->step(); });
  ScaleResult result = result_without_times(group, hosts, counts, options);
  result.times = measure_steps(group, steps, options);
  return result;
}

}  // namespace rota::bench

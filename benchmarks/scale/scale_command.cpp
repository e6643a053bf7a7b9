// `rota-bench scale`: joins the job, and measures steps whose gradients rota sums.
#include "commands.h"

#include <rota/communicator.h>
#include <rota/gradient_buckets.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "collectives/rota_group.h"
#include "scale/arguments.h"
#include "scale/real_contest.h"
#include "scale/run.h"
#include "scale/workload.h"

namespace rota::bench {
namespace {

constexpr std::array<double, 2> kScores{};  // Sums that a training step sends with its samples.

class RotaSums final : public Sums {
 public:
  RotaSums(Communicator& communicator, std::span<const std::size_t> counts)
      : buckets_(communicator, counts) {}

  std::span<float> gradient(std::size_t index) override { return buckets_.gradient(index); }
  void begin() override {
    buckets_.begin_step(1, kScores);
    buckets_.send_sums();  // As a training step does after its forward pass.
  }
  void ready(std::size_t index) override { buckets_.ready(index); }
  void wait() override { buckets_.wait(); }

 private:
  GradientBuckets<float> buckets_;
};

std::size_t count_hosts(const RankTable& table) {
  std::set<std::string> hosts;
  for (const RankRow& row : table.rows) hosts.insert(row.host);
  return hosts.size();
}

// Returns the options, with those that only rota has.
ScaleOptions options_of_rota(const cxxopts::ParseResult& given, ScaleOptions options) {
  options.is_real = given.count("real") != 0;
  if (options.is_real && options.images_per_second) {
    throw std::invalid_argument("--images-per-second: with --real, the ranks compute as they can");
  }
  return options;
}

ScaleResult measure_rota(const cxxopts::ParseResult& given, const ScaleOptions& common) {
  const ScaleOptions options = options_of_rota(given, common);
  const RotaWorld world = make_rota_world(CommunicatorOptions::from_environment());
  RotaSums sums(*world.communicator, gradient_counts(model_work_named(options.model)));
  const RankTable& table = world.communicator->rank_table();
  ScaleResult result = options.is_real
                           ? run_real_contest(world, count_hosts(table), sums, options)
                           : run_paced_contest(*world.group, count_hosts(table), sums, options);
  result.name = "rota";
  if (table.transport != "none") result.transport = table.transport;  // A world of one has none.
  return result;
}

}  // namespace

int run_scale_command(int argument_count, char** arguments) {
  auto options = scale_options("rota-bench scale");
  options.add_options()("real", "Compute instead of pacing: each rank needs a core");
  return run_scale(std::move(options), argument_count, arguments, measure_rota);
}

}  // namespace rota::bench

// Groups the points of a world.
#include "validate/jobs.h"

#include <algorithm>

#include "scale/row.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

// All-reduces of one job: each of the plans at each of the sizes.
struct Sweep {
  std::vector<std::size_t> sizes;
  std::vector<Algorithm> plans;
};

std::vector<ValidatedWorld> worlds_of(const std::vector<ValidationPoint>& points) {
  std::vector<ValidatedWorld> worlds;
  for (const ValidationPoint& point : points) {
    if (std::ranges::find(worlds, point.world) == worlds.end()) worlds.push_back(point.world);
  }
  return worlds;
}

// Returns a sweep of each plan alone.
std::vector<Sweep> sweeps_by_plan(const ValidatedWorld& world,
                                  const std::vector<ValidationPoint>& points) {
  std::vector<Sweep> sweeps;
  for (const ValidationPoint& point : points) {
    if (point.world != world || point.is_training()) continue;
    auto sweep = std::ranges::find(sweeps, std::vector{point.plan}, &Sweep::plans);
    if (sweep == sweeps.end()) sweep = sweeps.insert(sweep, Sweep{.plans = {point.plan}});
    sweep->sizes.push_back(point.bytes);
  }
  return sweeps;
}

// Joins the sweeps that have the same sizes.
std::vector<Sweep> joined(const std::vector<Sweep>& sweeps) {
  std::vector<Sweep> few;
  for (const Sweep& sweep : sweeps) {
    const auto same = std::ranges::find(few, sweep.sizes, &Sweep::sizes);
    if (same == few.end()) {
      few.push_back(sweep);
    } else {
      same->plans.push_back(sweep.plans.front());
    }
  }
  return few;
}

std::string arguments_of(const Sweep& sweep) {
  std::string plans;
  for (const Algorithm plan : sweep.plans) {
    plans += (plans.empty() ? "" : ",") + std::string(to_string(plan));
  }
  std::string sizes;
  for (const std::size_t bytes : sweep.sizes) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(bytes);
  }
  return "all-reduce --plans " + plans + " --sizes " + sizes +
         " --placement in-place --calls isolated --no-check --iterations " +
         std::to_string(kValidatedCalls);
}

std::string arguments_of(const ValidationPoint& training) {
  return "scale --model " + training.model + " --scaling " + to_string(training.scaling) +
         " --rate " + std::to_string(training.world.megabits) + " --steps 2 --rounds 1";
}

}  // namespace

std::vector<ValidationJob> jobs_of(const std::vector<ValidationPoint>& points) {
  std::vector<ValidationJob> jobs;
  for (const ValidatedWorld& world : worlds_of(points)) {
    for (const Sweep& sweep : joined(sweeps_by_plan(world, points))) {
      jobs.push_back({world, arguments_of(sweep)});
    }
    for (const ValidationPoint& point : points) {
      if (point.world == world && point.is_training()) jobs.push_back({world, arguments_of(point)});
    }
  }
  return jobs;
}

std::string to_text(const std::vector<ValidationJob>& jobs) {
  std::string text;
  for (const ValidationJob& job : jobs) {
    text += std::to_string(job.world.megabits) + " " + std::to_string(job.world.hosts) + " " +
            std::to_string(job.world.ranks_per_host) + " " + job.arguments + "\n";
  }
  return text;
}

}  // namespace rota::bench

// Predicts one world after another, each with the arguments of a command line.
#include "predict/worth.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/counted.h"
#include "base/number_text.h"
#include "base/world_size.h"

namespace rota::bench {
namespace {

class Search {
 public:
  Search(const PredictArguments& arguments, const Workload& workload, const WorldModel& costs)
      : arguments_(arguments),
        workload_(workload),
        costs_(costs),
        unit_(std::max<std::size_t>(1, arguments.shape.hosts_per_switch)) {
    worth_.least_efficiency = arguments.least_efficiency;
  }

  Worth run() {
    const std::size_t most = most_units();
    std::size_t good = 0;
    std::size_t bad = most + 1;
    for (std::size_t units = 1; units <= most; units = next_after(units, most)) {
      if (!try_units(units)) {
        bad = units;
        break;
      }
      good = units;
    }
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (try_units(middle) ? good : bad) = middle;
    }
    worth_.hosts = good * unit_;
    worth_.is_limit = bad > most || !worth_.refusal.empty();
    std::ranges::sort(worth_.tried, {},
                      [](const PredictedWorld& world) { return world.shape.host_count; });
    return std::move(worth_);
  }

 private:
  // Returns the most units of hosts that a job can have. Throws if it is not even one.
  std::size_t most_units() const {
    const std::size_t ranks = std::max<std::size_t>(1, arguments_.shape.ranks_per_host);
    const std::size_t most = base::kMaxWorldSize / ranks / unit_;
    if (most > 0) return most;
    throw std::invalid_argument("--worth: the smallest world has " +
                                base::counted(unit_, "host", "hosts") + " of " +
                                base::counted_ranks(ranks) + ", and a job has at most " +
                                std::to_string(base::kMaxWorldSize) + " ranks");
  }

  // Doubles the units, but tries the most that there can be before it ends.
  static std::size_t next_after(std::size_t units, std::size_t most) {
    return units < most ? std::min(2 * units, most) : most + 1;
  }

  // Returns whether the world has enough efficiency. If its prediction is refused, it has not. The
  // refusal is that of the last world that was not good enough: the search ends just below it.
  bool try_units(std::size_t units) {
    PredictArguments one = arguments_;
    one.host_counts = {units * unit_};
    try {
      worth_.tried.push_back(predict_worlds(one, workload_, costs_).front());
    } catch (const std::invalid_argument& error) {
      if (worth_.tried.empty()) throw;
      worth_.refusal = error.what();
      return false;
    }
    if (efficiency_of(worth_.tried.back().step) >= worth_.least_efficiency) return true;
    worth_.refusal.clear();
    return false;
  }

  const PredictArguments& arguments_;
  const Workload& workload_;
  const WorldModel& costs_;
  std::size_t unit_;  // Hosts that come together.
  Worth worth_;
};

std::string percent(double share) {
  constexpr double kPercent = 100;
  return base::fixed_text(share * kPercent, 1) + " %";
}

std::string described_world(const PredictedWorld& world) {
  return base::counted(world.shape.host_count, "host", "hosts") + " (" +
         base::counted_ranks(world.step.world_size) + "), with an efficiency of " +
         percent(efficiency_of(world.step));
}

std::string answer_of(const Worth& worth) {
  const PredictedWorld* const most = worth.largest();
  if (most == nullptr) return "no world is worth it: " + described_world(worth.tried.front());
  const double ranks = efficiency_of(most->step) * static_cast<double>(most->step.world_size);
  return "the largest world has " + described_world(*most) + ". It computes as much as " +
         base::fixed_text(ranks, 1) + " ranks that wait for nobody";
}

// Returns what follows the answer: the next world, or why there is none.
std::string end_of(const Worth& worth) {
  if (!worth.refusal.empty()) return "A larger world cannot be predicted: " + worth.refusal;
  if (worth.is_limit) {
    return "A job has at most " + std::to_string(base::kMaxWorldSize) + " ranks";
  }
  return "The next one has " + described_world(*worth.next());
}

// Returns the first world that was tried and has at least so many hosts.
const PredictedWorld* first_from(const std::vector<PredictedWorld>& tried, std::size_t hosts) {
  const auto found = std::ranges::find_if(
      tried, [&](const PredictedWorld& world) { return world.shape.host_count >= hosts; });
  return found == tried.end() ? nullptr : &*found;
}

}  // namespace

const PredictedWorld* Worth::largest() const {
  return hosts == 0 ? nullptr : first_from(tried, hosts);
}

const PredictedWorld* Worth::next() const { return first_from(tried, hosts + 1); }

Worth worth_of(const PredictArguments& arguments, const Workload& workload,
               const WorldModel& costs) {
  require_network({.host_count = 2}, costs);
  return Search(arguments, workload, costs).run();
}

std::string to_text(const Workload& workload, const Worth& worth) {
  return to_text(workload, worth.tried) + "# At least " + percent(worth.least_efficiency) + ": " +
         answer_of(worth) + ".\n# " + end_of(worth) + ".\n";
}

std::string to_json(const Workload& workload, const Worth& worth) {
  const PredictedWorld* const most = worth.largest();
  const nlohmann::ordered_json row{{"event", "worth"},
                                   {"workload", workload.name},
                                   {"least_efficiency", worth.least_efficiency},
                                   {"hosts", worth.hosts},
                                   {"ranks", most == nullptr ? 0 : most->step.world_size},
                                   {"efficiency", most == nullptr ? 0 : efficiency_of(most->step)},
                                   {"is_limit", worth.is_limit},
                                   {"refusal", worth.refusal}};
  return row.dump() + "\n";
}

}  // namespace rota::bench

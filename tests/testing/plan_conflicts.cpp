// Walks through the steps of a rank in one order in which they can run. For each contiguous range
// of elements it keeps the last write and the reads since that write. Each new access has to come
// after that write, and a new write after those reads too. By induction, all conflicting accesses
// are then ordered.
#include "testing/plan_conflicts.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

namespace rota::testing {
namespace {

using collectives::Buffer;
using collectives::Collective;
using collectives::Place;
using collectives::Plan;
using collectives::PlanRequest;
using collectives::Step;
using collectives::Verb;
using Kind = collectives::Lane::Kind;

struct Access {
  Place place;
  bool writes = false;
};

struct Accesses {
  std::array<Access, 3> all;
  std::size_t count;
  const Access* begin() const { return all.data(); }
  const Access* end() const { return all.data() + count; }
};

// Returns the accesses of a step. A send reads its message in place. An encode also reads and
// writes what the encoding loses.
Accesses accesses_of(const Step& step) {
  switch (step.verb) {
    case Verb::kSend:
      return {{{{step.at, false}}}, 1};
    case Verb::kReceive:
    case Verb::kReduce:
    case Verb::kPreScale:
      return {{{{step.at, true}}}, 1};
    case Verb::kCopy:
    case Verb::kAdd:
    case Verb::kDecode:
    case Verb::kDecodeAdd:
      break;
    case Verb::kEncode:
      return {{{{step.from, false}, {{Buffer::kFeedback, step.from.slice}, true}, {step.at, true}}},
              3};
  }
  return {{{{step.from, false}, {step.at, true}}}, 2};
}

std::string to_string(const Place& place) {
  static constexpr std::array<const char*, collectives::kBufferCount> kNames{
      "the values", "the input", "the scratch", "the feedback", "what is coded", "the segments"};
  return std::string(kNames[static_cast<std::size_t>(place.buffer)]) + " from " +
         std::to_string(place.slice.offset) + " to " +
         std::to_string(place.slice.offset + place.slice.count - 1);
}

// The accesses of one rank.
class RankAccesses {
 public:
  // `steps`: the steps of the rank, in one order in which they can run.
  RankAccesses(const PlanOrder& order, std::size_t rank, const std::vector<std::uint32_t>& steps)
      : order_(order),
        rank_(rank),
        steps_(steps),
        lane_count_(order.lane_count(rank)),
        first_node_(lane_count_ == 0 ? 0 : order.lanes()[order.first_lane(rank)].first),
        ended_(steps.size() * lane_count_) {
    for (const std::uint32_t number : steps_) {
      for (const Access& access : accesses_of(*order_.node(number).step)) {
        auto& cuts = cuts_[static_cast<std::size_t>(access.place.buffer)];
        cuts.push_back(access.place.slice.offset);
        cuts.push_back(access.place.slice.offset + access.place.slice.count);
      }
    }
    for (std::size_t buffer = 0; buffer < cuts_.size(); ++buffer) {
      auto& cuts = cuts_[buffer];
      std::sort(cuts.begin(), cuts.end());
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      runs_[buffer].resize(cuts.size());
    }
  }

  std::optional<std::string> find_conflict() {
    for (const std::uint32_t number : steps_) {
      learn_what_has_ended(number);
      for (const Access& access : accesses_of(*order_.node(number).step)) {
        if (auto flaw = check(number, access)) return flaw;
      }
    }
    return std::nullopt;
  }

 private:
  // A contiguous range of elements: no place begins or ends inside it.
  struct Run {
    std::uint32_t written = PlanOrder::kNone;  // The step that wrote last.
    std::vector<std::uint32_t> read;           // Steps that read since then.
  };

  // Returns an array with an entry for each lane of the rank: how many steps of the lane must have
  // ended when step `number` starts, by the dependencies within the rank.
  std::uint32_t* ended(std::uint32_t number) {
    return &ended_[static_cast<std::size_t>(number - first_node_) * lane_count_];
  }
  std::uint32_t lane_in_rank(std::uint32_t number) const {
    return order_.node(number).lane - order_.first_lane(rank_);
  }

  void learn_what_has_ended(std::uint32_t number) {
    std::uint32_t* own = ended(number);
    for (const std::uint32_t before : order_.before(number)) {
      const std::uint32_t* theirs = ended(before);
      for (std::uint32_t lane = 0; lane < lane_count_; ++lane) {
        own[lane] = std::max(own[lane], theirs[lane]);
      }
      std::uint32_t& of_lane = own[lane_in_rank(before)];
      of_lane = std::max(of_lane, order_.node(before).index + 1);
    }
  }

  // Returns whether `first` always ends before `second` starts. If the dependencies within the rank
  // do not order the two steps, messages through other ranks may order them.
  bool is_before(std::uint32_t first, std::uint32_t second) {
    if (first == PlanOrder::kNone || first == second) return true;
    if (ended(second)[lane_in_rank(first)] > order_.node(first).index) return true;
    return order_.is_before(first, second);
  }

  std::optional<std::string> check(std::uint32_t number, const Access& access) {
    const auto buffer = static_cast<std::size_t>(access.place.buffer);
    const auto& cuts = cuts_[buffer];
    const Slice& slice = access.place.slice;
    const auto first = std::lower_bound(cuts.begin(), cuts.end(), slice.offset) - cuts.begin();
    const std::size_t end = slice.offset + slice.count;
    for (auto i = static_cast<std::size_t>(first); cuts[i] != end; ++i) {
      Run& run = runs_[buffer][i];
      const Place place{access.place.buffer, {cuts[i], cuts[i + 1] - cuts[i]}};
      if (!is_before(run.written, number)) {
        return sentence(run.written, number, "writes", access.writes ? "writes" : "reads", place);
      }
      if (!access.writes) {
        run.read.push_back(number);
        continue;
      }
      for (const std::uint32_t reader : run.read) {
        if (!is_before(reader, number)) return sentence(reader, number, "reads", "writes", place);
      }
      run.written = number;
      run.read.clear();
    }
    return std::nullopt;
  }

  std::string sentence(std::uint32_t first, std::uint32_t second, const std::string& does,
                       const std::string& other_does, const Place& place) const {
    return "rank " + std::to_string(rank_) + ": " + order_.name(first) + " " + does + " " +
           to_string(place) + ", " + order_.name(second) + " " + other_does +
           " them, and neither waits for the other";
  }

  const PlanOrder& order_;
  std::size_t rank_;
  const std::vector<std::uint32_t>& steps_;
  std::uint32_t lane_count_;
  std::uint32_t first_node_;
  std::vector<std::uint32_t> ended_;
  std::array<std::vector<std::size_t>, collectives::kBufferCount> cuts_;
  std::array<std::vector<Run>, collectives::kBufferCount> runs_;  // From each cut to the next.
};

// For a barrier: finds a rank that may leave before it knows that all others have entered. A rank
// knows this from messages, directly or through other ranks. No rank sends before it has entered
// the barrier.
std::optional<std::string> find_unheard(const PlanOrder& order) {
  using Ranks = std::bitset<64>;
  std::vector<Ranks> heard(order.node_count());  // What is known before a step ends.
  std::vector<Ranks> at_the_end(order.rank_count());
  for (const std::uint32_t number : order.one_order()) {
    const PlanOrder::Lane& lane = order.lane_of(number);
    Ranks& own = heard[number].set(lane.rank);
    for (const std::uint32_t before : order.before(number)) own |= heard[before];
    if (lane.kind == Kind::kReceives) own |= heard[order.other_end(number)];
    at_the_end[lane.rank] |= own;
  }
  for (std::size_t rank = 0; rank < at_the_end.size(); ++rank) {
    at_the_end[rank].set(rank);
    for (std::size_t other = 0; other < at_the_end.size(); ++other) {
      if (at_the_end[rank].test(other)) continue;
      return "rank " + std::to_string(rank) + " may leave without word of rank " +
             std::to_string(other);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_conflict(const PlanOrder& order,
                                         const std::vector<PlanRequest>& requests) {
  std::vector<std::vector<std::uint32_t>> steps(order.rank_count());
  for (const std::uint32_t number : order.one_order()) {
    steps[order.lane_of(number).rank].push_back(number);
  }
  for (std::size_t rank = 0; rank < steps.size(); ++rank) {
    if (auto flaw = RankAccesses(order, rank, steps[rank]).find_conflict()) return flaw;
  }
  if (requests.front().collective != Collective::kBarrier) return std::nullopt;
  return find_unheard(order);
}

void remove_dependency(std::vector<Plan>& plans, const Dependency& dependency) {
  plans[dependency.rank].afters[dependency.row].count = 0;  // A wait for zero steps never waits.
}

std::vector<Dependency> redundant_dependencies(std::vector<Plan> plans,
                                               const std::vector<PlanRequest>& requests) {
  std::vector<Dependency> redundant;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    for (std::size_t row = 0; row < plans[rank].afters.size(); ++row) {
      const std::uint32_t count = plans[rank].afters[row].count;
      if (count == 0) continue;
      remove_dependency(plans, {rank, row});
      if (!find_conflict(PlanOrder(plans), requests)) redundant.push_back({rank, row});
      plans[rank].afters[row].count = count;
    }
  }
  return redundant;
}

}  // namespace rota::testing

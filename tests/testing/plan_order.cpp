// The waits are the edges of a graph. A forward walk finds one order; a backward walk compares two
// steps.
#include "testing/plan_order.h"

#include <map>
#include <tuple>
#include <utility>

namespace rota::testing {
namespace {

using collectives::After;
using collectives::Plan;
using Kind = collectives::Lane::Kind;

// Runs the lanes until no lane can go on, over an in-place wire.
class Run {
 public:
  explicit Run(const PlanOrder& order)
      : order_(order), cursors_(order.lanes().size()), waiting_(order.lanes().size()) {}

  std::vector<std::uint32_t> order() {
    for (std::size_t lane = cursors_.size(); lane-- > 0;) {
      ready_.push_back(static_cast<std::uint32_t>(lane));
    }
    while (!ready_.empty()) {
      const std::uint32_t lane = ready_.back();
      ready_.pop_back();
      go(lane);
    }
    return std::move(started_);
  }

  // Describes the step at the end of the chain of waits, or any step of a circle of waits.
  std::optional<std::string> endless_wait() const {
    std::uint32_t lane = 0;
    while (lane < cursors_.size() && is_finished(lane)) ++lane;
    if (lane == cursors_.size()) return std::nullopt;
    for (std::size_t hops = 0; hops < cursors_.size(); ++hops) {
      const std::uint32_t next = cursors_[lane].obstacle;
      if (!is_finished(next)) lane = next;
    }
    const std::uint32_t obstacle = cursors_[lane].obstacle;
    const PlanOrder::Lane& row = order_.lanes()[lane];
    const PlanOrder::Lane& other = order_.lanes()[obstacle];
    std::string text = "rank " + std::to_string(row.rank) + " waits for ever in " +
                       order_.name(row.first + cursors_[lane].done);
    const bool is_alone = !is_local(row.kind) && row.partner == PlanOrder::kNone;
    if (obstacle == lane && !is_alone) return text + ", for a step that there is not";
    if (obstacle != lane && other.rank == row.rank) {
      return text + ", for its own " + order_.name(other.first + cursors_[obstacle].done);
    }
    text += ", for rank " + std::to_string(row.peer);
    return is_alone || is_finished(obstacle) ? text + ", which has no such step" : text;
  }

 private:
  struct Cursor {
    std::uint32_t done = 0;
    bool started = false;        // A send in progress.
    std::uint32_t obstacle = 0;  // The lane that must move first.
  };

  bool is_finished(std::uint32_t lane) const {
    return cursors_[lane].done == order_.lanes()[lane].count;
  }

  // Moves the lane until another lane blocks it, and then makes it wait for that lane.
  void go(std::uint32_t lane) {
    Cursor& cursor = cursors_[lane];
    while (!is_finished(lane)) {
      const auto obstacle = advance(lane);
      if (obstacle) {
        cursor.obstacle = *obstacle;
        waiting_[*obstacle].push_back(lane);
        return;
      }
      ready_.insert(ready_.end(), waiting_[lane].begin(), waiting_[lane].end());
      waiting_[lane].clear();
    }
  }

  bool has_ended(std::uint32_t number) const {
    const PlanOrder::Node& node = order_.node(number);
    return cursors_[node.lane].done > node.index;
  }
  bool has_started(std::uint32_t number) const {
    const PlanOrder::Node& node = order_.node(number);
    const Cursor& cursor = cursors_[node.lane];
    return cursor.done > node.index || (cursor.done == node.index && cursor.started);
  }

  // Starts or ends a step, or returns the lane that has to move first. Returns the lane itself if
  // no lane ever helps.
  std::optional<std::uint32_t> advance(std::uint32_t lane) {
    const PlanOrder::Lane& row = order_.lanes()[lane];
    Cursor& cursor = cursors_[lane];
    const std::uint32_t number = row.first + cursor.done;
    if (!cursor.started) {
      for (const std::uint32_t before : order_.before(number)) {
        if (before == PlanOrder::kNone) return lane;
        if (!has_ended(before)) return order_.node(before).lane;
      }
    }
    const std::uint32_t other = order_.other_end(number);
    if (row.kind == Kind::kSends && !cursor.started) {
      cursor.started = true;
      started_.push_back(number);
      return std::nullopt;
    }
    if (!is_local(row.kind)) {
      if (other == PlanOrder::kNone) return row.partner == PlanOrder::kNone ? lane : row.partner;
      const bool sends = row.kind == Kind::kSends;
      if (sends ? !has_ended(other) : !has_started(other)) return row.partner;
    }
    if (row.kind != Kind::kSends) started_.push_back(number);
    cursor = {.done = cursor.done + 1};
    return std::nullopt;
  }

  const PlanOrder& order_;
  std::vector<Cursor> cursors_;                      // Index = lane.
  std::vector<std::vector<std::uint32_t>> waiting_;  // Index = lane: the lanes that wait for it.
  std::vector<std::uint32_t> ready_;                 // Lanes that may be able to move.
  std::vector<std::uint32_t> started_;               // Steps that have started.
};

}  // namespace

PlanOrder::PlanOrder(const std::vector<Plan>& plans) {
  number_steps(plans);
  list_before(plans);
  join_lanes();
  Run run(*this);
  order_ = run.order();
  endless_wait_ = run.endless_wait();
}

void PlanOrder::number_steps(const std::vector<Plan>& plans) {
  first_lanes_.push_back(0);
  for (std::uint32_t rank = 0; rank < plans.size(); ++rank) {
    for (const collectives::Lane& lane : plans[rank].lanes) {
      lanes_.push_back({.kind = lane.kind,
                        .rank = rank,
                        .peer = lane.peer,
                        .first = static_cast<std::uint32_t>(nodes_.size()),
                        .count = lane.step_count});
      for (std::uint32_t i = 0; i < lane.step_count; ++i) {
        nodes_.push_back({.step = &plans[rank].steps[lane.first_step + i],
                          .lane = static_cast<std::uint32_t>(lanes_.size() - 1),
                          .index = i});
      }
    }
    first_lanes_.push_back(static_cast<std::uint32_t>(lanes_.size()));
  }
}

void PlanOrder::list_before(const std::vector<Plan>& plans) {
  first_before_.push_back(0);
  for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
    const Node& node = nodes_[number];
    if (node.index > 0) before_.push_back(number - 1);
    const std::uint32_t rank = lanes_[node.lane].rank;
    for (std::uint32_t i = 0; i < node.step->after_count; ++i) {
      const After& after = plans[rank].afters[node.step->first_after + i];
      if (after.count == 0) continue;
      if (after.lane >= plans[rank].lanes.size()) {
        before_.push_back(kNone);
        continue;
      }
      const Lane& lane = lanes_[first_lanes_[rank] + after.lane];
      before_.push_back(after.count <= lane.count ? lane.first + after.count - 1 : kNone);
    }
    first_before_.push_back(static_cast<std::uint32_t>(before_.size()));
  }
}

void PlanOrder::join_lanes() {
  std::map<std::tuple<Kind, std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    known.try_emplace({lanes_[i].kind, lanes_[i].rank, lanes_[i].peer}, i);
  }
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    const bool is_second = known.at({lane.kind, lane.rank, lane.peer}) != i;
    if (is_local(lane.kind) || is_second) continue;
    const Kind opposite = lane.kind == Kind::kSends ? Kind::kReceives : Kind::kSends;
    const auto partner = known.find({opposite, lane.peer, lane.rank});
    if (partner != known.end()) lane.partner = partner->second;
  }
}

std::uint32_t PlanOrder::other_end(std::uint32_t number) const {
  const Node& node = nodes_[number];
  const std::uint32_t partner = lanes_[node.lane].partner;
  if (partner == kNone || node.index >= lanes_[partner].count) return kNone;
  return lanes_[partner].first + node.index;
}

// Goes back from the start of `second` to all steps that have started by then, over a buffered
// wire. A step that is reached through a message has started. A step that is reached in another way
// has ended.
bool PlanOrder::is_before(std::uint32_t first, std::uint32_t second) const {
  std::vector<bool> seen(nodes_.size());
  std::vector<std::uint32_t> left{second};
  const auto reach = [&](std::uint32_t number) {
    if (number == kNone || seen[number]) return;
    seen[number] = true;
    left.push_back(number);
  };
  while (!left.empty()) {
    const std::uint32_t number = left.back();
    left.pop_back();
    for (const std::uint32_t before : this->before(number)) {
      if (before == first) return true;
      reach(before);
    }
    if (lane_of(number).kind == Kind::kReceives) reach(other_end(number));
  }
  return false;
}

std::string PlanOrder::name(std::uint32_t number) const {
  const Lane& lane = lane_of(number);
  const std::string step = "step " + std::to_string(nodes_[number].index + 1);
  if (lane.kind == Kind::kLocal) return "local " + step;
  if (is_local(lane.kind)) {
    const bool fills = lane.kind == Kind::kFillsSegments;
    return step + (fills ? " that fills segments for rank " : " that empties segments of rank ") +
           std::to_string(lane.peer);
  }
  return step + (lane.kind == Kind::kSends ? " to rank " : " from rank ") +
         std::to_string(lane.peer);
}

}  // namespace rota::testing

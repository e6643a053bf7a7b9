// Runs plans symbolically, step by step.
#include "plan/schedule.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace rota::bench {
namespace {

using collectives::After;
using collectives::Buffer;
using collectives::Lane;
using collectives::Place;
using collectives::Plan;
using collectives::Step;
using collectives::Verb;

// Tracks where the elements of the collective are in the memory of a rank.
class Memory {
 public:
  explicit Memory(std::size_t input_offset) : input_offset_(input_offset) {}

  // Returns the elements that a message brought to this place. If no message did, returns the
  // original elements.
  Slice elements_at(const Place& place) const {
    for (const Run& run : brought_) {
      const Slice& there = run.place.slice;
      const std::size_t begin = place.slice.offset;
      const bool is_inside = run.place.buffer == place.buffer && begin >= there.offset &&
                             begin + place.slice.count <= there.offset + there.count;
      if (is_inside) return {run.first + begin - there.offset, place.slice.count};
    }
    const std::size_t first = place.buffer == Buffer::kInput ? input_offset_ : 0;
    return {first + place.slice.offset, place.slice.count};
  }

  void bring(const Slice& elements, const Place& to) {
    std::erase_if(brought_, [&](const Run& run) { return run.place == to; });
    brought_.insert(brought_.begin(), {to, elements.offset});
  }

 private:
  struct Run {
    Place place;
    std::size_t first;  // Index of the first element.
  };

  std::size_t input_offset_;
  std::vector<Run> brought_;  // Newest first.
};

// The progress of one rank.
class Position {
 public:
  Position(const Plan& plan, std::size_t input_offset)
      : plan_(plan), finished_(plan.lanes.size()), memory_(input_offset) {
    run_local();
  }

  const Lane& lane(std::size_t lane) const { return plan_.lanes[lane]; }
  std::size_t lane_count() const { return plan_.lanes.size(); }
  const Step& next(std::size_t lane) const {
    return plan_.steps[plan_.lanes[lane].first_step + finished_[lane]];
  }

  bool may_start(std::size_t lane) const {
    if (finished_[lane] == plan_.lanes[lane].step_count) return false;
    const Step& step = next(lane);
    for (std::uint32_t i = 0; i < step.after_count; ++i) {
      const After& after = plan_.afters[step.first_after + i];
      if (finished_[after.lane] < after.count) return false;
    }
    return true;
  }

  // Returns the lane that receives from `peer`; lane_count() if there is none.
  std::size_t lane_from(std::size_t peer) const {
    std::size_t lane = 0;
    while (lane < lane_count() &&
           (plan_.lanes[lane].kind != Lane::Kind::kReceives || plan_.lanes[lane].peer != peer)) {
      ++lane;
    }
    return lane;
  }

  // Returns the elements that the next step of a sending lane sends.
  Slice leaving(std::size_t lane) const { return memory_.elements_at(next(lane).at); }

  void finish_sending(std::size_t lane) {
    ++finished_[lane];
    run_local();
  }

  void finish_receiving(std::size_t lane, const Slice& elements) {
    if (elements.count > 0) memory_.bring(elements, next(lane).at);
    ++finished_[lane];
    run_local();
  }

  bool is_done() const {
    for (std::size_t lane = 0; lane < lane_count(); ++lane) {
      if (finished_[lane] < plan_.lanes[lane].step_count) return false;
    }
    return true;
  }

 private:
  void run_local() {
    for (std::size_t lane = 0; lane < lane_count(); ++lane) {
      if (plan_.lanes[lane].kind != Lane::Kind::kLocal) continue;
      while (may_start(lane)) {  // No plan has two local lanes.
        const Step& step = next(lane);
        if (step.verb == Verb::kCopy) memory_.bring(memory_.elements_at(step.from), step.at);
        ++finished_[lane];
      }
    }
  }

  const Plan& plan_;
  std::vector<std::uint32_t> finished_;  // The number of finished steps of each lane.
  Memory memory_;
};

struct Departure {
  std::size_t rank;
  std::size_t lane;
};

std::vector<Departure> ready_departures(const std::vector<Position>& positions) {
  std::vector<Departure> ready;
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    for (std::size_t lane = 0; lane < positions[rank].lane_count(); ++lane) {
      const bool sends = positions[rank].lane(lane).kind == Lane::Kind::kSends;
      if (sends && positions[rank].may_start(lane)) ready.push_back({rank, lane});
    }
  }
  return ready;
}

// Returns false if the receiver is not ready for the message.
bool deliver(std::vector<Position>& positions, const Departure& departure,
             std::vector<Arrow>& arrows, std::size_t step) {
  Position& sender = positions[departure.rank];
  const std::size_t peer = sender.lane(departure.lane).peer;
  Position& receiver = positions[peer];
  const std::size_t lane = receiver.lane_from(departure.rank);
  if (lane == receiver.lane_count() || !receiver.may_start(lane)) return false;
  const Slice elements = sender.leaving(departure.lane);
  const Verb verb = receiver.next(lane).verb;
  arrows.push_back(
      {.step = step, .from = departure.rank, .to = peer, .elements = elements, .verb = verb});
  sender.finish_sending(departure.lane);
  receiver.finish_receiving(lane, elements);
  return true;
}

void require_done(const std::vector<Position>& positions) {
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    if (positions[rank].is_done()) continue;
    throw std::logic_error("these plans never end: rank " + std::to_string(rank) +
                           " waits for a message that nobody sends or takes");
  }
}

}  // namespace

std::vector<Arrow> schedule(std::span<const Plan> plans,
                            std::span<const std::size_t> input_offsets) {
  std::vector<Position> positions;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    positions.emplace_back(plans[rank], input_offsets.empty() ? 0 : input_offsets[rank]);
  }
  std::vector<Arrow> arrows;
  for (std::size_t step = 0;; ++step) {
    std::vector<Departure> ready = ready_departures(positions);
    const std::size_t before = arrows.size();
    // An arrival may unblock another arrival, because terms are added in a fixed order.
    for (bool again = true; again;) {
      again = std::erase_if(ready, [&](const Departure& departure) {
                return deliver(positions, departure, arrows, step);
              }) > 0;
    }
    if (arrows.size() == before) break;
  }
  require_done(positions);
  return arrows;
}

}  // namespace rota::bench

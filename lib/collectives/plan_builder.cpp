// Derives the dependencies of steps by two rules: a place must be written before it is read, and
// read before it is overwritten. A step keeps only the dependencies that nothing else on this rank
// implies.
#include "collectives/plan_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::collectives {
namespace {

// While the channel carries one segment, the next one is filled or emptied. The other two are for a
// network or a device that is late for a moment.
constexpr std::uint32_t kSegments = 4;

}  // namespace

void PlanBuilder::send(std::size_t peer, const Place& place) {
  if (place.slice.count == 0) return;
  if (stages(place)) return send_staged(peer, place);
  wait_for_writers(place);
  mark_read(place, add_message(lane(Lane::Kind::kSends, peer), {.verb = Verb::kSend, .at = place}));
}

void PlanBuilder::receive(std::size_t peer, const Place& place) {
  if (place.slice.count == 0) return;
  if (stages(place)) return receive_staged(peer, place, Verb::kCopy, false);
  wait_for_all(place);
  const Step step{.verb = Verb::kReceive, .at = place};
  mark_written(place, add_message(lane(Lane::Kind::kReceives, peer), step));
}

void PlanBuilder::receive_answer(std::size_t peer, const Place& place) {
  if (place.slice.count == 0) return;
  const std::uint32_t sends = lane(Lane::Kind::kSends, peer);
  ROTA_ASSERT(!lane_steps_[sends].empty());
  answered_ = {sends, static_cast<std::uint32_t>(lane_steps_[sends].size())};
  receive(peer, place);
  answered_.reset();
}

void PlanBuilder::reduce(std::size_t peer, const Place& place, bool last) {
  if (place.slice.count == 0) return;
  if (stages(place)) return receive_staged(peer, place, Verb::kAdd, last);
  wait_for_all(place);
  const Step step{.verb = Verb::kReduce, .last = last, .at = place};
  mark_written(place, add_message(lane(Lane::Kind::kReceives, peer), step));
}

// Calls f with each part of a message: its elements, its segment, and its description.
template <class F>
void PlanBuilder::for_parts(std::uint32_t lane, const Place& place, F f) {
  const std::uint32_t message = traffic_of(lane).messages++;
  for (std::size_t at = 0; at < place.slice.count; at += segment_count_) {
    const std::size_t count = std::min(segment_count_, place.slice.count - at);
    f(Place{place.buffer, {place.slice.offset + at, count}},
      Place{Buffer::kStaging, next_segment(lane, count)},
      Part{.message = message,
           .begins = at == 0,
           .ends = at + count == place.slice.count,
           .count = place.slice.count});
  }
}

void PlanBuilder::send_staged(std::size_t peer, const Place& place) {
  const std::uint32_t sends = lane(Lane::Kind::kSends, peer);
  const std::uint32_t fills = lane(Lane::Kind::kFillsSegments, peer);
  for_parts(sends, place, [&](const Place& own, const Place& segment, const Part& part) {
    wait_for_writers(own);
    wait_for_all(segment);
    const After copied = add_step(fills, {.verb = Verb::kCopy, .at = segment, .from = own});
    mark_read(own, copied);
    mark_written(segment, copied);
    wait_for_writers(segment);
    mark_read(segment, add_part(sends, {.verb = Verb::kSend, .at = segment}, part));
  });
}

void PlanBuilder::receive_staged(std::size_t peer, const Place& place, Verb verb, bool last) {
  const std::uint32_t receives = lane(Lane::Kind::kReceives, peer);
  const std::uint32_t empties = lane(Lane::Kind::kEmptiesSegments, peer);
  for_parts(receives, place, [&](const Place& own, const Place& segment, const Part& part) {
    wait_for_all(segment);
    mark_written(segment, add_part(receives, {.verb = Verb::kReceive, .at = segment}, part));
    wait_for_writers(segment);
    wait_for_all(own);
    const After taken = add_step(empties, {.verb = verb, .last = last, .at = own, .from = segment});
    mark_read(segment, taken);
    mark_written(own, taken);
  });
}

PlanBuilder::Traffic& PlanBuilder::traffic_of(std::uint32_t lane) {
  traffic_.resize(std::max(traffic_.size(), plan_.lanes.size()));
  return traffic_[lane];
}

Slice PlanBuilder::next_segment(std::uint32_t lane, std::size_t count) {
  Traffic& traffic = traffic_of(lane);
  if (traffic.parts == 0) {
    traffic.first = plan_.staging_count;
    plan_.staging_count += kSegments * segment_count_;
  }
  return {traffic.first + traffic.parts++ % kSegments * segment_count_, count};
}

void PlanBuilder::send_bare(std::size_t peer, std::size_t received) {
  std::ranges::copy_if(
      std::span(bare_).first(received), std::back_inserter(pending_),
      [&](const After& message) { return plan_.lanes[message.lane].peer != peer; });
  add_message(lane(Lane::Kind::kSends, peer), {.verb = Verb::kSend});
}

void PlanBuilder::receive_bare(std::size_t peer) {
  bare_.push_back(add_message(lane(Lane::Kind::kReceives, peer), {.verb = Verb::kReceive}));
}

void PlanBuilder::copy(const Place& from, const Place& to) {
  if (from == to) return;
  add_local({.verb = Verb::kCopy, .at = to, .from = from});
}

void PlanBuilder::add(const Place& from, const Place& to, bool last) {
  add_local({.verb = Verb::kAdd, .last = last, .at = to, .from = from});
}

// Derives no waits for the feedback: only local steps use it, and local steps keep their order.
void PlanBuilder::encode(const Place& place, bool last) {
  plan_.coded_count = std::max(plan_.coded_count, place.slice.offset + place.slice.count);
  add_local({.verb = Verb::kEncode, .last = last, .at = coded_at(place.slice), .from = place});
}

void PlanBuilder::decode(const Place& place) {
  add_local({.verb = Verb::kDecode, .at = place, .from = coded_at(place.slice)});
}

void PlanBuilder::decode_add(const Place& place, bool last) {
  add_local({.verb = Verb::kDecodeAdd, .last = last, .at = place, .from = coded_at(place.slice)});
}

// Adds a local step from one place to another.
void PlanBuilder::add_local(const Step& step) {
  if (step.at.slice.count == 0) return;
  wait_for_writers(step.from);
  wait_for_all(step.at);
  const After by = add_step(lane(Lane::Kind::kLocal, rank_), step);
  mark_read(step.from, by);
  mark_written(step.at, by);
}

void PlanBuilder::pre_scale(const Place& place) {
  if (place.slice.count == 0) return;
  wait_for_all(place);
  const Step step{.verb = Verb::kPreScale, .at = place};
  mark_written(place, add_step(lane(Lane::Kind::kLocal, rank_), step));
}

Place PlanBuilder::scratch(std::size_t count, std::size_t times) {
  if (count > 0 && times > (most_scratch_ - plan_.scratch_count) / count) {
    throw Error(ErrorCode::kNoMemory,
                "the plan of this call needs more memory for the values of other ranks than this "
                "machine has addresses: choose another plan, or pass fewer values in a call");
  }
  const Place place{Buffer::kScratch, {plan_.scratch_count, times * count}};
  plan_.scratch_count += place.slice.count;
  return place;
}

Plan PlanBuilder::build() {
  for (std::size_t i = 0; i < plan_.lanes.size(); ++i) {
    plan_.lanes[i].first_step = static_cast<std::uint32_t>(plan_.steps.size());
    plan_.lanes[i].step_count = static_cast<std::uint32_t>(lane_steps_[i].size());
    plan_.steps.insert(plan_.steps.end(), lane_steps_[i].begin(), lane_steps_[i].end());
    if (segment_count_ == 0) continue;
    lane_parts_[i].resize(lane_steps_[i].size());
    plan_.parts.insert(plan_.parts.end(), lane_parts_[i].begin(), lane_parts_[i].end());
  }
  return std::move(plan_);
}

std::uint32_t PlanBuilder::lane(Lane::Kind kind, std::size_t peer) {
  for (std::size_t i = 0; i < plan_.lanes.size(); ++i) {
    if (plan_.lanes[i].peer == peer && plan_.lanes[i].kind == kind) {
      return static_cast<std::uint32_t>(i);
    }
  }
  plan_.lanes.push_back({.kind = kind, .peer = static_cast<std::uint32_t>(peer)});
  lane_steps_.emplace_back();
  lane_parts_.emplace_back();
  lane_ended_.emplace_back();
  return static_cast<std::uint32_t>(plan_.lanes.size() - 1);
}

// Makes a run begin at `offset`. If `offset` is inside a run, splits this run into two runs with
// the same history.
void PlanBuilder::split(Runs& runs, std::size_t offset) {
  auto after = runs.upper_bound(offset);
  const bool first = after == runs.begin();
  if (!first && std::prev(after)->first == offset) return;
  History history = first ? History{} : std::prev(after)->second;
  runs.emplace_hint(after, offset, std::move(history));
}

template <class F>
void PlanBuilder::for_runs(const Place& place, F f) {
  Runs& runs = runs_[static_cast<std::size_t>(place.buffer)];
  split(runs, place.slice.offset);
  split(runs, place.slice.offset + place.slice.count);
  const auto end = runs.find(place.slice.offset + place.slice.count);
  for (auto run = runs.find(place.slice.offset); run != end; ++run) f(run->second);
}

void PlanBuilder::wait_for(const After& after) {
  for (After& pending : pending_) {
    if (pending.lane != after.lane) continue;
    pending.count = std::max(pending.count, after.count);
    return;
  }
  pending_.push_back(after);
}

void PlanBuilder::wait_for_writers(const Place& place) {
  for_runs(place, [&](const History& history) {
    if (history.written.count > 0) wait_for(history.written);
  });
}

// Makes the step wait for the readers of each run of elements. If a run has no readers, makes the
// step wait for the writer. Each reader has waited for the writer, so no step needs to wait for
// both.
void PlanBuilder::wait_for_all(const Place& place) {
  for_runs(place, [&](const History& history) {
    for (const After& after : history.read) wait_for(after);
    if (history.read.empty() && history.written.count > 0) wait_for(history.written);
  });
}

// Returns how many steps of each lane have ended when the last of the steps that `after` counts
// starts.
std::span<const std::uint32_t> PlanBuilder::ended_before(const After& after) const {
  const Slice& row = lane_ended_[after.lane][after.count - 1];
  return std::span(ended_).subspan(row.offset, row.count);
}

bool PlanBuilder::follows_from_others(const After& after) const {
  const auto is_implied_by = [&](const After& other) {
    const auto ended = ended_before(other);
    return after.lane < ended.size() && ended[after.lane] >= after.count;
  };
  return (answered_ && is_implied_by(*answered_)) || std::ranges::any_of(pending_, is_implied_by);
}

// Adds the steps of ended_before(after) to `ended`.
void PlanBuilder::learn(std::span<std::uint32_t> ended, const After& after) const {
  const auto before = ended_before(after);
  for (std::size_t i = 0; i < before.size(); ++i) ended[i] = std::max(ended[i], before[i]);
}

After PlanBuilder::add_step(std::uint32_t lane, const Step& step) {
  std::vector<Step>& steps = lane_steps_[lane];
  const auto done = static_cast<std::uint32_t>(steps.size());
  if (done > 0) wait_for({lane, done});  // Within a lane the order is given.
  const Slice row{ended_.size(), plan_.lanes.size()};
  ended_.resize(row.offset + row.count);
  const auto ended = std::span(ended_).subspan(row.offset, row.count);
  steps.push_back(step);
  steps.back().first_after = static_cast<std::uint32_t>(plan_.afters.size());
  for (const After& after : pending_) {
    if (follows_from_others(after)) continue;
    if (after.lane != lane) plan_.afters.push_back(after);
    learn(ended, after);
    ended[after.lane] = std::max(ended[after.lane], after.count);
  }
  if (answered_) learn(ended, *answered_);
  steps.back().after_count =
      static_cast<std::uint32_t>(plan_.afters.size()) - steps.back().first_after;
  lane_ended_[lane].push_back(row);
  pending_.clear();
  return {lane, done + 1};
}

// Adds a step that is a whole message.
After PlanBuilder::add_message(std::uint32_t lane, const Step& step) {
  if (segment_count_ == 0) return add_step(lane, step);
  return add_part(lane, step,
                  {.message = traffic_of(lane).messages++, .count = step.at.slice.count});
}

After PlanBuilder::add_part(std::uint32_t lane, const Step& step, const Part& part) {
  lane_parts_[lane].push_back(part);
  return add_step(lane, step);
}

void PlanBuilder::mark_read(const Place& place, After by) {
  for_runs(place, [&](History& history) { history.read.push_back(by); });
}

void PlanBuilder::mark_written(const Place& place, After by) {
  for_runs(place, [&](History& history) {
    history.written = by;
    history.read.clear();
  });
}

}  // namespace rota::collectives

// Simulates the plans of all ranks, message by message. The next simulated message is always the
// one that can begin first.
#include "tune/prediction.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace rota::bench {
namespace {

using collectives::After;
using collectives::Lane;
using collectives::Plan;
using collectives::Step;
using collectives::Verb;

// The progress of one rank, in simulated time.
class Progress {
 public:
  explicit Progress(Plan plan) : plan_(std::move(plan)), ends_(plan_.lanes.size()) {}

  std::size_t lane_count() const { return plan_.lanes.size(); }
  const Lane& lane(std::size_t lane) const { return plan_.lanes[lane]; }
  bool is_done(std::size_t lane) const { return ends_[lane].size() == this->lane(lane).step_count; }
  const Step& next(std::size_t lane) const {
    return plan_.steps[plan_.lanes[lane].first_step + ends_[lane].size()];
  }

  // Returns the time from which the lane's next step may run; empty if it is not known yet.
  std::optional<double> ready(std::size_t lane) const {
    if (is_done(lane)) return std::nullopt;
    const Step& step = next(lane);
    double time = ends_[lane].empty() ? 0 : ends_[lane].back();
    for (std::uint32_t i = 0; i < step.after_count; ++i) {
      const After& after = plan_.afters[step.first_after + i];
      if (ends_[after.lane].size() < after.count) return std::nullopt;
      if (after.count > 0) time = std::max(time, ends_[after.lane][after.count - 1]);
    }
    return time;
  }

  void finish(std::size_t lane, double time) { ends_[lane].push_back(time); }

  // Returns the lane that sends to `peer`.
  std::size_t lane_to(std::size_t peer) const {
    const auto found = std::ranges::find_if(plan_.lanes, [&](const Lane& lane) {
      return lane.kind == Lane::Kind::kSends && lane.peer == peer;
    });
    return static_cast<std::size_t>(found - plan_.lanes.begin());
  }

  double end() const {
    double last = 0;
    for (const auto& ends : ends_) last = std::max(last, ends.empty() ? 0 : ends.back());
    return last;
  }

 private:
  Plan plan_;
  std::vector<std::vector<double>> ends_;  // Index = lane: the end of each finished step.
};

class Simulation {
 public:
  Simulation(const WorldModel& model, collectives::Algorithm algorithm, std::size_t bytes)
      : model_(model),
        on_their_way_(model.hosts.size() * model.hosts.size()),
        busy_until_(model.hosts.size()),
        leaving_until_(model.hosts.size()),
        arriving_until_(model.hosts.size()),
        nexts_(model.hosts.size()) {
    for (std::size_t rank = 0; rank < model.hosts.size(); ++rank) {
      collectives::PlanRequest request{
          {.algorithm = algorithm, .count = bytes / sizeof(float)}, rank, model.hosts.size()};
      request.hosts = model.hosts;
      ranks_.emplace_back(collectives::make_plan(request));
    }
  }

  double run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) look_at(rank);
    while (const auto event = earliest()) {
      const std::size_t peer = ranks_[event->rank].lane(event->lane).peer;
      take(*event);
      // After the event, the ranks at both ends may be able to begin other steps. The other ranks
      // on the host of `event->rank` share the host's cable, so the same is true for them.
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        if (rank == peer || is_near(rank, event->rank)) look_at(rank);
      }
    }
    double last = 0;
    for (const Progress& rank : ranks_) last = std::max(last, rank.end());
    return last;
  }

 private:
  // The next step of a lane, and the time at which the step can begin.
  struct Event {
    double begin;
    std::size_t rank;
    std::size_t lane;
  };

  // A lane's next step begins when it is ready, the rank is free and the cable is free.
  std::optional<Event> event_of(std::size_t rank, std::size_t lane) const {
    const auto ready = ranks_[rank].ready(lane);
    if (!ready) return std::nullopt;
    double begin = std::max(*ready, busy_until_[rank]);
    const Lane& kind = ranks_[rank].lane(lane);
    const auto& on_their_way = on_their_way_[way_of(rank, kind)];
    if (kind.kind == Lane::Kind::kReceives) {
      if (on_their_way.empty()) return std::nullopt;
      begin = std::max(begin, on_their_way.front());
    } else if (kind.kind == Lane::Kind::kSends && is_near(rank, kind.peer)) {
      if (!on_their_way.empty()) return std::nullopt;
    } else if (kind.kind == Lane::Kind::kSends) {
      begin = std::max(begin, leaving_until_[model_.hosts[rank]]);
    }
    return Event{begin, rank, lane};
  }

  void look_at(std::size_t rank) {
    nexts_[rank].reset();
    for (std::size_t lane = 0; lane < ranks_[rank].lane_count(); ++lane) {
      take_earlier(nexts_[rank], event_of(rank, lane));
    }
  }

  std::optional<Event> earliest() const {
    std::optional<Event> first;
    for (const auto& next : nexts_) take_earlier(first, next);
    return first;
  }

  static void take_earlier(std::optional<Event>& first, const std::optional<Event>& event) {
    if (event && (!first || event->begin < first->begin)) first = event;
  }

  void take(const Event& event) {
    switch (ranks_[event.rank].lane(event.lane).kind) {
      case Lane::Kind::kSends:
        return send(event);
      case Lane::Kind::kReceives:
        return receive(event);
      case Lane::Kind::kLocal:
      case Lane::Kind::kFillsSegments:
      case Lane::Kind::kEmptiesSegments:
        break;
    }
    Progress& rank = ranks_[event.rank];
    const auto bytes = static_cast<double>(bytes_of(rank.next(event.lane)));
    busy_until_[event.rank] = event.begin + bytes * model_.reduce_seconds_per_byte;
    rank.finish(event.lane, busy_until_[event.rank]);
  }

  void send(const Event& event) {
    Progress& rank = ranks_[event.rank];
    const Lane& lane = rank.lane(event.lane);
    const Link& link = link_to(event.rank, lane.peer);
    const double left = event.begin + link.busy_seconds;
    const double flight = std::max(0.0, link.latency_seconds - 2 * link.busy_seconds);
    busy_until_[event.rank] = left;
    auto& on_their_way = on_their_way_[way_of(event.rank, lane)];
    if (is_near(event.rank, lane.peer)) {  // The step ends when the peer has taken the message.
      on_their_way.push_back(left + flight);
      return;
    }
    // The bytes leave on one cable while they arrive on the other.
    const double on_wire =
        static_cast<double>(bytes_of(rank.next(event.lane))) * link.seconds_per_byte;
    double& leaving = leaving_until_[model_.hosts[event.rank]];
    leaving = std::max(leaving, left) + on_wire;
    double& arriving = arriving_until_[model_.hosts[lane.peer]];
    arriving = std::max(leaving + flight, arriving + on_wire);
    on_their_way.push_back(arriving);
    rank.finish(event.lane, leaving);
  }

  void receive(const Event& event) {
    Progress& rank = ranks_[event.rank];
    const Lane& lane = rank.lane(event.lane);
    const Link& link = link_to(event.rank, lane.peer);
    const bool is_near = this->is_near(event.rank, lane.peer);
    // Within a host, the receiver moves the values itself when it reads them.
    double pass = is_near ? link.seconds_per_byte : 0;
    if (rank.next(event.lane).verb == Verb::kReduce) pass = model_.reduce_seconds_per_byte;
    const auto bytes = static_cast<double>(bytes_of(rank.next(event.lane)));
    const double end = event.begin + link.busy_seconds + bytes * pass;
    busy_until_[event.rank] = end;
    on_their_way_[way_of(event.rank, lane)].pop_front();
    rank.finish(event.lane, end);
    if (is_near) ranks_[lane.peer].finish(ranks_[lane.peer].lane_to(event.rank), end);
  }

  bool is_near(std::size_t a, std::size_t b) const { return model_.hosts[a] == model_.hosts[b]; }
  const Link& link_to(std::size_t a, std::size_t b) const {
    return is_near(a, b) ? model_.within_host : model_.between_hosts;
  }

  // Returns an index for the pair of sender and receiver of a lane.
  std::size_t way_of(std::size_t rank, const Lane& lane) const {
    const bool receives = lane.kind == Lane::Kind::kReceives;
    return receives ? lane.peer * ranks_.size() + rank : rank * ranks_.size() + lane.peer;
  }

  static std::size_t bytes_of(const Step& step) { return step.at.slice.count * sizeof(float); }

  const WorldModel& model_;
  std::vector<Progress> ranks_;
  std::vector<std::deque<double>> on_their_way_;  // Arrival times of messages, by way_of().
  std::vector<double> busy_until_;                // Index = rank.
  std::vector<double> leaving_until_;             // Index = host.
  std::vector<double> arriving_until_;            // Index = host.
  std::vector<std::optional<Event>> nexts_;       // Index = rank.
};

// Predicts the shared-memory plan: all ranks signal that they are there, each rank reduces its
// slice in place and writes the result to all ranks, and all ranks signal that they are done.
double predict_shared(const WorldModel& model, std::size_t bytes) {
  const auto n = static_cast<double>(model.hosts.size());
  const double passes = 2 * (n - 1) / n;
  return 2 * model.within_host.latency_seconds +
         passes * static_cast<double>(bytes) * model.reduce_seconds_per_byte;
}

}  // namespace

double predict(const WorldModel& model, collectives::Algorithm algorithm, std::size_t bytes) {
  if (algorithm == collectives::Algorithm::kShared) {
    return predict_shared(model, bytes);
  }
  return Simulation(model, algorithm, bytes).run();
}

}  // namespace rota::bench

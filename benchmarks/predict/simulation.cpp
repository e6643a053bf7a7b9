// Keeps the next step of each rank in a heap. The heap may have steps that are out of date: a step
// that cannot begin as early any more is put back when its turn comes.
#include "predict/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "communicator/topology.h"
#include "kernels/codings.h"

namespace rota::bench {
namespace {

using collectives::After;
using collectives::Lane;
using collectives::Plan;
using collectives::Step;
using collectives::Verb;

// The lane at the other end of the messages of a lane.
struct Partner {
  std::size_t rank = 0;
  std::size_t lane = 0;
};

// The progress of one rank, in simulated time. Message i of a lane is for step i of the lane.
class Progress {
 public:
  explicit Progress(const Plan& plan) : plan_(plan), lanes_(plan.lanes.size()) {}

  std::size_t lane_count() const { return plan_.lanes.size(); }
  const Lane& lane(std::size_t lane) const { return plan_.lanes[lane]; }
  const Step& next(std::size_t lane) const {
    return plan_.steps[plan_.lanes[lane].first_step + lanes_[lane].ends.size()];
  }

  // Returns the time from which the lane's next step may run; empty if it is not known yet.
  std::optional<double> ready(std::size_t lane) const {
    const std::vector<double>& ends = lanes_[lane].ends;
    if (ends.size() == this->lane(lane).step_count) return std::nullopt;
    const Step& step = next(lane);
    double time = ends.empty() ? 0 : ends.back();
    for (std::uint32_t i = 0; i < step.after_count; ++i) {
      const After& after = plan_.afters[step.first_after + i];
      const std::vector<double>& others = lanes_[after.lane].ends;
      if (others.size() < after.count) return std::nullopt;
      if (after.count > 0) time = std::max(time, others[after.count - 1]);
    }
    return time;
  }

  void finish(std::size_t lane, double time) { lanes_[lane].ends.push_back(time); }

  // Returns when the message of the lane's next step arrives; empty if it is not on its way.
  std::optional<double> arrival(std::size_t lane) const {
    const Traffic& traffic = lanes_[lane];
    if (traffic.arrivals.size() <= traffic.ends.size()) return std::nullopt;
    return traffic.arrivals[traffic.ends.size()];
  }
  void expect(std::size_t lane, double arrival) { lanes_[lane].arrivals.push_back(arrival); }

  Partner& partner(std::size_t lane) { return lanes_[lane].partner; }

  double end() const {
    double last = 0;
    for (const Traffic& lane : lanes_) {
      if (!lane.ends.empty()) last = std::max(last, lane.ends.back());
    }
    return last;
  }

 private:
  struct Traffic {
    std::vector<double> ends;      // Of each finished step.
    std::vector<double> arrivals;  // Of each message, if the lane receives.
    Partner partner;               // If the lane sends or receives.
  };

  const Plan& plan_;
  std::vector<Traffic> lanes_;
};

class Simulation {
 public:
  Simulation(const WorldModel& model, const PlannedCall& planned, Clock& clock)
      : model_(model),
        codec_(planned.call.codec),
        burst_seconds_(model.burst_bytes * model.between_hosts.seconds_per_byte),
        clock_(clock),
        ranks_(planned.plans.begin(), planned.plans.end()),
        versions_(planned.plans.size()) {
    find_partners();
  }

  void run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) look_at(rank);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.version != versions_[event.rank]) continue;
      const auto now = next_of(event.rank);
      const bool is_current = now && now->begin == event.begin && now->lane == event.lane;
      if (is_current) take(event);
      look_at(event.rank);
      // A message may enable its receiver, and the end of a message within a host its sender.
      const Lane& lane = ranks_[event.rank].lane(event.lane);
      if (is_current && !is_local(lane.kind)) look_at(stands_for(lane.peer));
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      clock_.ranks[rank] = std::max(clock_.ranks[rank], ranks_[rank].end());
    }
  }

 private:
  // The next step of a rank, and the time at which the step can begin.
  struct Event {
    double begin;
    std::size_t rank;
    std::size_t lane;
    std::uint64_t version = 0;  // Another version than the rank's: the event is out of date.
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return std::pair(a.begin, a.rank) > std::pair(b.begin, b.rank);
    }
  };

  void find_partners() {
    std::vector<std::unordered_map<std::size_t, std::size_t>> receiving(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (std::size_t lane = 0; lane < ranks_[rank].lane_count(); ++lane) {
        const Lane& kind = ranks_[rank].lane(lane);
        if (kind.kind == Lane::Kind::kReceives) receiving[rank].emplace(kind.peer, lane);
      }
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (std::size_t lane = 0; lane < ranks_[rank].lane_count(); ++lane) {
        const Lane& kind = ranks_[rank].lane(lane);
        if (kind.kind != Lane::Kind::kSends) continue;
        const std::size_t peer = stands_for(kind.peer);
        const Partner there{peer, receiving[peer].at(as_seen_by(peer, rank, kind.peer))};
        ranks_[rank].partner(lane) = there;
        ranks_[there.rank].partner(there.lane) = {rank, lane};
      }
    }
  }

  // Returns the simulated rank that does what `rank` does.
  std::size_t stands_for(std::size_t rank) const { return rank % ranks_.size(); }

  // Returns the sender of a message to `peer` as the rank that stands for `peer` sees it: as far
  // away from that rank as `sender` is from `peer`.
  std::size_t as_seen_by(std::size_t stand_in, std::size_t sender, std::size_t peer) const {
    const std::size_t n = model_.hosts.size();
    return (sender + n + stand_in - peer) % n;
  }

  // A lane's next step begins when it is ready, the rank is free and the cable is free.
  std::optional<Event> event_of(std::size_t rank, std::size_t lane) {
    const auto ready = ranks_[rank].ready(lane);
    if (!ready) return std::nullopt;
    double begin = std::max(*ready, clock_.ranks[rank]);
    const Lane& kind = ranks_[rank].lane(lane);
    if (kind.kind == Lane::Kind::kReceives) {
      const auto arrival = ranks_[rank].arrival(lane);
      if (!arrival) return std::nullopt;
      begin = std::max(begin, *arrival);
    } else if (kind.kind == Lane::Kind::kSends && is_near(rank, kind.peer)) {
      if (is_under_way(ranks_[rank].partner(lane))) return std::nullopt;
    } else if (kind.kind == Lane::Kind::kSends) {
      begin = std::max(begin, clock_.leaving[model_.hosts[rank]].free(burst_seconds_));
    }
    return Event{begin, rank, lane};
  }

  // Returns whether a message to this lane was sent and not taken.
  bool is_under_way(const Partner& receiver) const {
    return ranks_[receiver.rank].arrival(receiver.lane).has_value();
  }

  std::optional<Event> next_of(std::size_t rank) {
    std::optional<Event> first;
    for (std::size_t lane = 0; lane < ranks_[rank].lane_count(); ++lane) {
      const auto event = event_of(rank, lane);
      if (event && (!first || event->begin < first->begin)) first = event;
    }
    return first;
  }

  // Replaces the rank's event in the heap.
  void look_at(std::size_t rank) {
    const std::uint64_t version = ++versions_[rank];
    auto event = next_of(rank);
    if (!event) return;
    event->version = version;
    events_.push(*event);
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
    const double end = event.begin + seconds_of(rank.next(event.lane));
    occupy(event, end);
    rank.finish(event.lane, end);
  }

  void occupy(const Event& event, double end) {
    clock_.ranks[event.rank] = end;
    clock_.worked[event.rank] += end - event.begin;
  }

  void send(const Event& event) {
    Progress& rank = ranks_[event.rank];
    const Lane& lane = rank.lane(event.lane);
    const Partner there = rank.partner(event.lane);
    const Link& link = link_to(event.rank, lane.peer);
    const double left = event.begin + link.busy_seconds;
    const double flight = std::max(0.0, link.latency_seconds - 2 * link.busy_seconds);
    occupy(event, left);
    if (is_near(event.rank, lane.peer)) {  // The step ends when the peer has taken the message.
      ranks_[there.rank].expect(there.lane, left + flight);
      return;
    }
    const double bytes = bytes_of(rank.next(event.lane));
    const double on_wire = bytes * link.seconds_per_byte;
    Cable& own = clock_.leaving[model_.hosts[event.rank]];
    Cable& theirs = clock_.arriving[model_.hosts[there.rank]];
    const Passage sent = own.pass({.last = left}, on_wire, burst_seconds_);
    Passage coming = through_switches(event.rank, lane.peer, sent, bytes);
    coming.last += flight;
    ranks_[there.rank].expect(there.lane, theirs.pass(coming, on_wire, burst_seconds_).last);
    rank.finish(event.lane, sent.last);
  }

  // Returns how a message leaves the last cable between switches.
  Passage through_switches(std::size_t from, std::size_t to, const Passage& sent, double bytes) {
    if (model_.switches.empty() || model_.switches[from] == model_.switches[to]) return sent;
    const double seconds = bytes * model_.uplink_seconds_per_byte;
    const Passage up = clock_.up[model_.switches[from]].pass(sent, seconds);
    return clock_.down[model_.switches[stands_for(to)]].pass(up, seconds);
  }

  void receive(const Event& event) {
    Progress& rank = ranks_[event.rank];
    const Lane& lane = rank.lane(event.lane);
    const Step& step = rank.next(event.lane);
    const Link& link = link_to(event.rank, lane.peer);
    const bool is_near = this->is_near(event.rank, lane.peer);
    // Within a host, the receiver moves the values itself when it reads them.
    double pass = is_near ? link.seconds_per_byte : 0;
    if (step.verb == Verb::kReduce) pass = model_.reduce_seconds_per_byte;
    const double end = event.begin + link.busy_seconds + bytes_of(step) * pass;
    occupy(event, end);
    rank.finish(event.lane, end);
    const Partner there = rank.partner(event.lane);
    if (is_near) ranks_[there.rank].finish(there.lane, end);
  }

  bool is_near(std::size_t a, std::size_t b) const { return model_.hosts[a] == model_.hosts[b]; }
  const Link& link_to(std::size_t a, std::size_t b) const {
    return is_near(a, b) ? model_.within_host : model_.between_hosts;
  }

  // Returns the bytes of a step's values, which travel encoded if they are.
  double bytes_of(const Step& step) const {
    const std::size_t count = step.at.slice.count;
    const bool is_coded = step.at.buffer == collectives::Buffer::kCoded;
    return static_cast<double>(is_coded ? kernels::coded_bytes(codec_, count)
                                        : count * sizeof(float));
  }

  // Returns the seconds of a local step.
  double seconds_of(const Step& step) const {
    const auto bytes = static_cast<double>(step.at.slice.count * sizeof(float));
    switch (step.verb) {
      case Verb::kEncode:
        return bytes * model_.codec.encode_seconds_per_byte;
      case Verb::kDecode:
      case Verb::kDecodeAdd:
        return bytes * model_.codec.decode_seconds_per_byte;
      default:
        return bytes * model_.reduce_seconds_per_byte;
    }
  }

  const WorldModel& model_;
  Codec codec_;
  double burst_seconds_;
  Clock& clock_;
  std::vector<Progress> ranks_;
  std::vector<std::uint64_t> versions_;  // Index = rank: how often its event was replaced.
  std::priority_queue<Event, std::vector<Event>, Later> events_;
};

// A simulated step takes about 100 bytes of memory.
constexpr std::size_t kMostSimulatedSteps = std::size_t{8} << 20;
// The memory for making a plan grows with the square of this number.
constexpr std::size_t kMostPeers = 4096;

std::string described(const WorldModel& model, const Call& call) {
  return "an all-reduce of " + std::to_string(call.count * sizeof(float)) + " bytes by " +
         std::string(to_string(call.algorithm)) + " on " + std::to_string(model.hosts.size()) +
         " ranks";
}

// Throws std::invalid_argument if a rank sends messages to too many ranks.
void require_few_peers(const WorldModel& model, const Call& call) {
  using collectives::Algorithm;
  const bool has_all = call.algorithm == Algorithm::kDirect || call.algorithm == Algorithm::kHub ||
                       call.algorithm == Algorithm::kStar || call.algorithm == Algorithm::kByHost;
  const std::size_t hosts =
      call.algorithm == Algorithm::kByHost ? host_count_of(model.hosts) : model.hosts.size();
  if (!has_all || hosts <= kMostPeers) return;
  throw std::invalid_argument(described(model, call) + " has a rank with more than " +
                              std::to_string(kMostPeers) +
                              " peers, which is too many to predict: choose another plan");
}

void require_few_steps(const WorldModel& model, const Call& call, std::size_t step_count) {
  if (step_count <= kMostSimulatedSteps) return;
  throw std::invalid_argument(described(model, call) + " takes more than " +
                              std::to_string(kMostSimulatedSteps) +
                              " simulated steps, because few of its ranks are alike: choose "
                              "another plan");
}

Plan plan_of(const WorldModel& model, const Call& call, std::size_t rank) {
  collectives::PlanRequest request{
      {.algorithm = call.algorithm, .count = call.count, .codec = call.codec},
      rank,
      model.hosts.size()};
  request.hosts = model.hosts;
  return collectives::make_plan(request);
}

// Returns the time from `origin` to `time`, in whole ticks. A tick is a power of two, so that sums
// of ticks are exact.
double since(double origin, double time) {
  constexpr double kTicks = 1099511627776.0;  // 2^40 in a second.
  return std::max(0.0, std::round((time - origin) * kTicks) / kTicks);
}

}  // namespace

Passage Cable::pass(const Passage& message, double seconds, double burst_seconds) {
  const double first = std::max(message.last - message.seconds, free(burst_seconds));
  if (seconds <= message.seconds) {  // The message comes in more slowly than it can pass.
    paid_until_ = std::max(message.last, paid_until_ + seconds);
  } else {
    paid_until_ = std::max(message.last - message.seconds, paid_until_) + seconds;
  }
  // Without a burst, the time on the slowest cable is exact: no difference rounds it.
  if (burst_seconds <= 0) return {paid_until_, std::max(seconds, message.seconds)};
  const double last = std::max(message.last, free(burst_seconds));
  return {last, last - first};
}

void Cable::move_origin(double origin) { paid_until_ = since(origin, paid_until_); }

Clock::Clock(const WorldModel& model)
    : ranks(model.hosts.size()),
      worked(model.hosts.size()),
      leaving(model.hosts.size()),
      arriving(model.hosts.size()),
      up(model.switches.size()),
      down(model.switches.size()) {}

void Clock::move_origin(double origin) {
  for (double& rank : ranks) rank = since(origin, rank);
  for (auto* cables : {&leaving, &arriving, &up, &down}) {
    for (Cable& cable : *cables) cable.move_origin(origin);
  }
}

// Makes the plan of the last rank first: it has about as many steps as most plans, so a world that
// is too large is refused at once.
PlannedCall plan_call(const WorldModel& model, const Call& call, std::size_t period) {
  require_few_peers(model, call);
  require_few_steps(model, call, period * plan_of(model, call, period - 1).steps.size());
  PlannedCall planned{.call = call};
  std::size_t step_count = 0;
  for (std::size_t rank = 0; rank < period; ++rank) {
    planned.plans.push_back(plan_of(model, call, rank));
    step_count += planned.plans.back().steps.size();
    require_few_steps(model, call, step_count);
  }
  return planned;
}

void simulate(const WorldModel& model, const PlannedCall& planned, Clock& clock) {
  Simulation(model, planned, clock).run();
}

}  // namespace rota::bench

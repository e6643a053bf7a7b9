// How the hosts of a very large job find each other, in simulated time: every host has what the
// real one has, who it calls, its muster and its routes; the wire and the clock are simulated.
// Method: a message takes a while to travel, and each host takes its time for each that it hears,
// one after the other. A host calls until the one that it calls is in the job itself; three
// messages are the handshake. All numbers are chosen to be worse than those of a local network.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

#include "launcher/hosts/meet/muster.h"
#include "launcher/hosts/meet/routes.h"
#include "launcher/hosts/meet/tree.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

using Duration = base::Duration;
using base::TimePoint;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kTravelTime = microseconds(500);
constexpr Duration kHearingTime = microseconds(100);         // Of a message.
constexpr Duration kProofTime = microseconds(200);           // To check who calls.
constexpr Duration kByteTime = std::chrono::nanoseconds(8);  // A gigabit a second.
constexpr Duration kRetryTime = milliseconds(60);
constexpr Duration kStartSpread =
    milliseconds(100);  // Between the first host's start and the last.

class Simulation {
 public:
  explicit Simulation(std::size_t host_count) : hosts_(host_count), random_(1) {
    meeting_.host_count = host_count;
    meeting_.is_tree = host_count > kMostChildren + 1;
    meeting_.leader = "h0:7700";
    meeting_.port = 7700;
    for (std::size_t host = 0; host < host_count; ++host) {
      meeting_.cluster.hosts.push_back({.name = "h" + std::to_string(host)});
      Hello hello{.version = "1", .host = "h" + std::to_string(host), .cluster = "the words"};
      hosts_[host].muster = std::make_unique<Muster>(meeting_, host, std::move(hello));
      hosts_[host].routes = std::make_unique<Routes>(meeting_, host);
      const auto late = Duration(random_() % static_cast<std::uint64_t>(kStartSpread.count()));
      at(TimePoint() + late, [this, host] { start(host); });
    }
  }

  // Until nothing happens any more.
  void run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.when;
      event.what();
    }
  }

  bool have_all_started() const {
    return std::ranges::all_of(hosts_, [](const Host& host) { return host.has_begun; });
  }
  Duration time() const { return last_begun_ - (TimePoint() + kStartSpread); }
  double messages_a_host() const {
    std::size_t count = 0;
    for (const Host& host : hosts_) count += host.messages_with_parent;
    return static_cast<double>(count) / static_cast<double>(hosts_.size());
  }
  std::size_t most_messages_of_a_child() const {
    std::size_t most = 0;
    for (const Host& host : hosts_) most = std::max(most, host.messages_with_parent);
    return most;
  }

 private:
  struct Host {
    std::unique_ptr<Muster> muster;
    std::unique_ptr<Routes> routes;
    bool has_started = false;
    bool is_in = false;
    bool has_begun = false;
    TimePoint busy_until{};
    std::size_t messages_with_parent = 0;
    std::vector<std::size_t> waiting;  // Callers that it does not answer yet.
  };
  struct Event {
    TimePoint when;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return std::tie(when, order) > std::tie(other.when, other.order);
    }
  };

  void at(TimePoint when, std::function<void()> what) {
    events_.push({when, order_++, std::move(what)});
  }

  // `child` says whose connection it goes over; `what` happens once `to` has come to it.
  void send(std::size_t to, std::size_t child, std::size_t bytes, Duration work,
            std::function<void()> what) {
    ++hosts_[child].messages_with_parent;
    const TimePoint arrival = now_ + kTravelTime + bytes * kByteTime;
    at(arrival, [this, to, work, what = std::move(what)] {
      Host& host = hosts_[to];
      host.busy_until = std::max(host.busy_until, now_) + kHearingTime + work;
      at(host.busy_until, what);
    });
  }

  void start(std::size_t host) {
    hosts_[host].has_started = true;
    if (host == 0) return enter(0);
    call(host);
  }

  void call(std::size_t host) {
    const std::size_t parent = parent_of(meeting_, host);
    if (hosts_[parent].is_in) return shake_hands(host, parent);
    if (hosts_[parent].has_started) return hosts_[parent].waiting.push_back(host);
    at(now_ + kRetryTime, [this, host] { call(host); });  // Refused: nobody listens.
  }

  // Challenge, proof, verdict.
  void shake_hands(std::size_t child, std::size_t parent) {
    send(child, child, 100, {}, [this, child, parent] {
      send(parent, child, 256, kProofTime,
           [this, child] { send(child, child, 100, kProofTime, [this, child] { enter(child); }); });
    });
  }

  void enter(std::size_t host) {
    hosts_[host].is_in = true;
    for (const std::size_t child : hosts_[host].waiting) shake_hands(child, host);
    tell(host);
  }

  // As followers do, and the leader.
  void tell(std::size_t host) {
    Muster& muster = *hosts_[host].muster;
    if (host == 0) {
      if (muster.is_complete() && hosts_[0].routes->world_size() == 0) assign();
      if (muster.is_seated() && !hosts_[0].has_begun) begin(0);
      return;
    }
    if (!hosts_[host].is_in) return;
    if (auto hello = muster.take_hello(now_)) pass_up(host, *hello);
    if (const auto when = muster.next_deadline()) at(*when, [this, host] { tell(host); });
    if (hosts_[host].routes->world_size() == 0) return;
    if (auto ready = muster.take_ready()) pass_up(host, *ready);
  }

  void pass_up(std::size_t host, const Dispatch& dispatch) {
    const std::size_t parent = parent_of(meeting_, host);
    send(parent, host, encode(dispatch).size(), {}, [this, host, parent, dispatch] {
      Muster& muster = *hosts_[parent].muster;
      const auto texts = *decode_host_texts(dispatch.text);
      if (dispatch.type == DispatchType::kReady) {
        muster.on_seats(host, texts, *hosts_[parent].routes);
      } else if (muster.is_here(host)) {
        muster.on_hellos(host, texts);
      } else {
        EXPECT_EQ(muster.on_call(host, texts), std::nullopt);
      }
      tell(parent);
    });
  }

  // A rank on each host, as far as a job may have so many.
  void assign() {
    const std::size_t world_size = std::min(hosts_.size(), rendezvous::kMaxWorldSize);
    std::vector<HostText> shares;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      Share share{.ranks = {}, .world_size = world_size};
      if (host < world_size) {
        share.ranks = {host};
        share.groups = {0};
      }
      shares.push_back({host, encode(share)});
    }
    take_shares(0, shares);
  }

  void take_shares(std::size_t host, const std::vector<HostText>& shares) {
    for (auto& [child, theirs] : hosts_[host].routes->assign(shares)) {
      send(child, child, encode(theirs).size(), {},
           [this, child = child, theirs = theirs] { take_shares(child, theirs); });
    }
    Seats seats{.free = {.address = "10.0.0.1", .ports = {7703}}};
    if (hosts_[host].routes->rank_count(host) == 1) {
      seats.addresses = {"10.0.0.1:7701"};
      seats.cores = {"0"};
      seats.devices.resize(1);
    }
    hosts_[host].muster->set_own_seats(seats);
    tell(host);
  }

  void begin(std::size_t host) {
    hosts_[host].has_begun = true;
    last_begun_ = now_;
    for (const std::size_t child : children_of(meeting_, host)) {
      send(child, child, 200, {}, [this, child] { begin(child); });
    }
  }

  Meeting meeting_;
  std::vector<Host> hosts_;
  std::mt19937_64 random_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  TimePoint now_{};
  TimePoint last_begun_{};
};

TEST(SimulatedJoin, OfAThousandHostsTakesLessThanASecond) {
  Simulation simulation(1000);
  simulation.run();
  ASSERT_TRUE(simulation.have_all_started());
  RecordProperty(
      "milliseconds",
      std::to_string(std::chrono::duration_cast<milliseconds>(simulation.time()).count()));
  EXPECT_LT(simulation.time(), std::chrono::seconds(1));
  EXPECT_LE(simulation.messages_a_host(), 16);
}

TEST(SimulatedJoin, OfTenThousandHostsTakesFewMessages) {
  Simulation simulation(10'000);
  simulation.run();
  ASSERT_TRUE(simulation.have_all_started());
  RecordProperty(
      "milliseconds",
      std::to_string(std::chrono::duration_cast<milliseconds>(simulation.time()).count()));
  EXPECT_LE(simulation.messages_a_host(), 16);
  EXPECT_LE(simulation.most_messages_of_a_child(), 16U);
}

TEST(SimulatedJoin, OfFewHostsIsTheSame) {
  for (const std::size_t host_count : {2U, 33U, 34U, 66U}) {
    Simulation simulation(host_count);
    simulation.run();
    EXPECT_TRUE(simulation.have_all_started()) << host_count;
    EXPECT_LE(simulation.most_messages_of_a_child(), 16U);
  }
}

}  // namespace
}  // namespace rota::launcher

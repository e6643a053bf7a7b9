// Simulates how the hosts of a very large job find each other. Every host uses the real tree,
// registry and routes; only the wire and the clock are simulated. Method: a message takes a while
// to travel, and each host handles its messages one after another. A host repeats its call to its
// parent until the parent itself has joined; the handshake has three messages. All delays are
// longer than in a local network.
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

#include "launcher/hosts/rendezvous/host_registry.h"
#include "launcher/hosts/rendezvous/host_tree.h"
#include "launcher/hosts/rendezvous/routes.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

using Duration = base::Duration;
using base::TimePoint;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kTravelTime = microseconds(500);
constexpr Duration kHearingTime = microseconds(100);         // Time to handle each message.
constexpr Duration kProofTime = microseconds(200);           // The time to check a caller's proof.
constexpr Duration kByteTime = std::chrono::nanoseconds(8);  // One gigabit per second.
constexpr Duration kRetryTime = milliseconds(60);
constexpr Duration kStartSpread = milliseconds(100);  // From the first start to the last.

class Simulation {
 public:
  explicit Simulation(std::size_t host_count) : hosts_(host_count), random_(1) {
    host_plan_.host_count = host_count;
    host_plan_.is_tree = host_count > kMostChildren + 1;
    host_plan_.leader = "h0:7700";
    host_plan_.port = 7700;
    for (std::size_t host = 0; host < host_count; ++host) {
      host_plan_.cluster.hosts.push_back({.name = "h" + std::to_string(host)});
      Hello hello{.version = "1", .host = "h" + std::to_string(host), .cluster = "the words"};
      hosts_[host].registry = std::make_unique<HostRegistry>(host_plan_, host, std::move(hello));
      hosts_[host].routes = std::make_unique<Routes>(host_plan_, host);
      const auto late = Duration(random_() % static_cast<std::uint64_t>(kStartSpread.count()));
      at(TimePoint() + late, [this, host] { start(host); });
    }
  }

  // Runs until no event remains.
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
    std::unique_ptr<HostRegistry> registry;
    std::unique_ptr<Routes> routes;
    bool has_started = false;
    bool is_in = false;
    bool has_begun = false;
    TimePoint busy_until{};
    std::size_t messages_with_parent = 0;
    std::vector<std::size_t> waiting;  // Callers that still wait for an answer.
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

  // Sends a message over the connection of `child`. `what` runs once `to` has handled the message.
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
    const std::size_t parent = parent_of(host_plan_, host);
    if (hosts_[parent].is_in) return shake_hands(host, parent);
    if (hosts_[parent].has_started) return hosts_[parent].waiting.push_back(host);
    at(now_ + kRetryTime, [this, host] { call(host); });  // Refused: nobody listens yet.
  }

  // Exchanges three messages: challenge, proof, verdict.
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

  // Does what a follower or the leader does after a change.
  void tell(std::size_t host) {
    HostRegistry& registry = *hosts_[host].registry;
    if (host == 0) {
      if (registry.is_complete() && hosts_[0].routes->world_size() == 0) assign();
      if (registry.has_all_endpoints() && !hosts_[0].has_begun) begin(0);
      return;
    }
    if (!hosts_[host].is_in) return;
    if (auto hello = registry.take_hello(now_)) pass_up(host, *hello);
    if (const auto when = registry.next_deadline()) at(*when, [this, host] { tell(host); });
    if (hosts_[host].routes->world_size() == 0) return;
    if (auto ready = registry.take_ready()) pass_up(host, *ready);
  }

  void pass_up(std::size_t host, const ControlMessage& message) {
    const std::size_t parent = parent_of(host_plan_, host);
    send(parent, host, encode(message).size(), {}, [this, host, parent, message] {
      HostRegistry& registry = *hosts_[parent].registry;
      const auto texts = *decode_host_texts(message.text);
      if (message.type == ControlMessageType::kReady) {
        registry.on_endpoints(host, texts, *hosts_[parent].routes);
      } else if (registry.is_here(host)) {
        registry.on_hellos(host, texts);
      } else {
        EXPECT_EQ(registry.on_call(host, texts), std::nullopt);
      }
      tell(parent);
    });
  }

  // Assigns one rank to each host, up to the largest world.
  void assign() {
    const std::size_t world_size = std::min(hosts_.size(), rendezvous::kMaxWorldSize);
    std::vector<HostText> assignments;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      HostAssignment assignment{.ranks = {}, .world_size = world_size};
      if (host < world_size) {
        assignment.ranks = {host};
        assignment.groups = {0};
      }
      assignments.push_back({host, encode(assignment)});
    }
    take_shares(0, assignments);
  }

  void take_shares(std::size_t host, const std::vector<HostText>& assignments) {
    for (auto& [child, theirs] : hosts_[host].routes->assign(assignments)) {
      send(child, child, encode(theirs).size(), {},
           [this, child = child, theirs = theirs] { take_shares(child, theirs); });
    }
    HostEndpoints endpoints{.free = {.address = "10.0.0.1", .ports = {7703}}};
    if (hosts_[host].routes->rank_count(host) == 1) {
      endpoints.addresses = {"10.0.0.1:7701"};
      endpoints.cores = {"0"};
      endpoints.devices.resize(1);
    }
    hosts_[host].registry->set_own_endpoints(endpoints);
    tell(host);
  }

  void begin(std::size_t host) {
    hosts_[host].has_begun = true;
    last_begun_ = now_;
    for (const std::size_t child : children_of(host_plan_, host)) {
      send(child, child, 200, {}, [this, child] { begin(child); });
    }
  }

  HostPlan host_plan_;
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

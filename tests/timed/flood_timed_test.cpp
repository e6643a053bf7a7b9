// Tests that distant hosts can join although strangers flood the hosts' port with connections. The
// hosts join at most two seconds later than without the flood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "auth/acceptor.h"
#include "auth/connector.h"
#include "os/quiet_thread.h"
#include "timed/distance.h"
#include "timed/promised.h"

namespace rota::testing {
namespace {

constexpr std::size_t kHosts = 100;
constexpr milliseconds kLater{2000};
constexpr seconds kHandshakeTimeout{30};

// Lets in every caller that holds the key.
class Port {
 public:
  explicit Port(const auth::Credentials& own)
      : acceptor_({.key = own.key,
                   .encrypts = own.encrypts,
                   .listener = listener_.socket.get(),
                   .expected_count = kHosts},
                  [](const auth::Identity&) { return auth::Admission(); }),
        thread_(os::start_quiet_thread([this] { run(); })) {}
  ~Port() {
    is_ending_ = true;
    thread_.join();
  }

  const std::string& address() const noexcept { return listener_.address; }

 private:
  void run() {
    os::PollSet polls;
    while (!is_ending_) {
      polls.clear();
      acceptor_.add_to(polls, Clock::now());
      const auto nap = Clock::now() + milliseconds(20);
      polls.wait(std::min(nap, acceptor_.next_deadline().value_or(nap)));
      for (auto& member : acceptor_.receive(Clock::now())) members_.push_back(std::move(member));
    }
  }

  os::Listener listener_ = os::listen_on_loopback();
  auth::Acceptor acceptor_;
  std::vector<auth::Acceptor::Member> members_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

// Calls from kHosts hosts at the same time, until each is in or `patience` is over.
class Hosts {
 public:
  Hosts(const std::string& address, const auth::Credentials& own) {
    for (std::uint32_t host = 1; host <= kHosts; ++host) {
      calls_.push_back(
          std::make_unique<auth::Connector>(address, own, auth::Identity{.from = host}));
    }
  }

  // Returns how long the last host took.
  Clock::duration come_in(Clock::duration patience) {
    const auto begin = Clock::now();
    os::PollSet polls;
    while (in_count_ < kHosts && Clock::now() < begin + patience) {
      polls.clear();
      auto end = begin + patience;
      for (auto& call : calls_) {
        if (call) advance(call);
        if (!call) continue;
        call->add_to(polls);
        end = std::min(end, call->next_deadline().value_or(end));
      }
      if (in_count_ < kHosts) polls.wait(end);
    }
    return Clock::now() - begin;
  }

  std::size_t in_count() const noexcept { return in_count_; }
  const std::vector<auth::Verdict>& verdicts() const noexcept { return verdicts_; }

 private:
  void advance(std::unique_ptr<auth::Connector>& call) {
    const auth::Connector::State state = call->advance(Clock::now());
    if (call->verdict() != auth::Verdict::kNone) verdicts_.push_back(call->verdict());
    if (state != auth::Connector::State::kDone) return;
    ++in_count_;
    streams_.push_back(call->take_stream());
    call.reset();
  }

  std::vector<std::unique_ptr<auth::Connector>> calls_;
  std::vector<auth::Stream> streams_;
  std::vector<auth::Verdict> verdicts_;
  std::size_t in_count_ = 0;
};

struct Scene {
  const char* name;
  milliseconds delay;  // Each way.
  std::size_t sockets;
  std::size_t sources;
  bool encrypts;
};

void PrintTo(const Scene& scene, std::ostream* out) { *out << scene.name; }

class FarHosts : public ::testing::TestWithParam<Scene> {};

TEST_P(FarHosts, ComeInDespiteAFlood) {
  const Scene& scene = GetParam();
  const auth::Credentials own(auth::random_key(), scene.encrypts);
  const Port port(own);
  const Relay relay("127.0.2.1", port.address(), scene.delay);
  const auto without = Hosts(relay.address(), own).come_in(kHandshakeTimeout);
  const Flood flood(port.address(), scene.sockets, scene.sources);
  Hosts hosts(relay.address(), own);
  const auto with = hosts.come_in(kHandshakeTimeout);
  EXPECT_EQ(hosts.in_count(), kHosts);
  EXPECT_LE(with, without + kLater);
  EXPECT_THAT(hosts.verdicts(), ::testing::Each(auth::Verdict::kNone));
  RecordProperty("without_ms", std::to_string(without / milliseconds(1)));
  RecordProperty("with_ms", std::to_string(with / milliseconds(1)));
  RecordProperty("flood_opened", std::to_string(flood.opened_count()));
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, FarHosts,
    ::testing::Values(Scene{"100ms_300_of_1", milliseconds(100), 300, 1, false},
                      Scene{"300ms_4000_of_1", milliseconds(300), 4000, 1, false},
                      Scene{"300ms_4000_of_16", milliseconds(300), 4000, 16, false},
                      Scene{"20ms_300_of_16_encrypted", milliseconds(20), 300, 16, true},
                      Scene{"300ms_4000_of_16_encrypted", milliseconds(300), 4000, 16, true}),
    [](const auto& instance) { return instance.param.name; });

// The port cannot distinguish hosts that have the same address as the flood. It must not claim that
// the key of these hosts is wrong.
TEST(HostsThatShareAnAddressWithAFlood, AreToldSo) {
  const auth::Credentials own(auth::random_key(), false);
  const Port port(own);
  const Relay relay("127.0.1.1", port.address(), milliseconds(100));
  const Flood flood(port.address(), 1000, 1);
  Hosts hosts(relay.address(), own);
  hosts.come_in(seconds(2));
  EXPECT_THAT(hosts.verdicts(), ::testing::Contains(auth::Verdict::kCrowded));
  EXPECT_THAT(hosts.verdicts(), ::testing::Not(::testing::Contains(auth::Verdict::kOtherKey)));
}

}  // namespace
}  // namespace rota::testing

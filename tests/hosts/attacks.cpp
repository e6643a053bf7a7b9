// Makes the attacks, each over its own connection.
#include "hosts/attacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include "auth/conversation.h"
#include "auth/handshake_io.h"
#include "launcher/hosts/wire/control_message.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "rendezvous/remote_connection.h"

namespace rota::testing {
namespace {

using auth::Bytes;
using auth::Handshake;
using base::Clock;

// The longest wait for the end of a connection: five times the time that a stranger gets.
constexpr std::chrono::seconds kHandshakeTimeout{10};

constexpr std::size_t kChallengeBytes = 40;

bool is_farewell(const Bytes& heard) {
  Handshake::Farewell said{};
  if (heard.size() != said.size()) return false;
  std::ranges::copy(heard, said.begin());
  return Handshake::call(auth::Key(), {}).is_farewell(said);
}

class Wire {
 public:
  // Calls until the port accepts. Throws std::runtime_error if it never does.
  explicit Wire(const Target& target) : end_(Clock::now() + kHandshakeTimeout) {
    const os::Address address = os::parse_address(target.address);
    do {
      target.network.act_on(target.attacker, [&] { stream_ = os::start_connect(address).socket; });
      wait(false);
    } while (os::connect_result(stream_.fd()) && Clock::now() < end_);
    if (os::connect_result(stream_.fd())) throw std::runtime_error("nobody is there");
    end_ = Clock::now() + kHandshakeTimeout;
  }

  // Sends until all bytes are sent or the other side closes.
  void send(std::span<const std::byte> bytes) {
    while (!bytes.empty() && Clock::now() < end_) {
      const os::Moved moved = os::send_some(stream_.fd(), bytes, {});
      if (moved.closed) return;
      bytes = bytes.subspan(moved.bytes);
      if (!bytes.empty()) wait(false);
    }
  }

  // Receives `count` bytes, or fewer if the connection ends earlier.
  Bytes receive(std::size_t count) {
    Bytes bytes(count);
    std::size_t received = 0;
    while (received < count && Clock::now() < end_) {
      const os::Moved moved = os::receive_some(stream_.fd(), std::span(bytes).subspan(received));
      received += moved.bytes;
      if (moved.closed) break;
      if (moved.bytes == 0) wait(true);
    }
    bytes.resize(received);
    return bytes;
  }

  // Returns how the connection ended: "answered" if the other side sends anything except a farewell
  // before it hangs up.
  std::string end_within(base::Duration limit) {
    const base::TimePoint end = std::min(end_, Clock::now() + limit);
    Bytes heard;
    do {
      std::array<std::byte, 64> some;
      const os::Moved moved = os::receive_some(stream_.fd(), some);
      heard.insert(heard.end(), some.begin(),
                   some.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
      if (moved.closed) return heard.empty() || is_farewell(heard) ? kHungUp : "answered";
      if (moved.bytes == 0) wait(true);
    } while (Clock::now() < end);
    return heard.empty() ? kLeftWaiting : "answered";
  }
  std::string end() { return end_within(kHandshakeTimeout); }

  // Returns how the handshake ended.
  std::string shake_hands(Handshake& handshake) {
    using State = Handshake::State;
    while (auth::advance(handshake, stream_)) {
      if (handshake.state() == State::kDone) return kLetIn;
      if (handshake.state() != State::kTalking) return "refused: " + handshake.why();
      if (Clock::now() >= end_) return kLeftWaiting;
      wait(handshake.to_send().empty());
    }
    return kHungUp;
  }

  auth::Stream take_stream() { return std::move(stream_); }

 private:
  void wait(bool for_reading) {
    os::PollSet polls;
    polls.add(stream_.fd(), for_reading, !for_reading);
    polls.wait(std::min(end_, Clock::now() + std::chrono::milliseconds(100)));
  }

  base::TimePoint end_;
  auth::Stream stream_;
};

std::string call_as(const Target& target, const auth::Key& key, const auth::Identity& identity) {
  Wire wire(target);
  Handshake handshake = Handshake::call(key, identity);
  return wire.shake_hands(handshake);
}

// Receives the challenge of this connection, and returns the bytes with which a member answers it.
Bytes genuine_call(Wire& wire, const Target& target) {
  Handshake handshake = Handshake::call(target.key, target.identity);
  auth::tell(handshake, wire.receive(kChallengeBytes));
  return auth::said_by(handshake);
}

std::string say(const Target& target, const Bytes& bytes) {
  Wire wire(target);
  wire.receive(kChallengeBytes);
  wire.send(bytes);
  return wire.end();
}

// Returns an attack by a genuine call with one changed byte.
Attack changed_call(const std::string& name, std::size_t index, std::byte change) {
  return {name,
          [=](const Target& target) {
            Wire wire(target);
            Bytes call = genuine_call(wire, target);
            if (index < call.size()) call[index] ^= change;
            wire.send(call);
            return wire.end();
          },
          kHungUp};
}

std::string replay(const Target& target) {
  Bytes call;
  {
    Wire wire(target);
    call = genuine_call(wire, target);
    wire.send(call);
    wire.receive(1);  // The answer proves that the call was accepted.
  }
  return say(target, call);
}

std::string reflect(const Target& target) {
  Wire wire(target);
  wire.send(wire.receive(kChallengeBytes));
  return wire.end();
}

std::string call_slowly(const Target& target) {
  Wire wire(target);
  for (const std::byte byte : genuine_call(wire, target)) {
    wire.send(std::span(&byte, 1));
    std::string end = wire.end_within(std::chrono::seconds(1));
    if (end != kLeftWaiting) return end;
  }
  return kLeftWaiting;
}

Attack identity_attack(const std::string& name, const std::function<void(auth::Identity&)>& change,
                       const std::string& why) {
  return {name,
          [=](const Target& target) {
            auth::Identity identity = target.identity;
            change(identity);
            return call_as(target, target.key, identity);
          },
          "refused: " + why};
}

// Returns an attack that completes the handshake as a member, and then sends these bytes.
Attack words_of_a_member(const std::string& name, const Bytes& words) {
  return {name,
          [=](const Target& target) {
            Wire wire(target);
            Handshake handshake = Handshake::call(target.key, target.identity);
            if (std::string end = wire.shake_hands(handshake); end != kLetIn) return end;
            wire.send(words);
            std::string end = "answered";  // Heartbeats arrive until the other side hangs up.
            while (end == "answered") end = wire.end();
            return end;
          },
          kHungUp};
}

// Attacks with a valid frame whose content is not valid.
std::string introduce_nonsense(const Target& target) {
  Wire wire(target);
  Handshake handshake = Handshake::call(target.key, target.identity);
  if (std::string end = wire.shake_hands(handshake); end != kLetIn) return end;
  rendezvous::RemoteConnection line(wire.take_stream(), handshake.session_keys());
  line.send(launcher::encode({.type = launcher::ControlMessageType::kHello, .text = "nonsense"}),
            {});
  std::vector<std::byte> bytes;
  std::vector<os::Fd> fds;
  for (const auto end = Clock::now() + kHandshakeTimeout; Clock::now() < end;) {
    if (line.receive(bytes, fds) == os::Io::kClosed) return kHungUp;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return kLeftWaiting;
}

Attack words(const std::string& name, const Bytes& bytes) {
  return {name, [=](const Target& target) { return say(target, bytes); }, kHungUp};
}

Bytes noise(std::size_t count) {
  Bytes bytes(count);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

}  // namespace

// The table in lib/auth/handshake.cpp gives the positions of the changed bytes.
std::vector<Attack> attacks_without_the_key() {
  const auto with_key = [](const auth::Key& key) {
    return [=](const Target& target) { return call_as(target, key, target.identity); };
  };
  const std::string other_job(40, 'k');
  const std::string other_key = "refused: it holds another key";
  return {
      {"no key", with_key(auth::Key()), other_key},
      {"another key", with_key(auth::random_key()), other_key},
      {"the key of another job",
       with_key(auth::job_key(std::as_bytes(std::span(other_job)), "another job")), other_key},
      {"a call that was heard before", replay, kHungUp},
      {"the challenge thrown back", reflect, kHungUp},
      {"a byte a second", call_slowly, kHungUp},
      changed_call("an older version", 5, std::byte{1}),
      changed_call("another suite", 6, std::byte{1}),
      changed_call("another rank under the same proof", 54, std::byte{1}),
      changed_call("another epoch under the same proof", 50, std::byte{1}),
      changed_call("a bit of the proof", 122, std::byte{0x80}),
      words("silence", {}),
      words("the beginning of a call", auth::bytes_of("ROTA")),
      words("a request", auth::bytes_of("GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n")),
      words("a hello of TLS", auth::from_hex("16030100c4010000c00303")),
      words("noise", noise(4096)),
      words("a mebibyte of zeros", Bytes(1 << 20)),
  };
}

std::vector<Attack> attacks_with_the_key() {
  using auth::Identity;
  return {
      identity_attack(
          "another epoch", [](Identity& identity) { identity.epoch = 1; },
          "not now: the job is in epoch 0, but the caller is in epoch 1"),
      identity_attack(
          "a host that there is not", [](Identity& identity) { identity.from = 3; },
          "this job has 3 hosts"),
      identity_attack(
          "a host far beyond", [](Identity& identity) { identity.from = 0xffffffff; },
          "this job has 3 hosts"),
      identity_attack(
          "host 0 itself", [](Identity& identity) { identity.from = 0; },
          "host 0 (10.77.0.1) is this host"),
      identity_attack(
          "somebody else called", [](Identity& identity) { identity.to = 1; },
          "only launchers of hosts"),
      identity_attack(
          "a rank", [](Identity& identity) { identity.kind = auth::ConnectionKind::kControl; },
          "only launchers of hosts"),
      identity_attack(
          "another job", [](Identity& identity) { identity.job_id[3] ^= std::byte{1}; },
          "not now: another job uses this port"),
      identity_attack(
          "another incarnation", [](Identity& identity) { identity.incarnation = 1; },
          "it belongs to another incarnation of the job"),
      words_of_a_member("a frame of 4 GiB", Bytes(4, std::byte{0xff})),
      words_of_a_member("a frame without a tag",
                        auth::joined({auth::from_hex("01000000"), Bytes(17)})),
      {"an introduction that makes no sense", introduce_nonsense, kHungUp},
  };
}

launcher::HostPlan host_plan_of(const Network& network, const std::vector<std::size_t>& slots) {
  cluster::Specification cluster{.source = "ROTA_HOSTS", .own_host = 0};
  for (std::size_t host = 0; host < slots.size(); ++host) {
    cluster.hosts.push_back({.name = network.address(host), .slots = slots[host]});
  }
  cluster.rendezvous = cluster::RendezvousEndpoint{.name = network.address(0)};
  return launcher::plan_hosts(cluster, launcher::Options());
}

namespace {

// Returns how an attack ends where the caller may try again later: once the job has begun, a caller
// that does not fit may belong to the next job.
std::string as_not_now(const std::string& expected) {
  constexpr std::string_view kRefused = "refused: ";
  if (!expected.starts_with(kRefused)) return expected;
  return std::string(kRefused) + "not now: " + expected.substr(kRefused.size());
}

}  // namespace

void expect_refused(const std::vector<Attack>& attacks, const Target& target) {
  std::vector<std::future<std::string>> ends;
  ends.reserve(attacks.size());
  for (const Attack& attack : attacks) {
    ends.push_back(std::async(std::launch::async, attack.act, std::cref(target)));
  }
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const std::string& expected = attacks[i].expected;
    EXPECT_THAT(ends[i].get(), ::testing::AnyOf(::testing::StartsWith(expected),
                                                ::testing::StartsWith(as_not_now(expected))))
        << attacks[i].name << ", at " << target.address;
  }
}

}  // namespace rota::testing

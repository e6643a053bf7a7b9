// Joins two sockets for each connection, in the networks of two hosts.
#include "hosts/man_in_the_middle.h"

#include <algorithm>
#include <utility>

#include "base/byte_stream.h"
#include "os/address.h"
#include "os/tcp_socket.h"

namespace rota::testing {
namespace {

using auth::Bytes;

constexpr std::size_t kBytesOfCaller = 123;
constexpr std::size_t kBytesOfAnswerer = 40 + 251;
constexpr std::size_t kSuiteIndex = 6;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kTagBytes = 16;

// Sends all bytes. These connections carry so little that a socket always has room for all of them.
void send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const os::Moved moved = os::send_some(socket, bytes, {});
    if (moved.closed) return;
    bytes = bytes.subspan(moved.bytes);
  }
}

}  // namespace

// A separate route leads the victim's packets for the port in `address` to the attacker's host. The
// attacker's host has the leader's address too, but does not answer ARP requests for it.
ManInTheMiddle::ManInTheMiddle(const Network& network, const Place& place,
                               const std::string& address)
    : network_(network), place_(place), address_(address) {
  const std::string leader = network.address(place.leader);
  network.configure(place.own, "echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore; ip addr add " +
                                   leader + "/32 dev lo");
  network.configure(place.victim, "ip rule add to " + leader + " ipproto tcp dport " +
                                      std::to_string(os::parse_address(address).port()) +
                                      " lookup 100; ip route add " + leader + "/32 via " +
                                      network.address(place.own) + " dev eth0 table 100");
  network.act_on(place.own, [&] { listener_ = os::listen_on(os::parse_address(address)); });
  thread_ = std::thread([this] { serve(); });
}

ManInTheMiddle::~ManInTheMiddle() {
  is_ending_ = true;
  wakeup_.wake();
  thread_.join();
}

void ManInTheMiddle::play(Trick trick, bool is_to_leader) {
  is_trick_to_leader_ = is_to_leader;
  trick_ = trick;
}

std::string ManInTheMiddle::heard() const {
  const std::scoped_lock lock(mutex_);
  return heard_;
}

void ManInTheMiddle::serve() {
  while (!is_ending_) {
    os::PollSet polls;
    polls.add(wakeup_.fd(), true, false);
    polls.add(listener_.socket.get(), true, false);
    for (const Connection& connection : connections_) {
      polls.add(connection.up.from.get(), true, false);
      polls.add(connection.down.from.get(), true, false);
    }
    polls.wait(std::nullopt);
    accept();
    connections_.remove_if([this](Connection& connection) {
      const bool up = pass_on(connection.up);
      const bool down = pass_on(connection.down);
      return !up || !down;
    });
  }
}

void ManInTheMiddle::accept() {
  os::Fd caller = os::accept_connection(listener_.socket.get()).socket;
  if (!caller) return;
  os::Fd leader;
  network_.act_on(place_.leader, [&] {
    leader = os::start_connect(os::parse_address(address_)).socket;
    os::PollSet polls;
    polls.add(leader.get(), false, true);
    polls.wait(base::Clock::now() + std::chrono::seconds(5));
  });
  Connection& connection = connections_.emplace_back();
  connection.up.from = std::move(caller);
  connection.down.from = std::move(leader);
  connection.up.to = &connection.down.from;
  connection.down.to = &connection.up.from;
  connection.up.handshake_bytes = kBytesOfCaller;
  connection.down.handshake_bytes = kBytesOfAnswerer;
  connection.up.is_to_leader = true;
}

// Returns false if the connection has ended.
bool ManInTheMiddle::pass_on(Stream& stream) {
  Bytes bytes(65536);
  const os::Moved moved = os::receive_some(stream.from.get(), bytes);
  bytes.resize(moved.bytes);
  if (only_listens_) {
    const std::scoped_lock lock(mutex_);
    heard_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    send_all(stream.to->get(), bytes);
    return !moved.closed;
  }
  if (changes_suites_ && stream.is_first && !stream.is_to_leader && bytes.size() > kSuiteIndex) {
    bytes[kSuiteIndex] ^= std::byte{1};
  }
  if (!bytes.empty()) stream.is_first = false;
  const std::size_t shaken = std::min(bytes.size(), stream.handshake_bytes);
  send_all(stream.to->get(), std::span(bytes).first(shaken));
  stream.handshake_bytes -= shaken;
  stream.unsent.insert(stream.unsent.end(), bytes.begin() + static_cast<std::ptrdiff_t>(shaken),
                       bytes.end());
  while (stream.unsent.size() >= kLengthBytes) {
    const std::size_t length = base::ByteReader(stream.unsent).read<std::uint32_t>();
    const std::size_t frame_bytes = kLengthBytes + length + kTagBytes;
    if (stream.unsent.size() < frame_bytes) break;
    const auto end = stream.unsent.begin() + static_cast<std::ptrdiff_t>(frame_bytes);
    deliver(stream, Bytes(stream.unsent.begin(), end));
    stream.unsent.erase(stream.unsent.begin(), end);
  }
  return !moved.closed;
}

void ManInTheMiddle::deliver(Stream& stream, Bytes frame) {
  const bool is_here = stream.is_to_leader == is_trick_to_leader_;
  const Trick trick = is_here ? trick_.exchange(Trick::kNone) : Trick::kNone;
  if (trick == Trick::kLeaveOut) return;
  if (trick == Trick::kSwap) {
    stream.kept = std::move(frame);
    return;
  }
  if (trick == Trick::kFlipABit) frame[kLengthBytes] ^= std::byte{1};
  if (trick == Trick::kLengthen) frame[kLengthBytes - 1] = std::byte{0xff};
  send_all(stream.to->get(), frame);
  if (trick == Trick::kRepeat) send_all(stream.to->get(), frame);
  if (!stream.kept.empty()) send_all(stream.to->get(), std::exchange(stream.kept, {}));
}

}  // namespace rota::testing

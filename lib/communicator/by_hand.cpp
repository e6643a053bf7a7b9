// Checks what a person wrote, then meets the others at rank 0.
#include "communicator/by_hand.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "auth/exchange.h"
#include "os/host.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "rendezvous/remote_line.h"

namespace rota {
namespace {

using base::Clock;
using base::TimePoint;
using State = auth::Handshake::State;

constexpr std::size_t kShortestKey = 32;

// Of one collective, where nobody says otherwise.
constexpr std::chrono::seconds kUsualDeadline{60};

// With one call, and between two.
constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kBetweenCalls{50};

[[noreturn]] void throw_invalid(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, "a job by hand: " + text);
}

std::string row_name(const RankTable& table, std::size_t rank) {
  return "rank " + std::to_string(rank) + "'s address '" + table.rows[rank].address + "'";
}

bool is_on_loopback(const std::string& address) {
  const os::Resolved resolved = os::resolve_address(address);
  return resolved.address && resolved.address->is_loopback();
}

// Everybody on this host may know the key of a job that has none.
auth::Key key_of(const JobByHand& job) {
  constexpr std::array<std::byte, kShortestKey> kNoSecret{};
  const auto own = std::as_bytes(std::span(job.key));
  return auth::job_key(job.key.empty() ? std::span<const std::byte>(kNoSecret) : own, "by hand");
}

// Interfaces may not have a name's address, or it may be another one to others: who holds the key
// is let in from everywhere.
os::Listener listen_at(const JobByHand& job, const std::string& address) {
  const os::Resolved own = os::resolve_address(address);
  if (!own.address) throw_invalid("the own address '" + address + "' is unknown: " + own.failure);
  const bool is_name = own.address->host() != os::split_address(address).host;
  const bool everywhere = is_name && !job.key.empty();
  return everywhere ? os::listen_everywhere(*own.address) : os::listen_on(*own.address);
}

// One attempt. Empty, with the reason, where another one may fare better.
std::unique_ptr<rendezvous::Line> call_once(const os::Address& address, auth::Handshake handshake,
                                            TimePoint deadline, std::string& failure) {
  os::Connecting connecting = os::start_connect(address.to_text());
  os::PollSet polls;
  while (!connecting.failure) {
    connecting.failure = os::connect_result(connecting.socket.get());
    if (connecting.failure) break;
    if (!auth::advance(handshake, connecting.socket.get())) {
      connecting.failure = "it closed the connection, as it does when it holds another key";
    } else if (handshake.state() == State::kDone) {
      return std::make_unique<rendezvous::RemoteLine>(std::move(connecting.socket),
                                                      handshake.session_keys());
    } else if (handshake.state() == State::kRefused) {
      throw Error(ErrorCode::kMismatch,
                  "rank 0 does not let rank " + std::to_string(handshake.identity().from) +
                      " in: " + handshake.why(),
                  0);
    } else if (handshake.state() == State::kStranger) {
      connecting.failure = handshake.why();
    } else if (Clock::now() >= deadline) {
      connecting.failure = "it does not answer";
    } else {
      const bool speaks = !handshake.to_send().empty();
      polls.clear();
      polls.add(connecting.socket.get(), !speaks, speaks);
      polls.wait(deadline);
    }
  }
  failure = *connecting.failure;
  return nullptr;
}

std::unique_ptr<rendezvous::Line> call_host(const RankTable& table, std::size_t rank,
                                            const auth::Key& key, TimePoint deadline) {
  const std::string& address = table.rows[0].address;
  const TimePoint start = Clock::now();
  const auth::Identity identity{.channel = auth::Channel::kControl,
                                .epoch = table.epoch,
                                .from = static_cast<std::uint32_t>(rank),
                                .to = 0};
  std::string failure;
  for (;;) {
    const os::Resolved host = os::resolve_address(address);
    failure = host.failure;
    if (host.address) {
      auto line = call_once(*host.address, auth::Handshake::call(key, identity),
                            std::min(deadline, Clock::now() + kPatience), failure);
      if (line) return line;
    }
    if (Clock::now() + kBetweenCalls >= deadline) break;
    std::this_thread::sleep_for(kBetweenCalls);
  }
  throw Error(ErrorCode::kTimeout,
              "rank " + std::to_string(rank) + ": rank 0, where all meet, was not reached at " +
                  address + " within " + base::to_text(Clock::now() - start) + ": " + failure,
              0);
}

std::string told_to(const RankTable& table) {
  std::string text = ", epoch " + std::to_string(table.epoch) + " and the addresses ";
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    text += (rank == 0 ? "" : " ") + table.rows[rank].address;
  }
  return text;
}

}  // namespace

RankTable complete_table(const JobByHand& job) {
  RankTable table = job.table;
  if (table.rows.empty()) throw_invalid("its table has no rows");
  if (table.rows.size() > rendezvous::kMaxWorldSize) throw_invalid("more ranks than 4096");
  if (job.rank >= table.rows.size()) {
    throw_invalid("rank " + std::to_string(job.rank) + " of a table of " +
                  std::to_string(table.rows.size()));
  }
  if (!table.transport.empty() && table.transport != "tcp") {
    throw_invalid("its ranks talk over tcp, not over '" + table.transport + "'");
  }
  if (!job.key.empty() && job.key.size() < kShortestKey) {
    throw_invalid("its key has " + std::to_string(job.key.size()) + " bytes; 32 are the fewest");
  }
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    RankRow& row = table.rows[rank];
    const os::HostAndPort parts = os::split_address(row.address);
    if (parts.port == "0") throw_invalid(row_name(table, rank) + " needs a port");
    if (job.key.empty() && table.rows.size() > 1 && !is_on_loopback(row.address)) {
      throw_invalid(row_name(table, rank) +
                    " can be reached by others, so that the ranks need a key");
    }
    if (row.host.empty()) row.host = parts.host;
    row.local_rank = static_cast<std::size_t>(
        std::count_if(table.rows.begin(), table.rows.begin() + static_cast<std::ptrdiff_t>(rank),
                      [&](const RankRow& before) { return before.host == row.host; }));
  }
  table.transport = table.rows.size() == 1 ? "none" : "tcp";
  if (table.source.empty()) table.source = "a table, by hand";
  return table;
}

Arrival arrive_by_hand(const JobByHand& job, const RankTable& table, TimePoint deadline) {
  const auth::Key key = key_of(job);
  os::Listener listener = listen_at(job, table.rows[job.rank].address);
  std::unique_ptr<rendezvous::Host> host;
  std::unique_ptr<rendezvous::Line> line;
  if (job.rank == 0) {
    rendezvous::Job told{.table = table, .deadline = kUsualDeadline, .lends = false};
    host = std::make_unique<rendezvous::Host>(told, key, std::move(listener.socket));
    line = host->take_line();
  } else {
    line = call_host(table, job.rank, key, deadline);
  }
  return {std::move(host), rendezvous::Client(std::move(line), 0), std::move(listener.socket), key,
          told_to(table)};
}

std::vector<std::string> addresses_above(std::size_t rank, const RankTable& table,
                                         TimePoint deadline) {
  std::vector<std::string> addresses(table.rows.size());
  for (std::size_t peer = rank + 1; peer < addresses.size(); ++peer) {
    for (;;) {
      const os::Resolved resolved = os::resolve_address(table.rows[peer].address);
      if (resolved.address) {
        addresses[peer] = resolved.address->to_text();
        break;
      }
      if (Clock::now() >= deadline) {
        throw Error(ErrorCode::kTimeout,
                    "rank " + std::to_string(rank) + ": " + row_name(table, peer) +
                        " is unknown: " + resolved.failure,
                    peer);
      }
      std::this_thread::sleep_for(kBetweenCalls);
    }
  }
  return addresses;
}

bool may_spin(const RankTable& table, std::size_t rank) {
  const auto together =
      std::count_if(table.rows.begin(), table.rows.end(),
                    [&](const RankRow& row) { return row.host == table.rows[rank].host; });
  return static_cast<std::size_t>(together) <= os::allowed_cpus().size();
}

}  // namespace rota

// Checks what a person wrote, then goes to where the ranks meet.
#include "communicator/by_hand.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/islands.h"
#include "base/transports.h"
#include "communicator/group.h"
#include "names/resolver.h"
#include "os/host.h"
#include "os/listener.h"

namespace rota {
namespace {

[[noreturn]] void throw_invalid(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, "a job by hand: " + text);
}

std::string row_name(const RankTable& table, std::size_t rank) {
  return "rank " + std::to_string(rank) + "'s address '" + table.rows[rank].address + "'";
}

// Everybody on this host may know the key of a job that has none.
auth::Key key_of(const JobByHand& job) {
  constexpr std::array<std::byte, auth::kKeyBytes> kNoSecret{};
  const auto own = std::as_bytes(std::span(job.key));
  return auth::job_key(job.key.empty() ? std::span<const std::byte>(kNoSecret) : own, "by hand");
}

// Of a job without a key, where what a name means now has to stay.
std::string loopback_address(const RankTable& table, std::size_t rank) {
  const names::Answer resolved = names::resolve(table.rows[rank].address);
  if (resolved.addresses.empty()) {
    throw_invalid(row_name(table, rank) + " is unknown: " + resolved.failure);
  }
  if (!resolved.addresses.front().is_loopback()) {
    throw_invalid(row_name(table, rank) +
                  " can be reached by others, so that the ranks need a key");
  }
  return resolved.addresses.front().to_text();
}

void check_row(const RankTable& table, std::size_t rank) {
  const std::string& address = table.rows[rank].address;
  const os::HostAndPort parts = os::split_address(address);
  if (os::parse_address("0.0.0.0:" + parts.port).port() == 0) {
    throw_invalid(row_name(table, rank) + " needs a port");
  }
  if (os::is_numeric(address) && os::parse_address(address).is_any()) {
    throw_invalid(row_name(table, rank) + " is every address: others cannot call it");
  }
}

void check_job(const JobByHand& job) {
  const std::size_t world_size = job.table.rows.size();
  if (world_size == 0) throw_invalid("its table has no rows");
  if (job.rank >= world_size) {
    throw_invalid("rank " + std::to_string(job.rank) + " of a table of " +
                  std::to_string(world_size));
  }
  // They have nothing but the addresses where each listens.
  const std::string& transport = job.table.transport;
  const bool fits =
      base::listens(transport) && base::sharing_over(transport) == base::Sharing::kNone;
  if (!fits && !transport.empty()) {
    throw_invalid("its ranks talk over tcp, not over '" + transport + "'");
  }
  if (!job.key.empty() && job.key.size() < auth::kKeyBytes) {
    throw_invalid("its key has " + std::to_string(job.key.size()) + " bytes; 32 are the fewest");
  }
}

void require_fitting(const RankTable& table) {
  const std::size_t bytes = rendezvous::encode_table(table, {}).size();
  const bool fits = table.rows.size() <= rendezvous::kMaxWorldSize;
  if (fits && bytes <= rendezvous::kMaxTableBytes) return;
  throw_invalid("a table of " + std::to_string(table.rows.size()) + " ranks takes " +
                std::to_string(bytes) + " bytes, and " +
                std::to_string(rendezvous::kMaxTableBytes) + " bytes or " +
                std::to_string(rendezvous::kMaxWorldSize) + " ranks are the most");
}

}  // namespace

RankTable complete_table(const JobByHand& job) {
  check_job(job);
  RankTable table = job.table;
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    check_row(table, rank);
    RankRow& row = table.rows[rank];
    if (row.host.empty()) row.host = os::split_address(row.address).host;
    if (job.key.empty() && table.rows.size() > 1) row.address = loopback_address(table, rank);
    row.local_rank = static_cast<std::size_t>(
        std::count_if(table.rows.begin(), table.rows.begin() + static_cast<std::ptrdiff_t>(rank),
                      [&](const RankRow& before) { return before.host == row.host; }));
  }
  table.transport = base::transport_between(base::each_alone(table.rows.size()));
  if (table.source.empty()) table.source = "a table, by hand";
  require_fitting(table);
  return table;
}

Arrival arrive_by_hand(const CommunicatorOptions& options, const RankTable& table,
                       base::TimePoint deadline) {
  const JobByHand& job = *options.by_hand;
  const auth::Credentials own(key_of(job), options.encrypt);
  os::Listener listener = os::listen_at(table.rows[job.rank].address);
  std::unique_ptr<rendezvous::Host> host;
  std::unique_ptr<rendezvous::Line> line;
  if (job.rank == 0) {
    const rendezvous::Job shared{.table = table,
                                 .incarnation = auth::new_incarnation(),
                                 .deadline = kUsualDeadline,
                                 .encrypts = own.encrypts,
                                 .lends = false};
    host = std::make_unique<rendezvous::Host>(shared, own, std::move(listener.socket));
    line = host->take_line();
  } else {
    line = rendezvous::call_host(table.rows[0].address, own,
                                 {.channel = auth::Channel::kControl,
                                  .epoch = table.epoch,
                                  .from = static_cast<std::uint32_t>(job.rank),
                                  .to = 0},
                                 deadline);
  }
  return {std::move(host), rendezvous::Client(std::move(line), 0), std::move(listener.socket),
          own.key};
}

void compare_tables(std::size_t rank, const RankTable& own, const RankTable& of_rank_0) {
  const auto address = [](const RankTable& table, std::size_t peer) {
    return peer < table.rows.size() ? "'" + table.rows[peer].address + "'" : "no row";
  };
  for (std::size_t peer = 0; peer < std::max(own.rows.size(), of_rank_0.rows.size()); ++peer) {
    const std::string mine = address(own, peer);
    const std::string first = address(of_rank_0, peer);
    if (mine == first) continue;
    throw Error(ErrorCode::kMismatch, "for rank " + std::to_string(peer) + ", rank " +
                                          std::to_string(rank) + " was given " + mine +
                                          ", rank 0 was given " + first);
  }
}

bool may_spin(const RankTable& table, std::size_t rank) {
  const auto together =
      std::count_if(table.rows.begin(), table.rows.end(),
                    [&](const RankRow& row) { return row.host == table.rows[rank].host; });
  return static_cast<std::size_t>(together) <= os::allowed_cpus().size();
}

}  // namespace rota

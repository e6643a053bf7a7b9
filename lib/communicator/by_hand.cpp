// Checks the table that a user wrote, connects to the coordinator, and completes the table.
#include "communicator/by_hand.h"

#include <algorithm>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/domains.h"
#include "base/transports.h"
#include "cluster/host_names.h"
#include "communicator/cards.h"
#include "communicator/find_rank_zero.h"
#include "communicator/first_word.h"
#include "communicator/group.h"
#include "communicator/listening_ports.h"
#include "communicator/local_memory.h"
#include "names/resolver.h"
#include "os/address.h"
#include "os/file.h"
#include "os/host.h"
#include "os/listener.h"
#include "os/patient_listener.h"

namespace rota {
namespace {

[[noreturn]] void throw_invalid(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, "a job started by hand: " + text);
}

std::string row_name(const RankTable& table, std::size_t rank) {
  return "rank " + std::to_string(rank) + "'s address '" + table.rows[rank].address + "'";
}

// Returns the numeric address of a rank in a job without a key. The table stores this address
// instead of a name, so that the meaning cannot change after this check.
std::string loopback_address(const RankTable& table, std::size_t rank) {
  const names::Answer resolved = names::resolve(table.rows[rank].address);
  if (resolved.addresses.empty()) {
    throw_invalid(row_name(table, rank) + " is unknown: " + resolved.failure);
  }
  if (!resolved.addresses.front().is_loopback()) {
    throw_invalid(row_name(table, rank) +
                  " can be reached from other hosts, so the ranks need a key");
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
    throw_invalid(row_name(table, rank) +
                  " means every address, so other ranks cannot connect to it");
  }
}

void check_job(const JobByHand& job) {
  const std::size_t world_size = job.table.rows.size();
  if (world_size == 0) throw_invalid("its table has no rows");
  if (job.rank >= world_size) {
    throw_invalid("rank " + std::to_string(job.rank) + " is outside of a table of " +
                  std::to_string(world_size));
  }
  // Which ranks share memory shows when they meet. Only tcp is possible wherever they are.
  const std::string& transport = job.table.transport;
  const bool fits =
      base::listens(transport) && base::sharing_over(transport) == base::Sharing::kNone;
  if (!fits && !transport.empty()) {
    throw_invalid("its ranks can be told to use the transport tcp, but not '" + transport + "'");
  }
  if (!job.key.empty() && job.key.size() < auth::kKeyBytes) {
    throw_invalid("its key has " + std::to_string(job.key.size()) + " bytes; it needs at least 32");
  }
}

// Checks a job whose ranks meet at an address.
void check_meeting_point(const JobByHand& job) {
  if (!job.key.empty() || job.meeting.starts_with(os::kLocalSign)) return;
  const names::Answer resolved = names::resolve(job.meeting);
  if (!resolved.addresses.empty() && resolved.addresses.front().is_loopback()) return;
  throw_invalid("its ranks meet at " + job.meeting +
                ", which other hosts can reach, so they need a key: set ROTA_KEY_FILE to a file "
                "of 32 random bytes or more, the same on each host; or start the ranks with a "
                "launcher that has a store, such as mpirun, or srun --mpi=pmi2");
}

void require_fitting(const RankTable& table) {
  const std::size_t bytes = rendezvous::encode_table(table, {}).size();
  const bool fits = table.rows.size() <= rendezvous::kMaxWorldSize;
  if (fits && bytes <= rendezvous::kMaxTableBytes) return;
  throw_invalid("a table of " + std::to_string(table.rows.size()) + " ranks takes " +
                std::to_string(bytes) + " bytes; at most " +
                std::to_string(rendezvous::kMaxTableBytes) + " bytes and " +
                std::to_string(rendezvous::kMaxWorldSize) + " ranks are allowed");
}

// Completes the rows of a table that has all addresses.
void complete_rows(const JobByHand& job, RankTable& table) {
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    check_row(table, rank);
    RankRow& row = table.rows[rank];
    if (row.host.empty()) row.host = os::split_address(row.address).host;
    if (job.key.empty() && table.rows.size() > 1) row.address = loopback_address(table, rank);
    row.local_rank = static_cast<std::size_t>(
        std::count_if(table.rows.begin(), table.rows.begin() + static_cast<std::ptrdiff_t>(rank),
                      [&](const RankRow& before) { return before.host == row.host; }));
  }
}

// Listens at an address that the other ranks know. Tries for some seconds, since a job that has
// just been killed may still hold the port.
os::Listener listen_at_known_address(const std::string& address, std::size_t rank,
                                     base::TimePoint deadline) {
  const auto patience = std::clamp<base::Duration>(deadline - base::Clock::now(),
                                                   base::Duration::zero(), os::kHeldTime);
  const auto listen = [&] { return os::listen_at(address); };
  try {
    return os::listen_patiently(listen, patience);
  } catch (const os::AddressInUse& error) {
    const bool is_port = !address.starts_with(os::kLocalSign);
    throw Error(ErrorCode::kSystem,
                "rank " + std::to_string(rank) + ": " + error.what() +
                    ": other ranks must reach this rank there; end the process that has this " +
                    (is_port ? "port, or give the ranks another one (MASTER_PORT or ROTA_PORTS, or "
                               "the table of addresses)"
                             : "name"));
  }
}

Arrival arrive_as_rank_0(const RankTable& table, const auth::Credentials& own, os::Fd listener) {
  const rendezvous::Job shared{.table = table,
                               .incarnation = auth::new_incarnation(),
                               .deadline = kUsualDeadline,
                               .encrypts = own.encrypts,
                               .hands_descriptors = false};
  auto coordinator =
      std::make_unique<rendezvous::CoordinatorThread>(shared, own, std::move(listener));
  auto connection = coordinator->take_connection();
  return {.coordinator = std::move(coordinator),
          .client = rendezvous::Client(std::move(connection), 0),
          .listener = {},
          .key = own.key};
}

Arrival arrive_at(const std::vector<std::string>& places, std::size_t rank, const RankTable& table,
                  const auth::Credentials& own, base::TimePoint deadline) {
  auto connection = rendezvous::call_coordinator(places, own,
                                                 {.kind = auth::ConnectionKind::kControl,
                                                  .epoch = table.epoch,
                                                  .from = static_cast<std::uint32_t>(rank),
                                                  .to = 0},
                                                 deadline);
  std::string own_host = os::local_address(connection->fd()).host();
  std::string rank_0_host = os::peer_address(connection->fd()).host();
  return {.coordinator = nullptr,
          .client = rendezvous::Client(std::move(connection), 0),
          .listener = {},
          .key = own.key,
          .own_host = std::move(own_host),
          .rank_0_host = std::move(rank_0_host)};
}

Arrival arrive_by_table(const CommunicatorOptions& options, const RankTable& table,
                        base::TimePoint deadline) {
  const JobByHand& job = *options.by_hand;
  const auth::Credentials own(own_key(job), options.encrypt);
  os::Listener listener = listen_at_known_address(table.rows[job.rank].address, job.rank, deadline);
  if (job.rank == 0) return arrive_as_rank_0(table, own, std::move(listener.socket));
  Arrival arrival = arrive_at({table.rows[0].address}, job.rank, table, own, deadline);
  arrival.listener = std::move(listener.socket);
  return arrival;
}

Arrival arrive_at_meeting_point(const CommunicatorOptions& options, const RankTable& table,
                                base::TimePoint deadline) {
  const JobByHand& job = *options.by_hand;
  const auth::Credentials own(own_key(job), options.encrypt);
  if (job.rank > 0) return arrive_at({job.meeting}, job.rank, table, own, deadline);
  os::Listener listener = listen_at_known_address(job.meeting, 0, deadline);
  return arrive_as_rank_0(table, own, std::move(listener.socket));
}

// Opens a listening socket for other ranks on a rank that has none yet. Returns its address. The
// ranks of rank 0's machine, which reach it over loopback, use the address of rank 0.
std::string listen_with_address(const std::vector<Card>& cards,
                                const std::optional<base::PortRange>& ports, Arrival& arrival) {
  const std::string host =
      can_be_used_elsewhere(arrival.own_host) ? arrival.own_host : host_of_rank_0(cards);
  os::Listener listener = listen_as_any_rank(host, ports);
  arrival.listener = std::move(listener.socket);
  return listener.address;
}

// Returns the form in which two addresses are compared: the name of the host, and the port.
std::string address_to_compare(const std::string& address) {
  const std::size_t colon = std::min(address.rfind(':'), address.size());
  return cluster::to_compare(address.substr(0, colon)) + address.substr(colon);
}

}  // namespace

RankTable complete_table(const JobByHand& job) {
  check_job(job);
  RankTable table = job.table;
  if (table.source.empty()) table.source = "a table given by hand";
  if (job.meeting.empty()) {
    complete_rows(job, table);
  } else if (table.rows.size() > 1 && !meet_through_store(job)) {
    check_meeting_point(job);
  }
  if (table.rows.size() == 1) table.transport = base::kNoTransport;
  require_fitting(table);
  return table;
}

bool meet_through_store(const JobByHand& job) noexcept { return is_store(job.meeting); }

Arrival arrive_through_store(const JobByHand& job, stores::Store& store, bool encrypts,
                             const std::optional<base::PortRange>& ports,
                             base::TimePoint deadline) {
  FoundRankZero found = find_rank_zero(job, store, ports, deadline);
  const auth::Credentials own(found.key, encrypts);
  if (job.rank == 0) return arrive_as_rank_0(job.table, own, std::move(found.listener));
  return arrive_at(found.places, job.rank, job.table, own, deadline);
}

Arrival arrive_by_hand(const CommunicatorOptions& options, const RankTable& table,
                       base::TimePoint deadline) {
  const JobByHand& job = *options.by_hand;
  if (job.meeting.empty()) return arrive_by_table(options, table, deadline);
  const auto ports = listening_ports(options);  // A bad range ends all ranks before they meet.
  if (!meet_through_store(job)) return arrive_at_meeting_point(options, table, deadline);
  const auto store = open_store(job, deadline);
  JobByHand complete = job;
  complete.table = table;
  return arrive_through_store(complete, *store, options.encrypt, ports, deadline);
}

void meet_others(rendezvous::Client::Welcome& welcome, Arrival& arrival,
                 const CommunicatorOptions& options, const std::function<void()>& look_around,
                 base::TimePoint deadline) {
  rendezvous::Job& job = welcome.job;
  RankTable& table = job.table;
  const std::size_t count = table.rows.size();
  const auto tell = [&](const std::string& topic, const std::string& own) {
    return exchange(arrival.client, job.rank, count, topic, own, deadline);
  };
  LocalMeeting here;
  const Card own{
      .domain = os::machine_id() + "/" + std::to_string(os::own_user()) + "/" + own_memory_layout(),
      .host = os::host_name(),
      .local_name = here.name(),
      .rank_0_host = arrival.rank_0_host,
      .cpus = cpu_bits(os::allowed_cpus())};
  std::vector<Card> cards;
  for (const std::string& text : tell("cards", encode(own))) cards.push_back(decode_card(text));

  const bool has_addresses = !table.rows.front().address.empty();
  if (!has_addresses) add_hosts(cards, table);
  job.may_spin = may_spin(cards, job.rank);
  if (arrival.make_transport) return;
  job.domains = table.transport.empty() ? domains_of(cards) : base::each_alone(count);
  table.transport = base::transport_between(job.domains);
  const auto local_peers = base::domain_of(job.domains, job.rank);
  if (local_peers.size() > 1) {
    welcome.fds = here.share_arenas(local_peers, job.rank, cards[local_peers.front()].local_name,
                                    look_around, deadline);
  }
  if (has_addresses || !base::listens(table.transport)) return;
  const auto addresses =
      tell("addresses", listen_with_address(cards, listening_ports(options), arrival));
  for (std::size_t rank = 0; rank < count; ++rank) table.rows[rank].address = addresses[rank];
}

// The tables of two ranks may spell the name of a host in two ways.
void compare_tables(std::size_t rank, const RankTable& own, const RankTable& of_rank_0) {
  const auto has_same = [&](std::size_t peer) {
    return peer < own.rows.size() && peer < of_rank_0.rows.size() &&
           address_to_compare(own.rows[peer].address) ==
               address_to_compare(of_rank_0.rows[peer].address);
  };
  const auto address = [](const RankTable& table, std::size_t peer) {
    return peer < table.rows.size() ? "'" + table.rows[peer].address + "'" : "no row";
  };
  for (std::size_t peer = 0; peer < std::max(own.rows.size(), of_rank_0.rows.size()); ++peer) {
    if (has_same(peer)) continue;
    throw Error(ErrorCode::kMismatch, "the tables differ for rank " + std::to_string(peer) +
                                          ": rank " + std::to_string(rank) + " has " +
                                          address(own, peer) + ", but rank 0 has " +
                                          address(of_rank_0, peer));
  }
}

}  // namespace rota

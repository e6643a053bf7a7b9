// Each new rank prepares its end, tells all where that is, and takes hold of the others'.
#include "communicator/found.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/islands.h"
#include "communicator/thread_world.h"
#include "os/host.h"
#include "os/listener.h"
#include "os/shared_memory.h"
#include "transport/mixed_transport.h"
#include "transport/shm/transport.h"
#include "transport/tcp/connect.h"
#include "transport/tcp/transport.h"

namespace rota {
namespace {

using collectives::Collective;

// Where a new rank can be met.
struct Ticket {
  std::uint64_t arena = 0;  // By its mates: an index, and offsets in it.
  std::uint64_t mailboxes = 0;
  std::uint64_t control = 0;
  std::uint64_t port = 0;             // By others, over TCP.
  std::array<std::byte, 16> nonce{};  // Makes a key of the new ranks' own.
};

// Every rank's objects in rank order; rank r gives counts[r] of them.
template <class T>
std::vector<T> all_gather(CommunicatorImpl& parent, std::span<const T> own,
                          std::vector<std::size_t> counts) {
  std::size_t total = 0;
  for (std::size_t& count : counts) {
    total += count;
    count *= sizeof(T);
  }
  std::vector<T> all(total);
  parent.wait(parent.submit({.collective = Collective::kAllGather,
                             .values = std::as_writable_bytes(std::span(all)),
                             .input = std::as_bytes(own),
                             .uneven = true,
                             .counts = counts}));
  return all;
}

// The memory that a new rank has a part in.
struct Ground {
  std::shared_ptr<transport::shm::Domain> domain;
  std::shared_ptr<memory::Arena> arena;
  std::size_t index = 0;  // Of the arena in the domain.
};

// What this process has a part in already; empty where no other rank reaches its memory.
std::optional<Ground> ground_of(transport::Transport* transport) {
  auto* memory = dynamic_cast<transport::shm::Transport*>(transport);
  if (auto* mixed = dynamic_cast<transport::MixedTransport*>(transport)) {
    memory = &mixed->inside();
  }
  if (!memory) return std::nullopt;
  return Ground{memory->domain(), memory->arena(), memory->arena_index()};
}

// For threads that nobody else shares memory with.
std::vector<Ground> new_grounds(std::size_t count) {
  const std::size_t bytes = thread_arena_bytes(count);
  std::vector<os::Fd> arenas;
  for (std::size_t i = 0; i < count; ++i) {
    arenas.push_back(os::make_shared_memory("rota-thread-" + std::to_string(i), bytes));
  }
  const auto domain = std::make_shared<transport::shm::Domain>(std::move(arenas));
  std::vector<Ground> grounds;
  for (std::size_t i = 0; i < count; ++i) {
    grounds.push_back({domain, transport::shm::open_arena(domain, i), i});
  }
  return grounds;
}

// Who is to sit where, and what this process has for its own seats. New ranks share memory where
// the parent's do, and where they are threads of one process.
class Founding {
 public:
  // `seats`: the parent's rank at each new rank.
  Founding(CommunicatorImpl& parent, std::vector<std::size_t> seats, std::string name)
      : parent_(parent), seats_(std::move(seats)), name_(std::move(name)) {
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      if (seats_[rank] == parent_.group().rank) own_.push_back(rank);
      islands_.push_back(parent_.group().islands[seats_[rank]]);
    }
    transport_ = base::transport_between(islands_);
  }

  // `ticket_counts`: how many each rank of the parent has to give, whatever group they are for.
  std::vector<Group> run(const std::vector<std::size_t>& ticket_counts) {
    const auto all = all_gather<Ticket>(parent_, issue_all(), ticket_counts);
    std::vector<std::size_t> next(ticket_counts.size());
    for (std::size_t rank = 1; rank < next.size(); ++rank) {
      next[rank] = next[rank - 1] + ticket_counts[rank - 1];
    }
    for (const std::size_t seat : seats_) tickets_.push_back(all[next[seat]++]);

    std::vector<Group> groups;
    for (const std::size_t rank : own_) groups.push_back(describe(rank));
    try {
      if (seats_.size() > 1) connect(groups);
    } catch (const Error& error) {
      tell_all(error);
      throw;
    }
    return groups;
  }

 private:
  // Others wait for this rank, here and at the parent. Blamed is a new rank.
  void tell_all(const Error& error) const {
    if (!old().membership) return;
    std::optional<std::size_t> member;
    if (error.blamed_rank()) member = old().members[seats_[*error.blamed_rank()]];
    old().membership->abort(error.code(), member, error.what());
  }

  const Group& old() const { return parent_.group(); }
  bool has_mates(std::size_t rank) const { return base::island_of(islands_, rank).size() > 1; }

  // As a person wrote it or the launcher chose it; a world of one has none.
  std::string address_of(std::size_t seat, std::uint16_t port) const {
    const std::string& address = old().table.rows[seat].address;
    return os::with_port(address.empty() ? "127.0.0.1:0" : address, port);
  }

  std::vector<Ticket> issue_all() {
    std::vector<Ticket> tickets;
    try {
      if (!own_.empty() && has_mates(own_.front())) {
        const auto ground = ground_of(old().transport.get());
        grounds_ = ground ? std::vector<Ground>(own_.size(), *ground) : new_grounds(own_.size());
      }
      for (std::size_t i = 0; i < own_.size(); ++i) tickets.push_back(issue(i));
    } catch (const Error& error) {
      tell_all(error);
      throw;
    }
    return tickets;
  }

  // For the own seat `i`.
  Ticket issue(std::size_t i) {
    Ticket ticket;
    if (!grounds_.empty()) {
      const Ground& ground = grounds_[i];
      const std::byte* base = ground.domain->bytes(ground.index).data();
      const auto place = [&](std::size_t bytes) {
        return static_cast<std::uint64_t>(ground.arena->take(bytes).data() - base);
      };
      ticket.arena = ground.index;
      const std::size_t mates = base::island_of(islands_, own_[i]).size();
      ticket.mailboxes = place(mates * sizeof(transport::shm::Mailbox));
      ticket.control = place(sizeof(transport::shm::ControlPage));
    }
    if (!base::goes_over_tcp(transport_)) return ticket;
    listeners_.push_back(os::listen_at(address_of(old().rank, 0)));
    ticket.port = os::parse_address(listeners_.back().address).port();
    os::fill_with_randomness(ticket.nonce);
    return ticket;
  }

  Group describe(std::size_t rank) const {
    Group group;
    group.name = name_;
    group.rank = rank;
    group.table = old().table;
    group.table.transport = transport_;
    group.table.rows.clear();
    group.islands = islands_;
    for (std::size_t seat = 0; seat < seats_.size(); ++seat) {
      RankRow row = old().table.rows[seats_[seat]];
      row.local_rank = static_cast<std::size_t>(
          std::count_if(group.table.rows.begin(), group.table.rows.end(),
                        [&](const RankRow& before) { return before.host == row.host; }));
      const auto port = static_cast<std::uint16_t>(tickets_[seat].port);
      row.address = port == 0 ? "" : address_of(seats_[seat], port);
      group.table.rows.push_back(row);
      group.members.push_back(old().members[seats_[seat]]);
    }
    const auto& nonce = tickets_.front().nonce;
    group.key = auth::job_key(old().key.bytes(),
                              {reinterpret_cast<const char*>(nonce.data()), nonce.size()});
    group.encrypts = old().encrypts;
    group.deadline = old().deadline;
    group.may_spin = old().may_spin && own_.size() == 1;
    group.verbose = old().verbose;
    group.tuned = old().tuned;
    group.membership = old().membership;
    return group;
  }

  void connect(std::vector<Group>& groups) {
    if (!base::goes_over_tcp(transport_)) {
      for (std::size_t i = 0; i < groups.size(); ++i) groups[i].transport = meet_in_memory(i);
      return;
    }
    // Side by side, for they may have to call each other.
    std::vector<std::exception_ptr> failures(groups.size());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      threads.emplace_back([this, &failures, &groups, i] {
        try {
          groups[i].transport = meet_over_tcp(groups[i], i);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
    threads.clear();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  // These are for the own seat `i`.
  std::unique_ptr<transport::shm::Transport> meet_in_memory(std::size_t i) const {
    const std::size_t rank = own_[i];
    transport::shm::Meeting meeting{.names = base::island_of(islands_, rank)};
    for (const std::size_t mate : meeting.names) {
      meeting.arenas.push_back(tickets_[mate].arena);
      meeting.mailboxes.push_back(tickets_[mate].mailboxes);
      meeting.controls.push_back(tickets_[mate].control);
    }
    const std::size_t place = base::place_among(meeting.names, rank);
    return std::make_unique<transport::shm::Transport>(grounds_[i].domain, grounds_[i].arena, place,
                                                       meeting);
  }

  std::unique_ptr<transport::Transport> meet_over_tcp(const Group& group, std::size_t i) const {
    transport::tcp::ConnectOptions options{.rank = group.rank,
                                           .addresses = {},
                                           .key = group.key,
                                           .encrypts = group.encrypts,
                                           .epoch = group.table.epoch};
    if (group.membership) {
      options.look_around = [&group] { look_around(group); };
      options.report_wait = [&group](std::size_t peer) {
        group.membership->report_waiting(group.members[peer], {}, {});
      };
    }
    for (const RankRow& row : group.table.rows) options.addresses.push_back(row.address);
    auto streams = transport::tcp::connect_all(options, listeners_[i].socket.get(),
                                               base::Clock::now() + group.deadline);
    if (group.membership) group.membership->report_resumed();
    if (grounds_.empty()) {
      return std::make_unique<transport::tcp::Transport>(std::move(streams));
    }
    return std::make_unique<transport::MixedTransport>(
        meet_in_memory(i), base::island_of(islands_, own_[i]), std::move(streams));
  }

  static void look_around(const Group& group) {
    if (const auto cause = group.membership->hear()) throw Error(*cause);
    for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
      if (const auto how = group.membership->departure(group.members[rank])) {
        throw Error(ErrorCode::kPeerLost,
                    "rank " + std::to_string(rank) + " " + *how + " before it was met", rank);
      }
    }
  }

  CommunicatorImpl& parent_;
  std::vector<std::size_t> seats_;
  std::string name_;
  base::Islands islands_;                // By new rank.
  std::string transport_;                // Of the new group, as its table calls it.
  std::vector<std::size_t> own_;         // New ranks of this process,
  std::vector<Ground> grounds_;          // and by these, unless they have no mates;
  std::vector<os::Listener> listeners_;  // unless memory is all they need.
  std::vector<Ticket> tickets_;          // By new rank.
};

}  // namespace

Group split_group(CommunicatorImpl& parent, std::size_t color, std::size_t key) {
  struct Wish {
    std::uint64_t color;
    std::uint64_t key;
  };
  const std::size_t n = parent.group().world_size();
  const std::vector<std::size_t> one_each(n, 1);
  const Wish mine{color, key};
  const auto wishes = all_gather<Wish>(parent, std::span(&mine, 1), one_each);
  std::vector<std::size_t> seats;
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (wishes[rank].color == color) seats.push_back(rank);
  }
  std::stable_sort(seats.begin(), seats.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a].key < wishes[b].key; });
  const std::string name =
      parent.group().name + "." + std::to_string(parent.next_child()) + "/" + std::to_string(color);
  return std::move(Founding(parent, std::move(seats), name).run(one_each).front());
}

std::vector<Group> groups_for_threads(CommunicatorImpl& parent, std::size_t thread_count) {
  const std::size_t n = parent.group().world_size();
  const auto mine = static_cast<std::uint64_t>(thread_count);
  const auto said =
      all_gather<std::uint64_t>(parent, std::span(&mine, 1), std::vector<std::size_t>(n, 1));
  const std::vector<std::size_t> counts(said.begin(), said.end());
  std::vector<std::size_t> seats;
  for (std::size_t rank = 0; rank < n; ++rank) seats.insert(seats.end(), counts[rank], rank);
  const std::string name = parent.group().name + "." + std::to_string(parent.next_child());
  return Founding(parent, std::move(seats), name).run(counts);
}

}  // namespace rota

// Each new rank prepares its end, tells all where that is, and takes hold of the others'.
#include "communicator/found.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "os/host.h"
#include "os/listener.h"
#include "transport/shm/transport.h"
#include "transport/tcp/connect.h"
#include "transport/tcp/transport.h"

namespace rota {
namespace {

using collectives::Collective;

// Where a new rank can be met.
struct Ticket {
  std::uint64_t arena = 0;  // Shared memory: an index, and offsets in it.
  std::uint64_t mailboxes = 0;
  std::uint64_t control = 0;
  std::uint64_t port = 0;             // TCP.
  std::array<std::byte, 16> nonce{};  // Makes a key of the new ranks' own.
};

// Every rank's objects in rank order; rank r gives counts[r] of them.
template <class T>
std::vector<T> all_gather(Communicator::Impl& parent, std::span<const T> own,
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

// Who is to sit where, and what this process has for its own seats.
class Founding {
 public:
  // `seats`: the parent's rank at each new rank.
  Founding(Communicator::Impl& parent, std::vector<std::size_t> seats, std::string name)
      : parent_(parent), seats_(std::move(seats)), name_(std::move(name)) {
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      if (seats_[rank] == parent_.group().rank) own_.push_back(rank);
    }
  }

  // `ticket_counts`: how many each rank of the parent has to give, whatever group they are for.
  std::vector<Group> run(const std::vector<std::size_t>& ticket_counts) {
    std::vector<Ticket> mine;
    for (std::size_t i = 0; i < own_.size(); ++i) mine.push_back(issue());
    const auto all = all_gather<Ticket>(parent_, mine, ticket_counts);
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
      tell_all(error, groups.front());
      throw;
    }
    return groups;
  }

 private:
  // Others wait for this rank, here and at the parent.
  void tell_all(const Error& error, const Group& group) const {
    if (!group.membership) return;
    std::optional<std::size_t> member;
    if (error.blamed_rank()) member = group.members[*error.blamed_rank()];
    group.membership->abort(error.code(), member, error.what());
  }

  const Group& old() const { return parent_.group(); }
  transport::shm::Transport* shared_memory() const {
    return dynamic_cast<transport::shm::Transport*>(old().transport.get());
  }

  // As a person wrote it or the launcher chose it; a world of one has none.
  std::string address_of(std::size_t seat, std::uint16_t port) const {
    const std::string& address = old().table.rows[seat].address;
    return os::with_port(address.empty() ? "127.0.0.1:0" : address, port);
  }

  Ticket issue() {
    Ticket ticket;
    if (seats_.size() == 1) return ticket;
    if (auto* memory = shared_memory()) {
      const std::byte* base = memory->domain()->bytes(memory->arena_index()).data();
      const auto place = [&](std::size_t bytes) {
        return static_cast<std::uint64_t>(memory->arena()->take(bytes).data() - base);
      };
      ticket.arena = memory->arena_index();
      ticket.mailboxes = place(seats_.size() * sizeof(transport::shm::Mailbox));
      ticket.control = place(sizeof(transport::shm::ControlPage));
      return ticket;
    }
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
    group.table.rows.clear();
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
    if (shared_memory()) {
      for (Group& group : groups) group.transport = meet_in_memory(group.rank);
      return;
    }
    // Side by side, for they may have to call each other.
    std::vector<std::exception_ptr> failures(groups.size());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      threads.emplace_back([this, &failures, &groups, i] {
        try {
          groups[i].transport = meet_over_tcp(groups[i], listeners_[i].socket.get());
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

  std::unique_ptr<transport::Transport> meet_in_memory(std::size_t rank) const {
    const auto* memory = shared_memory();
    transport::shm::Meeting meeting;
    for (const Ticket& ticket : tickets_) {
      meeting.arenas.push_back(ticket.arena);
      meeting.mailboxes.push_back(ticket.mailboxes);
      meeting.controls.push_back(ticket.control);
    }
    return std::make_unique<transport::shm::Transport>(memory->domain(), memory->arena(), rank,
                                                       meeting);
  }

  std::unique_ptr<transport::Transport> meet_over_tcp(const Group& group, int listener) const {
    transport::tcp::ConnectOptions options{.rank = group.rank,
                                           .addresses = {},
                                           .key = group.key,
                                           .encrypts = group.encrypts,
                                           .epoch = group.table.epoch,
                                           .look_around = [&group] { look_around(group); }};
    for (const RankRow& row : group.table.rows) options.addresses.push_back(row.address);
    return std::make_unique<transport::tcp::Transport>(
        transport::tcp::connect_all(options, listener, base::Clock::now() + group.deadline));
  }

  static void look_around(const Group& group) {
    if (!group.membership) return;
    if (const auto cause = group.membership->hear()) throw Error(*cause);
    for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
      if (const auto how = group.membership->departure(group.members[rank])) {
        throw Error(ErrorCode::kPeerLost,
                    "rank " + std::to_string(rank) + " " + *how + " before it was met", rank);
      }
    }
  }

  Communicator::Impl& parent_;
  std::vector<std::size_t> seats_;
  std::string name_;
  std::vector<std::size_t> own_;  // New ranks of this process.
  std::vector<Ticket> tickets_;   // By new rank.
  std::vector<os::Listener> listeners_;
};

}  // namespace

Group split_group(Communicator::Impl& parent, std::size_t color, std::size_t key) {
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

std::vector<Group> groups_for_threads(Communicator::Impl& parent, std::size_t thread_count) {
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

// Two ranks of a new group share memory if they share memory in the parent group, or if they are
// threads of one process.
#include "transport/domain_fabric.h"

#include <atomic>
#include <exception>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "base/port_range.h"
#include "base/transports.h"
#include "os/address.h"
#include "os/listener.h"
#include "os/system_error.h"
#include "transport/mixed_transport.h"
#include "transport/shm/domain.h"
#include "transport/tcp/connect.h"
#include "transport/tcp/transport.h"

namespace rota::transport {
namespace {

// The memory that a rank shares.
struct Ground {
  std::shared_ptr<shm::Domain> domain;
  std::shared_ptr<memory::Arena> arena;
  std::size_t index = 0;  // Index of the arena in the domain.
};

// Makes memory for threads. No other process shares this memory.
std::vector<Ground> new_grounds(std::size_t count) {
  const auto domain = shm::make_thread_arenas(count, shm::thread_arena_bytes(count));
  std::vector<Ground> grounds;
  for (std::size_t i = 0; i < count; ++i) {
    grounds.push_back({domain, shm::open_arena(domain, i), i});
  }
  return grounds;
}

// Returns the index of a rank's arena, and the offsets of its mailboxes and its control page there.
std::array<std::uint64_t, 3> take_place(const Ground& ground, std::size_t local_peer_count) {
  const std::byte* base = ground.domain->bytes(ground.index).data();
  const auto take = [&](std::size_t bytes) {
    return static_cast<std::uint64_t>(ground.arena->take(bytes).data() - base);
  };
  const std::uint64_t mailboxes = take(local_peer_count * sizeof(shm::Mailbox));
  return {ground.index, mailboxes, take(sizeof(shm::ControlPage))};
}

// Starts a thread that calls work(i). Throws Error kSystem.
template <class Work>
std::jthread start(const Work& work, std::size_t i) {
  try {
    return std::jthread(work, i);
  } catch (const std::system_error& error) {
    os::throw_cannot_start("starting a thread for connecting", error.code().value());
  }
}

class DomainFabric final : public Fabric {
 public:
  DomainFabric(GroupShape shape, const shm::Transport* inside) : shape_(std::move(shape)) {
    if (inside) ground_ = {inside->domain(), inside->arena(), inside->arena_index()};
  }

  std::vector<Ticket> issue(const std::string& address) override {
    const std::size_t count = shape_.own.size();
    if (count == 0) return {};
    const std::size_t local_peer_count =
        domain_of_own(0).size();  // Ranks of one process are local peers.
    if (local_peer_count > 1) {
      grounds_ = ground_.arena ? std::vector<Ground>(count, ground_) : new_grounds(count);
    }
    std::vector<Ticket> tickets(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!grounds_.empty()) tickets[i].place = take_place(grounds_[i], local_peer_count);
      if (local_peer_count == shape_.domains.size()) continue;
      listeners_.push_back(listen(address));
      tickets[i].port = os::parse_address(listeners_.back().address).port();
    }
    return tickets;
  }

  std::vector<std::unique_ptr<Transport>> connect(std::span<const Ticket> tickets,
                                                  const CallTerms& terms,
                                                  base::TimePoint deadline) override {
    if (!listeners_.empty()) return connect_side_by_side(tickets, terms, deadline);
    std::vector<std::unique_ptr<Transport>> transports;
    transports.reserve(shape_.own.size());
    for (std::size_t i = 0; i < shape_.own.size(); ++i) {
      transports.push_back(connect(i, tickets, terms, deadline));
    }
    return transports;
  }

 private:
  // A firewall between hosts may let only the ports of the range through.
  os::Listener listen(const std::string& address) const {
    if (!shape_.ports) return os::listen_at(address);
    const auto [first, last] = *shape_.ports;
    os::PassedPorts passed;
    auto listener = os::listen_between(address, first + 1U, last, passed);
    if (listener) return std::move(*listener);
    if (!shape_.is_between_hosts) return os::listen_at(address);
    const std::string host = address.substr(0, address.rfind(':'));
    throw Error(ErrorCode::kSystem,
                base::text_of_no_free_port(*shape_.ports, 1, host, passed.trouble));
  }

  // `i` is an index in `shape_.own`, here and in the next functions.
  std::vector<std::size_t> domain_of_own(std::size_t i) const {
    return base::domain_of(shape_.domains, shape_.own[i]);
  }

  // Connects in parallel, because the ranks may have to connect to each other. The first rank that
  // fails ends the attempts of the others.
  std::vector<std::unique_ptr<Transport>> connect_side_by_side(std::span<const Ticket> tickets,
                                                               const CallTerms& terms,
                                                               base::TimePoint deadline) const {
    std::vector<std::unique_ptr<Transport>> transports(shape_.own.size());
    std::atomic_flag has_failed;
    std::exception_ptr failure;
    CallTerms own = terms;
    own.look_around = [&] {
      if (has_failed.test())
        throw Error(ErrorCode::kAborted, "another rank of this process was not connected");
      if (terms.look_around) terms.look_around();
    };
    const auto attempt = [&](const auto& work) noexcept {
      try {
        work();
      } catch (...) {
        if (!has_failed.test_and_set()) failure = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> threads;
      const auto connect_one = [&](std::size_t i) {
        attempt([&] { transports[i] = connect(i, tickets, own, deadline); });
      };
      attempt([&] {
        for (std::size_t i = 1; i < transports.size(); ++i)
          threads.push_back(start(connect_one, i));
      });
      connect_one(0);
    }
    if (failure) std::rethrow_exception(failure);
    return transports;
  }

  std::unique_ptr<Transport> connect(std::size_t i, std::span<const Ticket> tickets,
                                     const CallTerms& terms, base::TimePoint deadline) const {
    const std::vector<std::size_t> local_peers = domain_of_own(i);
    if (local_peers.size() == shape_.domains.size()) return meet(i, local_peers, tickets);
    const int listener = listeners_[i].socket.get();
    auto streams = tcp::connect_all(shape_.own[i], terms, listener, deadline);
    if (local_peers.size() == 1) {
      return std::make_unique<tcp::Transport>(std::move(streams),
                                              base::transport_between(shape_.domains));
    }
    return std::make_unique<MixedTransport>(meet(i, local_peers, tickets), local_peers,
                                            std::move(streams));
  }

  std::unique_ptr<shm::Transport> meet(std::size_t i, const std::vector<std::size_t>& local_peers,
                                       std::span<const Ticket> tickets) const {
    shm::GroupLayout layout{.names = local_peers};
    for (const std::size_t local_peer : local_peers) {
      const auto& [arena, mailboxes, control] = tickets[local_peer].place;
      const std::size_t count = grounds_[i].domain->world_size();
      if (arena >= count) {
        throw Error(ErrorCode::kMismatch, "rank " + std::to_string(local_peer) + " names arena " +
                                              std::to_string(arena) + " of " +
                                              std::to_string(count) + " shared arenas");
      }
      layout.arenas.push_back(static_cast<std::size_t>(arena));
      layout.mailboxes.push_back(mailboxes);
      layout.controls.push_back(control);
    }
    const std::size_t place = base::index_in(local_peers, shape_.own[i]);
    return std::make_unique<shm::Transport>(grounds_[i].domain, grounds_[i].arena, place, layout);
  }

  GroupShape shape_;
  Ground ground_;                        // The memory that this process already shares.
  std::vector<Ground> grounds_;          // Index as in `shape_.own`; empty without local peers.
  std::vector<os::Listener> listeners_;  // Index as in `shape_.own`; empty if all share memory.
};

}  // namespace

std::unique_ptr<Fabric> fabric_of_threads(const GroupShape& shape) {
  return domain_fabric(shape, nullptr);
}

std::unique_ptr<Fabric> domain_fabric(const GroupShape& shape, const shm::Transport* inside) {
  return std::make_unique<DomainFabric>(shape, inside);
}

std::vector<std::unique_ptr<Transport>> join_threads(std::size_t count, std::size_t bytes) {
  const auto domain =
      shm::make_thread_arenas(count, bytes == 0 ? shm::thread_arena_bytes(count) : bytes);
  std::vector<std::size_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::unique_ptr<Transport>> transports;
  transports.reserve(count);
  for (const std::size_t rank : ranks) {
    transports.push_back(std::make_unique<shm::Transport>(domain, rank, ranks));
  }
  return transports;
}

}  // namespace rota::transport

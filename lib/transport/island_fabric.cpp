// New ranks share memory where the ranks that found them do, and where they are threads of one
// process.
#include "transport/island_fabric.h"

#include <atomic>
#include <exception>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/transports.h"
#include "os/address.h"
#include "os/listener.h"
#include "transport/mixed_transport.h"
#include "transport/shm/domain.h"
#include "transport/tcp/connect.h"
#include "transport/tcp/transport.h"

namespace rota::transport {
namespace {

// The memory that a rank has a part in.
struct Ground {
  std::shared_ptr<shm::Domain> domain;
  std::shared_ptr<memory::Arena> arena;
  std::size_t index = 0;  // Of the arena in the domain.
};

// For threads that nobody else shares memory with.
std::vector<Ground> new_grounds(std::size_t count) {
  const auto domain = shm::make_thread_arenas(count, shm::thread_arena_bytes(count));
  std::vector<Ground> grounds;
  for (std::size_t i = 0; i < count; ++i) {
    grounds.push_back({domain, shm::open_arena(domain, i), i});
  }
  return grounds;
}

// The arena of a rank, and where in it are its mailboxes and its control page.
std::array<std::uint64_t, 3> take_place(const Ground& ground, std::size_t mate_count) {
  const std::byte* base = ground.domain->bytes(ground.index).data();
  const auto take = [&](std::size_t bytes) {
    return static_cast<std::uint64_t>(ground.arena->take(bytes).data() - base);
  };
  const std::uint64_t mailboxes = take(mate_count * sizeof(shm::Mailbox));
  return {ground.index, mailboxes, take(sizeof(shm::ControlPage))};
}

// Throws Error kSystem.
template <class Work>
std::jthread start(const Work& work, std::size_t i) {
  try {
    return std::jthread(work, i);
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kSystem, std::string("no thread to connect with: ") + error.what());
  }
}

class IslandFabric final : public Fabric {
 public:
  IslandFabric(Site site, const shm::Transport* inside) : site_(std::move(site)) {
    if (inside) ground_ = {inside->domain(), inside->arena(), inside->arena_index()};
  }

  std::vector<Ticket> issue(const std::string& address) override {
    const std::size_t count = site_.own.size();
    if (count == 0) return {};
    const std::size_t mate_count = mates_of(0).size();  // Those of one process are mates.
    if (mate_count > 1) {
      grounds_ = ground_.arena ? std::vector<Ground>(count, ground_) : new_grounds(count);
    }
    std::vector<Ticket> tickets(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!grounds_.empty()) tickets[i].place = take_place(grounds_[i], mate_count);
      if (mate_count == site_.islands.size()) continue;
      listeners_.push_back(os::listen_at(address));
      tickets[i].port = os::parse_address(listeners_.back().address).port();
    }
    return tickets;
  }

  std::vector<std::unique_ptr<Transport>> connect(std::span<const Ticket> tickets,
                                                  const CallTerms& terms,
                                                  base::TimePoint deadline) override {
    if (!listeners_.empty()) return connect_side_by_side(tickets, terms, deadline);
    std::vector<std::unique_ptr<Transport>> transports;
    transports.reserve(site_.own.size());
    for (std::size_t i = 0; i < site_.own.size(); ++i) {
      transports.push_back(connect(i, tickets, terms, deadline));
    }
    return transports;
  }

 private:
  // Of the own rank `i`, as are the next.
  std::vector<std::size_t> mates_of(std::size_t i) const {
    return base::island_of(site_.islands, site_.own[i]);
  }

  // For they may have to call each other. The first that fails ends the others.
  std::vector<std::unique_ptr<Transport>> connect_side_by_side(std::span<const Ticket> tickets,
                                                               const CallTerms& terms,
                                                               base::TimePoint deadline) const {
    std::vector<std::unique_ptr<Transport>> transports(site_.own.size());
    std::atomic_flag has_failed;
    std::exception_ptr failure;
    CallTerms own = terms;
    own.look_around = [&] {
      if (has_failed.test())
        throw Error(ErrorCode::kAborted, "another rank here was not connected");
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
    const std::vector<std::size_t> mates = mates_of(i);
    if (mates.size() == site_.islands.size()) return meet(i, mates, tickets);
    const int listener = listeners_[i].socket.get();
    auto streams = tcp::connect_all(site_.own[i], terms, listener, deadline);
    if (mates.size() == 1) {
      return std::make_unique<tcp::Transport>(std::move(streams),
                                              base::transport_between(site_.islands));
    }
    return std::make_unique<MixedTransport>(meet(i, mates, tickets), mates, std::move(streams));
  }

  std::unique_ptr<shm::Transport> meet(std::size_t i, const std::vector<std::size_t>& mates,
                                       std::span<const Ticket> tickets) const {
    shm::Meeting meeting{.names = mates};
    for (const std::size_t mate : mates) {
      const auto& [arena, mailboxes, control] = tickets[mate].place;
      meeting.arenas.push_back(arena);
      meeting.mailboxes.push_back(mailboxes);
      meeting.controls.push_back(control);
    }
    const std::size_t place = base::place_among(mates, site_.own[i]);
    return std::make_unique<shm::Transport>(grounds_[i].domain, grounds_[i].arena, place, meeting);
  }

  Site site_;
  Ground ground_;                        // What this process has a part in already.
  std::vector<Ground> grounds_;          // By own rank, unless they have no mates;
  std::vector<os::Listener> listeners_;  // unless memory is all they need.
};

}  // namespace

std::unique_ptr<Fabric> fabric_of_threads(const Site& site) { return island_fabric(site, nullptr); }

std::unique_ptr<Fabric> island_fabric(const Site& site, const shm::Transport* inside) {
  return std::make_unique<IslandFabric>(site, inside);
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

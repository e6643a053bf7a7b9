// Makes the transports of a group: of the job's ranks, or of one that is founded later.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key.h"
#include "base/islands.h"
#include "base/time.h"
#include "os/fd.h"
#include "transport/transport.h"

namespace rota::transport {

// A group that is to be, as one process sees it.
struct Site {
  base::Islands islands;         // Index = rank.
  std::vector<std::size_t> own;  // The ranks of this process, in order.
};

// Where a rank can be met.
struct Ticket {
  std::uint64_t port = 0;                // Where others call it; 0: nobody does.
  std::array<std::uint64_t, 3> place{};  // For its fabric alone.
};

// How the ranks of a group call each other over a network, whichever of them calls. Ranks that are
// threads of one process make the calls below at the same time.
struct CallTerms {
  std::vector<std::string> addresses;   // Index = rank.
  auth::Key key;                        // Held by the job's ranks alone.
  bool encrypts = false;                // All of them do, or none.
  std::uint64_t incarnation = 0;        // Of the job, and
  std::uint64_t epoch = 0;              // within it.
  std::function<void()> look_around{};  // Called now and then while waiting; may throw to end it.
  // Called once a peer has been waited for longer than others.
  std::function<void(std::size_t peer)> report_wait{};
};

// For one group. Every rank issues a ticket, all ranks are told all tickets, and then connect.
class Fabric {
 public:
  virtual ~Fabric() = default;

  // Of this process's ranks, in order. Where they are called, it is at a new port of `address`.
  // Throws Error kNoMemory, kSystem.
  virtual std::vector<Ticket> issue(const std::string& address) = 0;

  // The transports of this process's ranks, in order. `tickets`: index = rank. Throws Error
  // kMismatch, kNoMemory, kSystem; kTimeout at `deadline`, kPeerLost, and what `terms` throws.
  virtual std::vector<std::unique_ptr<Transport>> connect(std::span<const Ticket> tickets,
                                                          const CallTerms& terms,
                                                          base::TimePoint deadline) = 0;
};

// For threads of a process that has no transport yet: a world of one.
std::unique_ptr<Fabric> fabric_of_threads(const Site& site);

// For a world of threads alone; index = rank. Each rank has so much memory of which others read
// in place, or as much as there may be where `bytes` is 0. Throws Error kNoMemory, kSystem.
std::vector<std::unique_ptr<Transport>> join_threads(std::size_t count, std::size_t bytes);

// What rotarun lends a rank, or what it has brought itself.
struct Lent {
  os::Fd listener;             // Where others call it.
  std::vector<os::Fd> arenas;  // One for each rank of its island, in order.
};

// Makes the first transport of a rank, the only one of `site.own`. Throws what Fabric::connect()
// does.
using Join = std::unique_ptr<Transport> (*)(const Site& site, Lent lent, const CallTerms& terms,
                                            base::TimePoint deadline);

// Of a transport that has a row among base::kTransports.
struct Maker {
  std::string_view name;
  Join join;
};

// All that there are.
std::span<const Maker> makers() noexcept;

// By the one of `among` that the rank table names. Throws what it throws, and kSystem where there
// is none.
std::unique_ptr<Transport> join(std::string_view name, const Site& site, Lent lent,
                                const CallTerms& terms, base::TimePoint deadline,
                                std::span<const Maker> among = makers());

}  // namespace rota::transport

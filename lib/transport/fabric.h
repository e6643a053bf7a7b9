// Makes the transports of a group: of the job's ranks, or of a group that is created later.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key.h"
#include "base/domains.h"
#include "base/port_range.h"
#include "base/time.h"
#include "os/fd.h"
#include "transport/transport.h"

namespace rota::transport {

// A group to be created, as one process sees it.
struct GroupShape {
  base::Domains domains;         // Index = rank.
  std::vector<std::size_t> own;  // The ranks of this process, in order.
  // They listen at ports of this range. Empty: the system picks the ports.
  std::optional<base::PortRange> ports{};
  // false: where no port of the range is free, the system picks one. Between hosts, a firewall
  // could drop what is sent there.
  bool is_between_hosts = false;
};

// Where other ranks find a rank.
struct Ticket {
  std::uint64_t port = 0;                // The rank listens here; 0: no rank connects to it.
  std::array<std::uint64_t, 3> place{};  // Only the fabric reads it.
};

// Says how the ranks of a group connect over a network. The same terms hold for the connecting rank
// and for the accepting rank. Ranks that are threads of one process may call the functions below at
// the same time.
struct CallTerms {
  std::vector<std::string> addresses;   // Index = rank.
  auth::Key key;                        // Only the job's launchers and ranks hold it.
  bool encrypts = false;                // All ranks encrypt, or no rank does.
  std::uint64_t incarnation = 0;        // Of the job: see auth::new_incarnation().
  std::uint64_t epoch = 0;              // How often the job was restarted.
  std::function<void()> look_around{};  // Called at intervals in a wait; a throw ends the wait.
  // Called once for each peer for which this rank has waited 100 ms.
  std::function<void(std::size_t peer)> report_wait{};
};

// Connects one group. Every rank issues a ticket, all ranks get all tickets, and then all ranks
// connect.
class Fabric {
 public:
  virtual ~Fabric() = default;

  // Returns the tickets of this process's ranks, in order. A rank that others connect to listens at
  // the host of `address`. Throws Error kNoMemory, and kSystem. It is kSystem, too, if the shape
  // demands a port of the range and none is free.
  virtual std::vector<Ticket> issue(const std::string& address) = 0;

  // Connects this process's ranks, and returns their transports, in order. The index of `tickets`
  // is the rank. Throws Error kMismatch, kNoMemory, kSystem, kPeerLost; kTimeout at `deadline`; and
  // what the functions of `terms` throw.
  virtual std::vector<std::unique_ptr<Transport>> connect(std::span<const Ticket> tickets,
                                                          const CallTerms& terms,
                                                          base::TimePoint deadline) = 0;
};

// Makes the fabric for threads of a process that has no transport, because its world has one rank.
std::unique_ptr<Fabric> fabric_of_threads(const GroupShape& shape);

// Makes the transports for a world in which all ranks are threads; the index is the rank. Each rank
// has `bytes` bytes of memory that the other ranks access in place. If `bytes` is 0, the number is
// that of shm::thread_arena_bytes(). Throws Error kNoMemory, kSystem.
std::vector<std::unique_ptr<Transport>> join_threads(std::size_t count, std::size_t bytes);

// The descriptors that rotarun hands over to a rank, or that the rank has opened itself.
struct Descriptors {
  os::Fd listener;             // Other ranks connect to it.
  std::vector<os::Fd> arenas;  // One for each rank of its domain, in order.
};

// Makes the first transport of a rank, the only rank in `shape.own`. Throws what Fabric::connect()
// throws.
using Join = std::unique_ptr<Transport> (*)(const GroupShape& shape, Descriptors descriptors,
                                            const CallTerms& terms, base::TimePoint deadline);

// How to make a transport that has a row among base::kTransports.
struct Factory {
  std::string_view name;
  Join join;
};

std::span<const Factory> factories() noexcept;

// Joins with the factory in `among` that the rank table names. Throws what the factory throws, and
// kSystem if there is no such factory.
std::unique_ptr<Transport> join(std::string_view name, const GroupShape& shape,
                                Descriptors descriptors, const CallTerms& terms,
                                base::TimePoint deadline,
                                std::span<const Factory> among = factories());

}  // namespace rota::transport

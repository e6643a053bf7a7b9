// Connects a rank that no rotarun has started to its job: by a table of addresses, by the store of
// another launcher, or at a meeting point.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <rota/options.h>

#include "auth/key.h"
#include "base/port_range.h"
#include "base/time.h"
#include "os/fd.h"
#include "rendezvous/client.h"
#include "rendezvous/coordinator_thread.h"
#include "stores/store.h"
#include "transport/transport.h"

namespace rota {

// A rank that is connected to the coordinator, but has not joined yet.
struct Arrival {
  std::unique_ptr<rendezvous::CoordinatorThread>
      coordinator;  // The coordinator, if it runs in this process.
  rendezvous::Client client;
  os::Fd listener;               // For connections from peers; empty if the launcher hands it over.
  std::optional<auth::Key> key;  // None: the launcher has the job's key.
  // Makes the transport between ranks that are connected already, and that share no memory. Empty:
  // the name of the transport says how it is made.
  std::function<std::unique_ptr<transport::Transport>()> make_transport{};
  std::function<void()> on_all_here{};  // Called once all ranks have joined; may be empty.
  // The numeric addresses of the connection to rank 0: of this rank, and of rank 0. Both are empty
  // on rank 0.
  std::string own_host{};
  std::string rank_0_host{};
};

// Completes the job's table: source and, unless the ranks learn them when they meet, hosts and
// local ranks. The transport stays empty if the ranks are to share memory where they can. Without a
// key, names become numeric addresses. Throws Error kInvalidArgument if the job makes no sense: no
// rows, too many rows, a rank outside of the table, an invalid address, a transport other than tcp,
// a short key, or no key although other hosts can reach an address.
RankTable complete_table(const JobByHand& job);

// Returns whether the ranks meet through the store of their launcher, which they can use only once.
bool meet_through_store(const JobByHand& job) noexcept;

// Listens, and connects to rank 0, again and again until rank 0 answers. `table` must be complete
// and have two rows or more; `options` must have by_hand. Throws the Errors of
// rendezvous::call_coordinator and of stores::Store.
Arrival arrive_by_hand(const CommunicatorOptions& options, const RankTable& table,
                       base::TimePoint deadline);

// The same through a store. `job.table` must be complete. Throws also the Errors of
// find_rank_zero().
Arrival arrive_through_store(const JobByHand& job, stores::Store& store, bool encrypts,
                             const std::optional<base::PortRange>& ports, base::TimePoint deadline);

// Learns where the other ranks are, and whether they may spin. Completes the table of
// `welcome.job`. Unless `arrival` makes the transport, shares memory with the ranks on this
// machine: completes the domains of `welcome.job`, puts arenas into `welcome.fds`, and a listening
// socket into `arrival`, at a port of listening_ports(). All ranks must call it. Throws Error
// kTimeout, kPeerLost, kNoMemory, kSystem.
void meet_others(rendezvous::Client::Welcome& welcome, Arrival& arrival,
                 const CommunicatorOptions& options, const std::function<void()>& look_around,
                 base::TimePoint deadline);

// Throws Error kMismatch if rank 0 was given another table than `own`.
void compare_tables(std::size_t rank, const RankTable& own, const RankTable& of_rank_0);

}  // namespace rota

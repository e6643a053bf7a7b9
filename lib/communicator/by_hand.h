// How a rank that was started by hand comes to its job.
#pragma once
#include <memory>
#include <optional>

#include <rota/options.h>

#include "auth/key.h"
#include "base/time.h"
#include "os/fd.h"
#include "rendezvous/client.h"
#include "rendezvous/host.h"

namespace rota {

// A rank at the door of its job: it can talk to the coordinator, and has not joined yet.
struct Arrival {
  std::unique_ptr<rendezvous::Host> host;  // The coordinator itself, where this rank has it.
  rendezvous::Client client;
  os::Fd listener;               // Where peers call; none where the launcher lends one.
  std::optional<auth::Key> key;  // None: the launcher has one for the job.
};

// The table with all that follows from it: hosts, local ranks, transport, source. Without a key its
// addresses are numbers. Throws Error kInvalidArgument where it makes no sense: no rows, too
// many, the rank outside of them, an address that is none, another transport, a short
// key, none beside addresses that others reach.
RankTable complete_table(const JobByHand& job);

// Listens, and calls rank 0 until it answers. `table` is complete, and has two rows or more;
// `options` are by hand. Throws what rendezvous::call_host throws.
Arrival arrive_by_hand(const CommunicatorOptions& options, const RankTable& table,
                       base::TimePoint deadline);

// Throws Error kMismatch where rank 0 was given another table than `own`.
void compare_tables(std::size_t rank, const RankTable& own, const RankTable& of_rank_0);

// Whether every rank of this rank's host can have a core to itself.
bool may_spin(const RankTable& table, std::size_t rank);

}  // namespace rota

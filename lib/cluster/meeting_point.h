// Decides where processes meet that another launcher has started as ranks: rotaruns with one rank
// each, or the ranks themselves.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/port_range.h"
#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// All functions require that `chosen` has Level::kProcess.

// Returns whether the source says that all ranks are on one machine.
bool are_on_one_machine(const Specification& chosen) noexcept;

// Returns the name of this machine: the node's name if the source gives it, as Slurm does,
// otherwise the host's name.
std::string machine_of(const Specification& chosen, const Given& given);

// Returns the id of the job; empty if there is none. Two steps of one allocation are two jobs. The
// programs of two mpiruns, one after another, are two jobs, too.
std::string job_id_of(const Specification& chosen, const Given& given);

// Returns whether a server of PMI or PMIx serves this rank. `job_name` is its job. The server of a
// Slurm step serves the tasks, and not the ranks that another launcher has started inside a task.
// Those inherit the variables all the same.
bool is_served(const Specification& chosen, const Environment& environment,
               std::string_view job_name);

// Returns where rank 0 waits for the others: the first of these that is possible.
//   a local name, which needs no key: if all ranks are on this machine and the user names no key
//     (`has_key` is false);
//   the rendezvous of `chosen`;
//   MASTER_ADDR and MASTER_PORT;
//   loopback, if all ranks are on this machine;
//   the first node.
// Returns nothing if none is possible: see ask_for_first(). Throws Error kInvalidArgument if
// MASTER_ADDR or MASTER_PORT makes no sense, or if ranks of other hosts cannot reach rank 0 there:
// 0.0.0.0.
std::optional<RendezvousEndpoint> meeting_point(const Specification& chosen, const Given& given,
                                                bool has_key);

// Parses a range of ports such as "7700-7955". For the error text, `what` names the variable or the
// option. Throws Error kInvalidArgument.
base::PortRange to_ports(const std::string& what, std::string_view text);

// Returns the port of a rendezvous whose source names no port: the first one of ROTA_PORTS, or
// 7700. Throws Error kInvalidArgument if ROTA_PORTS makes no sense.
std::uint16_t usual_port(const Environment& environment);

// Returns the end of an error text, after what the source says: nothing says where rank 0 is.
std::string ask_for_first();

}  // namespace rota::cluster

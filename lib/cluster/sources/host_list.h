// Parses lists of hosts with slots, in the forms that launchers accept.
//
// A host that is named more than once has the sum of its slots, and each mention without a number
// counts as one slot. So the node file of a batch system, with one line for each slot, works. A
// host that is named once without a number decides its number of slots itself, from its CPUs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// Parses "a:2,b:2". `what` is the variable or the flag.
std::vector<Host> parse_host_list(const std::string& what, std::string_view text);

// Parses lines of "host", "host slots=2" or "host:2"; "max_slots=4" may follow. "#" begins a
// comment.
std::vector<Host> parse_hostfile(const std::string& path, std::string_view text);

// Parses the lines of PBS and LSF: each has one host, and is one slot of this host.
std::vector<Host> parse_node_file(const std::string& path, std::string_view text);

// Parses the lines of SGE: "host slots queue processors". A host has a line for each of its queues.
std::vector<Host> parse_queue_file(const std::string& path, std::string_view text);

// Returns the specification of a list of hosts. `own_host` is set if the list has this host, by
// name or by address.
Specification specification_of_hosts(const std::string& source, std::vector<Host> hosts,
                                     const Given& given);

}  // namespace rota::cluster

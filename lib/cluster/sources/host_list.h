// Lists of hosts with their slots, as launchers take them.
//
// A host that is named more than once has the sum of its slots, one for each mention without a
// number, as a node file of a batch system has a line for each slot. A host that is named once
// without a number has as many as it finds that it has.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// "a:2,b:2". `what` is the variable or the flag.
std::vector<Host> parse_host_list(const std::string& what, std::string_view text);

// Lines of "host", "host slots=2" or "host:2", with "max_slots=4" behind; "#" begins a comment.
std::vector<Host> parse_hostfile(const std::string& path, std::string_view text);

// Hosts of a list; this one is found among them by its name, where it is one of them.
Specification specification_of_hosts(const std::string& source, std::vector<Host> hosts,
                                     const Given& given);

}  // namespace rota::cluster

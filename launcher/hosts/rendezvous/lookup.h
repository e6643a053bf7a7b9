// Looks up the names of a job's hosts before rotarun watches signals. So a signal ends rotarun
// during the look-up, unless rotarun is process 1 of a container: the kernel does not end that
// process by such a signal.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cluster/specification.h"
#include "names/resolver.h"

namespace rota::launcher {

// Looks up all names in parallel. The answers are in the order of `names`. Throws what
// names::Resolver throws.
std::vector<names::Answer> look_up(const std::vector<std::string>& names,
                                   const names::Options& options = {});

// Returns the names of the hosts, in their order.
std::vector<std::string> names_of(const std::vector<cluster::Host>& hosts);

// Returns the index of the answer that has an address of this host; empty if no answer or several
// answers have one.
std::optional<std::size_t> find_this_host(const std::vector<names::Answer>& answers);

}  // namespace rota::launcher

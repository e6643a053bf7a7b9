// What the names of a job's hosts stand for. It is asked before rotarun watches signals, so that
// one ends it meanwhile; as process 1 of a container, which the kernel spares, it goes on.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cluster/specification.h"
#include "names/resolver.h"

namespace rota::launcher {

// Asks for all names side by side; the answers are in their order. Throws what names::Resolver
// throws.
std::vector<names::Answer> look_up(const std::vector<std::string>& names,
                                   const names::Options& options = {});

// The names of the hosts, in their order.
std::vector<std::string> names_of(const std::vector<cluster::Host>& hosts);

// Which one of those that were asked for is this host, by an address of its own; empty where none
// is, or more than one.
std::optional<std::size_t> find_this_host(const std::vector<names::Answer>& answers);

}  // namespace rota::launcher

// The host tree says which host connects to which, so that no host has to accept very many
// connections. If there are few hosts, all of them connect to the leader. If there are more, the
// hosts with ranks form a tree in the order of their numbers: hosts 1 to 32 connect to host 0,
// hosts 33 to 64 to host 1, and so on. The hosts between the leader and a far host pass on the
// messages of both.
#pragma once
#include <cstddef>
#include <vector>

#include "launcher/hosts/rendezvous/host_plan.h"

namespace rota::launcher {

// Returns the host to which `host` connects. `host` must not be the leader.
std::size_t parent_of(const HostPlan& host_plan, std::size_t host);

// Returns the hosts that connect to `host`, in ascending order.
std::vector<std::size_t> children_of(const HostPlan& host_plan, std::size_t host);

// Returns the host and all hosts below it. Leaves out hosts without ranks, except `host` itself.
std::vector<std::size_t> subtree_of(const HostPlan& host_plan, std::size_t host);

// Returns whether `host` is below `other`: whether the messages of `host` to the leader go to or
// through `other`.
bool is_below(const HostPlan& host_plan, std::size_t host, std::size_t other);

// Returns the child of `host` on the way to `destination`, which is below `host`.
std::size_t child_toward(const HostPlan& host_plan, std::size_t host, std::size_t destination);

}  // namespace rota::launcher

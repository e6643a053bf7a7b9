// Finds contradictions between two sources, and between a source and the ROTA_* declarations.
#include "cluster/contradiction.h"

#include <algorithm>
#include <span>

#include "cluster/host_names.h"

namespace rota::cluster {
namespace {

struct Pair {
  const Specification& one;
  const Specification& other;
};

std::string differing(const Pair& pair, const std::string& what) {
  const auto& [one, other] = pair;
  return one.source + " and " + other.source + " contradict each other about " + what + ": " +
         one.source + " says " + to_text(one) + "; " + other.source + " says " + to_text(other) +
         "; leave out the one that is wrong";
}

template <class Value>
bool differ(const std::optional<Value>& one, const std::optional<Value>& other) {
  return one && other && *one != *other;
}

std::optional<std::size_t> host_count_of(const Specification& specification) {
  const std::size_t count = ring_count(specification);
  return count > 0 ? std::optional(count) : std::nullopt;
}

// Returns false for a name and an address: an address may belong to any host.
bool names_differ(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || is_address(one) != is_address(other)) return false;
  return !agree(one, other);
}

std::string name_at(const Specification& specification, std::size_t index) {
  return index < specification.hosts.size() ? specification.hosts[index].name : std::string();
}

// Returns the name of the first host with ranks for which the allocation has no node; empty if
// there is none. Names that mean the host itself, and missing names, fit any node.
std::string first_outside(const Specification& allocation, const Specification& job) {
  const auto ring = std::span(job.hosts).first(ring_count(job));
  const auto found = std::ranges::find_if(ring, [&](const Host& host) {
    return !host.name.empty() && !means_itself(host.name) &&
           std::ranges::none_of(allocation.hosts, [&](const Host& node) {
             return node.name.empty() || !names_differ(node.name, host.name);
           });
  });
  return found == ring.end() ? std::string() : found->name;
}

// Returns what the allocation lacks for the job, to be put after "the hosts". Returns an empty text
// if the allocation has a node for every host of the job that has ranks.
std::string lack_of_nodes(const Specification& allocation, const Specification& job) {
  const std::string outside = first_outside(allocation, job);
  if (!outside.empty()) return " (" + allocation.source + " has no " + outside + ")";
  const std::size_t count = allocation.hosts.size();
  if (ring_count(job) <= count) return {};
  return " (" + allocation.source + " has only " + std::to_string(count) + ")";
}

// Returns a copy whose text lists the hosts. The place of this host may be the same on both sides
// of a contradiction about the hosts.
Specification without_place(Specification specification) {
  specification.own_host.reset();
  return specification;
}

// Returns an empty text if the hosts fit into the room. Two allocations must have the same hosts,
// because each of them is meant to be all of the job.
std::string contradiction_with_room(const Specification& room, const Specification& hosts) {
  if (hosts.level == Level::kProcess) return {};
  std::string lack = lack_of_nodes(room, hosts);
  if (lack.empty() && hosts.is_room) lack = lack_of_nodes(hosts, room);
  if (lack.empty()) return {};
  return differing({without_place(hosts), without_place(room)}, "the hosts" + lack);
}

bool own_names_differ(const Specification& one, const Specification& other) {
  if (!one.own_host || !other.own_host) return false;
  return names_differ(name_at(one, *one.own_host), name_at(other, *other.own_host));
}

bool own_differ(const Specification& one, const Specification& other) {
  return differ(one.own_host, other.own_host) || own_names_differ(one, other);
}

// Returns whether two sources that describe one process give different numbers of hosts. One source
// may list tasks as hosts, each with a name, while the other lists nodes; one node may have several
// tasks.
bool are_tasks_on_nodes(const Specification& one, const Specification& other) {
  return one.level == Level::kProcess && other.level == Level::kProcess &&
         differ(host_count_of(one), host_count_of(other));
}

}  // namespace

std::string contradiction_of(const Specification& one, const Specification& other) {
  if (one.is_room) return contradiction_with_room(one, other);
  if (other.is_room) return contradiction_with_room(other, one);  // NOLINT: the room is first.
  const Pair pair{one, other};
  if (differ(one.rank, other.rank)) return differing(pair, "the rank");
  if (differ(one.world_size, other.world_size)) return differing(pair, "the size of the world");
  if (are_tasks_on_nodes(one, other)) {
    return own_names_differ(one, other) ? differing(pair, "which host this is") : "";
  }
  if (differ(host_count_of(one), host_count_of(other))) {
    return differing(pair, "the number of hosts");
  }
  if (own_differ(one, other)) return differing(pair, "which host this is");
  const std::size_t count = std::min(ring_count(one), ring_count(other));
  for (std::size_t i = 0; i < count; ++i) {
    if (names_differ(one.hosts[i].name, other.hosts[i].name)) {
      return differing(pair, "the name of host " + std::to_string(i) + " (" + one.hosts[i].name +
                                 " or " + other.hosts[i].name + ")");
    }
  }
  return {};
}

void require_as_declared(const Specification& specification, const Declared& declared) {
  const auto refuse_declared = [&](const std::string& variable, std::size_t value,
                                   const std::string& remedy = "") {
    refuse(variable + " is " + std::to_string(value) + ", and " + specification.source + " says " +
           to_text(specification) + ": leave out the one that is wrong" + remedy);
  };
  const auto host_count = host_count_of(specification);
  if (differ(declared.host_count, host_count)) {
    const bool is_for_one_host =
        declared.host_count == std::size_t{1} && specification.level == Level::kHost;
    refuse_declared(
        "ROTA_HOSTS", *declared.host_count,
        is_for_one_host ? ", or give rotarun --this-host for a job of this host alone" : "");
  }
  if (specification.is_room) return;
  if (differ(declared.world_size, specification.world_size)) {
    refuse_declared("ROTA_WORLD", *declared.world_size);
  }
  const bool is_host = specification.level == Level::kHost || specification.source == "TF_CONFIG" ||
                       specification.source == "--worker_hosts";
  const bool is_known =
      is_host && specification.own_host && *specification.own_host < specification.hosts.size();
  if (!declared.slots || !is_known) return;
  const auto own = specification.hosts[*specification.own_host].slots;
  if (differ(declared.slots, own)) {
    refuse("ROTA_SLOTS is " + std::to_string(*declared.slots) + ", and " + specification.source +
           " has " + std::to_string(*own) + " for this host, " +
           name_of(specification, *specification.own_host) +
           (specification.level == Level::kProcess
                ? ": one process is one rank; rotarun can start several"
                : ": leave out the one that is wrong"));
  }
}

void add_declared(const Declared& declared, Specification& specification) {
  if (!specification.world_size && declared.world_size) {
    specification.world_size = declared.world_size;
    specification.world_source = "ROTA_WORLD";
  }
  if (specification.level == Level::kProcess) return;
  // Hosts that are started alike have the same ROTA_SLOTS.
  if (declared.slots) specification.usual_slots = declared.slots;
  const bool is_known =
      specification.own_host && *specification.own_host < specification.hosts.size();
  if (is_known && declared.slots && !specification.hosts[*specification.own_host].slots) {
    specification.hosts[*specification.own_host].slots = declared.slots;
    specification.are_own_slots_private = true;
  }
}

}  // namespace rota::cluster

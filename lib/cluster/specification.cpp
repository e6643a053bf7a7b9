// Turns a specification into text and into a rank table.
#include "cluster/specification.h"

#include <algorithm>
#include <span>

#include "base/counted.h"
#include "base/domains.h"
#include "base/transports.h"
#include "cluster/refusal.h"

namespace rota::cluster {
namespace {

constexpr std::size_t kNamesShown = 6;

std::string with_port(const std::string& name, std::optional<std::uint16_t> port) {
  if (!port) return name;
  const bool needs_brackets = name.find(':') != std::string::npos;
  return (needs_brackets ? "[" + name + "]" : name) + ":" + std::to_string(*port);
}

std::string counted_slots(std::uint64_t count) {
  return base::counted(count, "declared slot", "declared slots");
}

std::string place_text(const Specification& specification) {
  const std::size_t count = ring_count(specification);
  if (specification.rank) {
    std::string text = "rank " + std::to_string(*specification.rank);
    if (specification.world_size) text += " of " + std::to_string(*specification.world_size);
    if (!specification.world_size) text += " of a world of unknown size";
    if (specification.local_rank) text += ", " + std::to_string(*specification.local_rank);
    if (specification.local_rank) text += " on its host";
    if (count > 0) text += ", on " + base::counted_hosts(count);
    return text;
  }
  if (!specification.own_host)
    return base::counted_hosts(count) + " (" + names_of(specification) + ")";
  std::string text = name_of(specification, *specification.own_host);
  if (specification.hosts.empty()) return text + " of an unknown number of hosts";
  const Host& own = specification.hosts[*specification.own_host];
  if (!is_in_ring(own.role)) {
    return std::string(to_string(own.role)) + " " + text + ", which is not one of the " +
           base::counted_hosts(count) + " with ranks";
  }
  if (!own.name.empty()) {
    text = "host " + std::to_string(*specification.own_host) + " (" + text + ")";
  }
  return text + " of " + std::to_string(count);
}

// Returns the start of an error text: which source gave the world size and, if another source gave
// the hosts, which source that is.
std::string who_gave_world(const Specification& specification) {
  if (specification.world_source.empty()) return specification.source;
  return specification.world_source + " is " + std::to_string(*specification.world_size) +
         ", and " + specification.source + " has " + base::counted_hosts(ring_count(specification));
}

// Returns the number of ranks of each of the `open_count` hosts without declared slots. Throws
// Error kInvalidArgument if the slots cannot add up to the declared world.
std::size_t share_of_open(const Specification& specification, std::size_t declared,
                          std::size_t open_count) {
  const std::size_t world = *specification.world_size;
  const std::size_t left = world - std::min(world, declared);
  const std::string start =
      who_gave_world(specification) + ": a world of " + base::counted_ranks(world);
  if (open_count == 0) {
    if (world == declared) return 0;
    refuse(start + ", but " + counted_slots(declared) + " in total: make the two numbers equal");
  }
  const std::string rest =
      start + ", with " + counted_slots(declared) + ", leaves " + base::counted_ranks(left);
  const std::string open = base::counted_hosts(open_count) + " without declared slots";
  if (left < open_count) {
    refuse(rest + " for " + open +
           ", but each host needs a rank: make the world larger, or declare fewer slots or hosts");
  }
  if (left % open_count != 0) {
    refuse(rest + ", which " + open + " cannot share equally: declare the slots of these hosts");
  }
  return left / open_count;
}

}  // namespace

bool is_in_ring(Role role) noexcept { return role == Role::kChief || role == Role::kWorker; }

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::kChief:
      return "chief";
    case Role::kWorker:
      return "worker";
    case Role::kEvaluator:
      return "evaluator";
    case Role::kParameterServer:
      return "ps";
  }
  return "worker";
}

std::size_t ring_count(const Specification& specification) {
  return static_cast<std::size_t>(
      std::ranges::count_if(specification.hosts, is_in_ring, &Host::role));
}

std::string name_of(const Specification& specification, std::size_t index) {
  const bool is_named =
      index < specification.hosts.size() && !specification.hosts[index].name.empty();
  if (!is_named) return "host " + std::to_string(index);
  return with_port(specification.hosts[index].name, specification.hosts[index].port);
}

std::string names_of(const Specification& specification) {
  const std::size_t count = ring_count(specification);
  std::string text;
  for (std::size_t i = 0; i < std::min(count, kNamesShown); ++i) {
    text += (i == 0 ? "" : ", ") + name_of(specification, i);
  }
  if (count > kNamesShown) text += " and " + std::to_string(count - kNamesShown) + " more";
  return text;
}

std::string to_text(const Specification& specification) {
  std::string text = place_text(specification);
  if (!specification.rank && specification.world_size) {
    text += ", a world of " + base::counted_ranks(*specification.world_size);
  }
  if (specification.rendezvous) {
    text += ", rendezvous at " +
            with_port(specification.rendezvous->name, specification.rendezvous->port);
  }
  if (specification.epoch.value_or(0) > 0) {
    text += ", epoch " + std::to_string(*specification.epoch);
  }
  if (!specification.job_id.empty()) text += ", job " + specification.job_id;
  return text;
}

bool reaches_beyond_this_host(const Specification& specification) {
  if (ring_count(specification) > 1) return true;
  if (specification.level == Level::kProcess) return specification.world_size.value_or(2) > 1;
  const bool is_first = specification.own_host == std::size_t{0};
  return ring_count(specification) == 1 && (!is_first || specification.hosts.size() > 1);
}

std::vector<std::size_t> slots_of(const Specification& specification,
                                  std::size_t undeclared_slots) {
  const std::size_t count = ring_count(specification);
  std::size_t usual = specification.usual_slots.value_or(undeclared_slots);
  std::size_t declared = 0;
  std::size_t open_count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    declared += specification.hosts[i].slots.value_or(0);
    if (!specification.hosts[i].slots) ++open_count;
  }
  if (specification.world_size) usual = share_of_open(specification, declared, open_count);
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < count; ++i) {
    slots.push_back(specification.hosts[i].slots.value_or(usual));
  }
  return slots;
}

// If only this host knows its own slots (are_own_slots_private), `usual_slots` may differ on other
// hosts. In that case, the slots of a host that declares none count as unknown.
bool has_unknown_slots(const Specification& specification) {
  if (specification.world_size) return false;
  if (specification.usual_slots && !specification.are_own_slots_private) return false;
  const auto ring = std::span(specification.hosts).first(ring_count(specification));
  return std::ranges::any_of(ring, [](const Host& host) { return !host.slots; });
}

void require_fitting(const Specification& specification) {
  if (ring_count(specification) > 0) slots_of(specification, 1);
}

RankTable make_table(const Specification& specification, std::size_t undeclared_slots) {
  const std::size_t count = ring_count(specification);
  const bool are_known =
      count > 0 && std::ranges::none_of(specification.hosts, [](const Host& host) {
        return is_in_ring(host.role) && host.name.empty();
      });
  if (!are_known) {
    refuse(specification.source + " does not name every host, so there is no rank table yet");
  }
  RankTable table;
  table.epoch = specification.epoch.value_or(0);
  table.source = specification.source;
  const std::vector<std::size_t> slots = slots_of(specification, undeclared_slots);
  base::Domains domains;
  for (std::size_t i = 0; i < count; ++i) {
    const Host& host = specification.hosts[i];
    domains.insert(domains.end(), slots[i], static_cast<std::uint32_t>(i));
    for (std::size_t local = 0; local < slots[i]; ++local) {
      if (table.rows.size() == kMaxRanks) {
        refuse(specification.source + ": more than " + std::to_string(kMaxRanks) + " ranks");
      }
      table.rows.push_back({.local_rank = local,
                            .host = host.name,
                            .address = host.port ? with_port(host.name, host.port) : ""});
    }
  }
  // Ranks that each have their own launcher share no memory.
  if (specification.level == Level::kProcess) domains = base::each_alone(table.rows.size());
  table.transport = base::transport_between(domains);
  return table;
}

}  // namespace rota::cluster

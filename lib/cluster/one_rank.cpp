// Reads the rank of a process from variables of given names, and checks whether the process is one
// of several.
#include "cluster/one_rank.h"

#include <algorithm>

#include "cluster/host_names.h"
#include "cluster/sources/slurm_step.h"
#include "cluster/unread_hosts.h"

namespace rota::cluster {
namespace {

void require_below(std::string_view name, std::size_t value, std::string_view limit_name,
                   std::size_t limit) {
  if (value < limit) return;
  refuse(std::string(name) + " is " + std::to_string(value) + ", and " + std::string(limit_name) +
         " is " + std::to_string(limit) + ": a rank must be below the size of its world");
}

// Returns "NAME is N" if the number is above `most`; otherwise an empty text.
std::string sign_above(const Environment& environment, std::string_view name, Range range,
                       std::size_t most) {
  const auto number = environment.number(name, range);
  return number && *number > most ? std::string(name) + " is " + std::to_string(*number) : "";
}

// Returns a sign that a person, or Kubeflow's Trainer, has declared several hosts: a number, a list
// such as "a:2,b:2", or a range such as "2:4". Otherwise returns an empty text.
std::string sign_of_declared_hosts(const Environment& environment) {
  for (const std::string name : {"ROTA_HOSTS", "PET_NNODES"}) {
    const std::string text = environment.text(name);
    if (text.find_first_not_of("0123456789") == std::string::npos) {
      auto sign = text.empty() ? "" : sign_above(environment, name, kAnyRankCount, 1);
      if (!sign.empty()) return sign;
    } else if (text.find(name == "ROTA_HOSTS" ? ',' : ':') != std::string::npos) {
      return name + " is " + shown(text);
    }
  }
  return {};
}

}  // namespace

Specification read_rank(const std::string& source, const Environment& environment,
                        const RankNames& names) {
  const auto why = [&](std::string_view other) {
    return "but " + std::string(other) + " is set: " + source + " sets both";
  };
  Specification specification{.source = source, .level = Level::kProcess};
  const std::size_t world_size =
      environment.needed_number(names.world_size, kAnyRankCount, why(names.rank));
  const std::size_t rank = environment.needed_number(names.rank, kAnyRank, why(names.world_size));
  require_below(names.rank, rank, names.world_size, world_size);
  specification.rank = rank;
  specification.world_size = world_size;
  specification.local_rank = environment.number(names.local_rank, kAnyRank);
  specification.local_world_size = environment.number(names.local_world_size, kAnyRankCount);
  if (specification.local_rank && specification.local_world_size) {
    require_below(names.local_rank, *specification.local_rank, names.local_world_size,
                  *specification.local_world_size);
  }
  if (specification.local_world_size.value_or(0) > world_size) {
    refuse(std::string(names.local_world_size) + " is " +
           std::to_string(*specification.local_world_size) + ", and " +
           std::string(names.world_size) + " is " + std::to_string(world_size) +
           ": a host cannot have more ranks than the world");
  }
  return specification;
}

std::string port_text(const Environment& environment, std::string_view name) {
  std::string text = environment.text(name);
  const bool is_link = text.starts_with("tcp://") || text.starts_with("udp://");
  return is_link ? "" : text;
}

std::optional<RendezvousEndpoint> read_rendezvous(const Environment& environment,
                                                  std::string_view name, std::string_view port) {
  constexpr std::size_t kLargestPort = 65535;
  const bool is_given = environment.text(port) == port_text(environment, port);
  const auto number = is_given ? environment.number(port, {.least = 1, .most = kLargestPort})
                               : std::optional<std::size_t>();
  const std::string* text = environment.find(name);
  if (!text) return std::nullopt;
  // An IPv6 address has no brackets in this variable, because the port has its own variable.
  const bool is_bare = std::ranges::count(*text, ':') > 1 && !text->starts_with('[');
  const NameAndNumber parts = split_name(std::string(name), is_bare ? "[" + *text + "]" : *text);
  if (parts.number)
    refuse(std::string(name) + " is " + shown(*text) + ": give a host without a port");
  RendezvousEndpoint rendezvous{.name = parts.name};
  if (number) rendezvous.port = static_cast<std::uint16_t>(*number);
  return rendezvous;
}

std::string sign_of_several(const Environment& environment) {
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE"}) {
    if (auto sign = sign_above(environment, size, kAnyRankCount, 1); !sign.empty()) return sign;
  }
  for (const char* size : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (!is_in_step(environment)) break;
    if (auto sign = sign_above(environment, size, kAnyRankCount, 1); !sign.empty()) return sign;
  }
  // Rank 0 exists in a world of any size, so PMIX_RANK=0 is not a sign.
  if (auto sign = sign_above(environment, "PMIX_RANK", kAnyRank, 0); !sign.empty()) return sign;
  // A job that is declared to have one host has no other hosts, whatever the system has started.
  if (environment.text("ROTA_HOSTS") == "1") return {};
  if (auto sign = sign_of_declared_hosts(environment); !sign.empty()) return sign;
  return sign_of_started_hosts(environment);
}

}  // namespace rota::cluster

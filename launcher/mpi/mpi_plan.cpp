// Makes the MPI plan, without which no rank would know the others of its MPI world.
#include "launcher/mpi/mpi_plan.h"

#include <algorithm>

#include "base/byte_stream.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-';
}

// Names the nodes as the rank table names their hosts. A name that MPI would not understand is
// replaced, and a name that another node has, too, gets the node's number.
std::vector<std::string> names_of_nodes(const MpiPlan& plan, const RankTable& table) {
  std::vector<std::string> names;
  for (const MpiPlace& place : plan.world) {
    if (names.size() <= place.node) names.resize(place.node + 1);
    if (place.rank < table.rows.size()) names[place.node] = table.rows[place.rank].host;
  }
  for (std::string& name : names) {
    if (name.empty() || !std::ranges::all_of(name, is_plain)) name = "host";
  }
  const std::vector<std::string> hosts = names;
  for (std::size_t node = 0; node < names.size(); ++node) {
    const bool is_shared = std::ranges::count(hosts, hosts[node]) > 1 || hosts[node] == "host";
    if (is_shared) names[node] += "-" + std::to_string(node);
    while (std::ranges::count(names, names[node]) > 1) names[node] += "-" + std::to_string(node);
  }
  return names;
}

}  // namespace

std::string_view name_of(MpiKind kind) noexcept {
  if (kind == MpiKind::kNone) return "no MPI";
  return kind == MpiKind::kPmix ? "PMIx" : "PMI-1";
}

MpiPlan plan_mpi(std::span<const MpiKind> kind_of_group, std::span<const HostAssignment> hosts,
                 const RankTable& table, const std::string& name) {
  MpiPlan plan{.name = name};
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    const HostAssignment& host = hosts[index];
    for (std::size_t local = 0; local < host.ranks.size(); ++local) {
      const std::size_t group = host.groups[local];
      const MpiKind kind = group < kind_of_group.size() ? kind_of_group[group] : MpiKind::kNone;
      if (kind == MpiKind::kNone) continue;
      plan.kind = kind;
      const std::size_t node = kind == MpiKind::kPmix ? index : host.host_index;
      plan.world.push_back({.rank = static_cast<std::uint32_t>(host.ranks[local]),
                            .node = static_cast<std::uint32_t>(node)});
    }
  }
  std::ranges::sort(plan.world, {}, &MpiPlace::rank);
  plan.node_names = names_of_nodes(plan, table);
  return plan;
}

std::optional<std::size_t> mpi_rank_of(const MpiPlan& plan, std::size_t rank) {
  const auto found = std::ranges::lower_bound(plan.world, rank, {}, &MpiPlace::rank);
  if (found == plan.world.end() || found->rank != rank) return std::nullopt;
  return static_cast<std::size_t>(found - plan.world.begin());
}

std::vector<std::string> number_variables(const MpiPlan& plan, const HostAssignment& assignment,
                                          std::size_t local_rank) {
  std::size_t local_number = assignment.earlier_count;
  std::size_t local_count = assignment.other_count;
  for (std::size_t local = 0; local < assignment.ranks.size(); ++local) {
    if (!mpi_rank_of(plan, assignment.ranks[local])) continue;
    ++local_count;
    if (local < local_rank) ++local_number;
  }
  const std::size_t number = mpi_rank_of(plan, assignment.ranks[local_rank]).value();
  const std::string size = std::to_string(plan.world.size());
  return {"OMPI_COMM_WORLD_RANK=" + std::to_string(number),
          "OMPI_COMM_WORLD_SIZE=" + size,
          "OMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(local_number),
          "OMPI_COMM_WORLD_LOCAL_SIZE=" + std::to_string(local_count),
          "OMPI_COMM_WORLD_NODE_RANK=" + std::to_string(local_number),
          "OMPI_UNIVERSE_SIZE=" + size};
}

std::string encode(const MpiPlan& plan) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(plan.kind));
  out.write(plan.name);
  out.write(static_cast<std::uint32_t>(plan.world.size()));
  for (const MpiPlace& place : plan.world) {
    out.write(place.rank);
    out.write(place.node);
  }
  out.write(static_cast<std::uint32_t>(plan.node_names.size()));
  for (const std::string& name : plan.node_names) out.write(name);
  return out.take_text();
}

std::optional<MpiPlan> decode_mpi_plan(std::string_view bytes) {
  base::ByteReader in(base::bytes_of(bytes));
  MpiPlan plan;
  const auto kind = in.read<std::uint8_t>();
  plan.name = in.read_text();
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto rank = in.read<std::uint32_t>();
    plan.world.push_back({.rank = rank, .node = in.read<std::uint32_t>()});
    const bool is_next = i == 0 || plan.world[i - 1].rank < rank;
    if (!is_next || rank >= rendezvous::kMaxWorldSize) return std::nullopt;
  }
  const auto name_count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < name_count && in.ok(); ++i)
    plan.node_names.push_back(in.read_text());
  const bool is_known = kind <= static_cast<std::uint8_t>(MpiKind::kPmix);
  plan.kind = static_cast<MpiKind>(kind);
  if (!in.ok() || !in.at_end() || !is_known) return std::nullopt;
  return plan;
}

}  // namespace rota::launcher

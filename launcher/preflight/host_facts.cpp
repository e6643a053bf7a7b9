// Gathers the facts of this host, and encodes them as text.
#include "launcher/preflight/host_facts.h"

#include <filesystem>
#include <span>
#include <system_error>

#include <rota/error.h>

#include "auth/file_digest.h"
#include "base/byte_stream.h"
#include "base/hex.h"
#include "base/transports.h"
#include "cluster/environment.h"
#include "kernels/variant.h"
#include "launcher/plan/devices.h"
#include "launcher/plan/job_plan.h"
#include "launcher/ranks/program_check.h"
#include "launcher/ranks/rank_environment.h"
#include "os/listener.h"

namespace rota::preflight {
namespace {

std::optional<std::uint64_t> free_bytes(const std::string& folder) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) return std::nullopt;
  return space.available;
}

// Counts the free ports, except the first one, where launchers meet and no rank listens. It tries
// one port at a time, since the range may be longer than the limit of open files.
std::size_t count_free_ports(const launcher::PortRange& ports) {
  std::size_t count = 0;
  for (unsigned port = ports.first + 1U; port <= ports.last; ++port) {
    try {
      if (os::claim_port(static_cast<std::uint16_t>(port))) ++count;
    } catch (const Error&) {  // No rank can listen at a port that cannot be checked.
    }
  }
  return count;
}

// Returns what MPI would know about the other ranks of the job. The preflight's own ranks do not
// matter.
launcher::MpiView mpi_view_of_job(const launcher::Options& options,
                                  const launcher::PreflightRequest& request,
                                  const std::vector<std::string>& environment) {
  const bool is_only_host = cluster::find_variable(environment, "ROTA_WORLD_SIZE") == "1";
  const std::size_t on_others = is_only_host ? 0 : 1;  // At least 1: others are unknown here.
  const bool is_fixed = options.map_by == launcher::MapBy::kFixedPerNode;
  const std::size_t here = is_fixed ? options.ranks_per_node : request.slot_count;
  const std::size_t world_size =
      options.rank_count.value_or(request.world_size.value_or(here + on_others));
  return launcher::mpi_view_of(is_only_host ? world_size : here, world_size, environment);
}

void look_at_program(const launcher::Options& options, const launcher::PreflightRequest& request,
                     HostFacts& facts) {
  const std::vector<std::string> environment = os::environment();
  const launcher::ProgramCheck check =
      launcher::check_program(options, environment, mpi_view_of_job(options, request, environment));
  facts.program_trouble = check.complaint;
  facts.is_program_of_mpi = check.is_of_mpi;
  std::vector<std::byte> digests;
  for (std::size_t i = 0; i < options.groups.size(); ++i) {
    const bool is_found = i < check.program_paths.size() && !check.program_paths[i].empty();
    const std::string& name = options.groups[i].program.front();
    facts.program += (i == 0 ? "" : " : ") + (is_found ? check.program_paths[i] : name);
    const std::filesystem::path directory = options.groups[i].working_directory;
    const auto digest = is_found
                            ? auth::digest_of_file((directory / check.program_paths[i]).string())
                            : std::nullopt;
    if (!digest) return;
    facts.program_bytes += digest->bytes;
    digests.insert(digests.end(), digest->sha256.begin(), digest->sha256.end());
  }
  const bool is_one = options.groups.size() == 1;
  facts.program_sha256 = base::to_hex(is_one ? std::span<const std::byte>(digests)
                                             : std::span<const std::byte>(auth::sha256(digests)));
}

}  // namespace

bool operator==(const HostFacts& one, const HostFacts& other) {
  return encode(one) == encode(other);
}

HostFacts gather(const launcher::Options& options, const launcher::PreflightRequest& request) {
  const launcher::Facts found = launcher::gather_facts();
  HostFacts facts{.version = ROTA_VERSION,
                  .architecture = os::architecture(),
                  .kernels = kernels::best_variant().name,
                  .slot_count = request.slot_count,
                  .most_slots = request.most_slots,
                  .cpus = launcher::slots_of(options, found).reason,
                  .device_count = launcher::find_devices().size(),
                  .memory_bytes = found.memory_bytes,
                  .locked_memory_bytes = os::locked_memory_limit_bytes(),
                  .shared_memory_bytes = free_bytes("/dev/shm"),
                  .address_limit = found.address_limit,
                  .file_size_limit = found.file_size_limit,
                  .process_limit = os::process_limit(),
                  .open_files = found.open_files,
                  .free_port_count = count_free_ports(options.ports)};
  look_at_program(options, request, facts);
  return facts;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const base::TransportRow& row : base::kTransports) {
    // Without an installed MPI, ranks cannot use that transport.
    if (base::may_be_asked_for(row) && row.name != base::kOverMpi) names.emplace_back(row.name);
  }
  return names;
}

std::string encode(const HostFacts& facts) {
  base::ByteWriter out;
  for (const std::string* text :
       {&facts.version, &facts.architecture, &facts.kernels, &facts.program, &facts.program_sha256,
        &facts.program_trouble, &facts.cpus}) {
    out.write(*text);
  }
  for (const std::uint64_t number :
       {facts.program_bytes, std::uint64_t{facts.slot_count}, std::uint64_t{facts.device_count},
        facts.memory_bytes, facts.locked_memory_bytes,
        std::uint64_t{facts.shared_memory_bytes.has_value()}, facts.shared_memory_bytes.value_or(0),
        facts.address_limit, facts.file_size_limit, facts.process_limit, facts.open_files.soft,
        facts.open_files.hard, std::uint64_t{facts.free_port_count},
        std::uint64_t{facts.is_program_of_mpi}, std::uint64_t{facts.most_slots.value_or(0)}}) {
    out.write(number);
  }
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<HostFacts> decode_facts(std::string_view text) {
  base::ByteReader in(std::as_bytes(std::span(text)));
  HostFacts facts;
  for (std::string* field : {&facts.version, &facts.architecture, &facts.kernels, &facts.program,
                             &facts.program_sha256, &facts.program_trouble, &facts.cpus}) {
    *field = in.read_text();
  }
  facts.program_bytes = in.read<std::uint64_t>();
  facts.slot_count = static_cast<std::size_t>(in.read<std::uint64_t>());
  facts.device_count = static_cast<std::size_t>(in.read<std::uint64_t>());
  facts.memory_bytes = in.read<std::uint64_t>();
  facts.locked_memory_bytes = in.read<std::uint64_t>();
  const bool has_shared_memory = in.read<std::uint64_t>() != 0;
  const auto shared_memory_bytes = in.read<std::uint64_t>();
  if (has_shared_memory) facts.shared_memory_bytes = shared_memory_bytes;
  facts.address_limit = in.read<std::uint64_t>();
  facts.file_size_limit = in.read<std::uint64_t>();
  facts.process_limit = in.read<std::uint64_t>();
  facts.open_files.soft = in.read<std::uint64_t>();
  facts.open_files.hard = in.read<std::uint64_t>();
  facts.free_port_count = static_cast<std::size_t>(in.read<std::uint64_t>());
  facts.is_program_of_mpi = in.read<std::uint64_t>() != 0;
  const auto most_slots = static_cast<std::size_t>(in.read<std::uint64_t>());
  if (most_slots > 0) facts.most_slots = most_slots;
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return facts;
}

}  // namespace rota::preflight

// Has the facts about a host from which the preflight judges whether a job could run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/preflight_job.h"
#include "os/host.h"

namespace rota::preflight {

struct HostFacts {
  std::string version{};       // Version of rota.
  std::string architecture{};  // "x86_64"
  std::string kernels{};       // Variant of the arithmetic kernels: "avx2".

  // The program: its path, size and digest, or what is wrong with it.
  std::string program{};
  std::uint64_t program_bytes = 0;
  std::string program_sha256{};  // Empty: the program cannot be read.
  std::string program_trouble{};
  bool is_program_of_mpi = false;  // True if the trouble is that the program needs MPI.

  std::size_t slot_count = 0;
  std::optional<std::size_t> most_slots{};  // The max_slots of a host list.
  std::string cpus{};                       // "2 CPUs allowed, no quota"
  std::size_t device_count = 0;
  std::uint64_t memory_bytes = 0;  // Of the machine, or the limit of the control group.
  std::uint64_t locked_memory_bytes = UINT64_MAX;
  std::optional<std::uint64_t> shared_memory_bytes{};  // Free in /dev/shm.

  // Limits, as ulimit -v, -f and -u say. UINT64_MAX means no limit.
  std::uint64_t address_limit = UINT64_MAX;
  std::uint64_t file_size_limit = UINT64_MAX;
  std::uint64_t process_limit = UINT64_MAX;
  os::OpenFileLimits open_files{};
  std::size_t free_port_count = 0;  // Free ports of --ports for ranks, without the preflight's own.

  friend bool operator==(const HostFacts&, const HostFacts&);
};

// Gathers the facts of this host. The process must run as a rank of the job would: in the same
// directory, with the same environment and limits.
HostFacts gather(const launcher::Options& options, const launcher::PreflightRequest& request);

// Returns the names of the transports that a job can ask for in this version.
std::vector<std::string> transport_names();

std::string encode(const HostFacts& facts);

// Returns the facts; empty if the text is incomplete or malformed.
std::optional<HostFacts> decode_facts(std::string_view text);

}  // namespace rota::preflight

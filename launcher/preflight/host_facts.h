// What a host says about itself when it is asked whether a job could run.
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
  std::string version{};       // Of rota.
  std::string architecture{};  // "x86_64"
  std::string kernels{};       // The variant of the arithmetic: "avx2".

  // The program: where it is and what it holds, or what is wrong with it.
  std::string program{};
  std::uint64_t program_bytes = 0;
  std::string program_sha256{};  // Empty: it cannot be read.
  std::string program_trouble{};
  bool is_program_of_mpi = false;  // That is the trouble.

  std::size_t slot_count = 0;
  std::string cpus{};  // "2 CPUs allowed, no quota"
  std::size_t device_count = 0;
  std::uint64_t memory_bytes = 0;  // Of the machine, or as much as the control group grants.
  std::uint64_t locked_memory_bytes = UINT64_MAX;
  std::optional<std::uint64_t> shared_memory_bytes{};  // Free in /dev/shm.
  os::OpenFileLimits open_files{};
  std::size_t free_port_count = 0;  // Of --ports, for ranks, beside what the preflight takes.

  friend bool operator==(const HostFacts&, const HostFacts&);
};

// Of this host, in a process that runs as a rank of the job would: in its directory, with its
// environment and its limits.
HostFacts gather(const launcher::Options& options, const launcher::PreflightOrders& orders);

// Those that a job of this version may ask for.
std::vector<std::string> transport_names();

std::string encode(const HostFacts& facts);

// Empty where the text is not whole and well-formed.
std::optional<HostFacts> decode_facts(std::string_view text);

}  // namespace rota::preflight

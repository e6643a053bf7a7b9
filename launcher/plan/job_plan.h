// Makes the plan of a job on one host: everything that is decided before a process starts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/plan/layout.h"
#include "launcher/plan/placement.h"
#include "launcher/plan/slots.h"
#include "os/host.h"
#include "rendezvous/job.h"

namespace rota::launcher {

// The facts that rotarun has found out about this machine.
struct Facts {
  std::string host;
  std::vector<int> allowed_cpus;
  std::optional<double> cpu_quota;
  DeclaredRanks declared;                      // What a source declares for this host.
  std::uint64_t memory_bytes = 0;              // Of the machine, or the limit of its control group.
  std::uint64_t file_size_limit = UINT64_MAX;  // Limits an arena, which counts as a file.
  std::uint64_t address_limit = UINT64_MAX;    // Limits the arenas that a rank maps.
  os::OpenFileLimits open_files{UINT64_MAX, UINT64_MAX};
  bool is_pod = false;  // In a pod of Kubernetes.
};

struct JobPlan {
  rendezvous::Job job;
  Slots slots;
  Layout layout;
  HostAssignment assignment;          // Of this host.
  std::size_t arena_bytes = 0;        // 0: there are no arenas.
  std::vector<std::string> why;       // Sentences for --verbose.
  std::vector<std::string> warnings;  // Sentences that are always shown.
};

Facts gather_facts();

// Returns how many ranks can have CPUs of their own here.
Slots slots_of(const Options& options, const Facts& facts);

// Returns the bytes of a rank's arena. Throws Error kNoMemory if the limits of this host leave no
// room for an arena.
std::size_t size_arena(const Facts& facts, std::size_t rank_count);

// Returns the option of ulimit that makes the arenas smaller than the memory of this host: "-f" or
// "-v". Returns an empty text if no limit does.
std::string_view limit_of_arena(const Facts& facts, std::size_t rank_count);

// Throws UsageError if the rank table exceeds the largest table, and Error kNoMemory if it exceeds
// the largest file on this host.
void require_fitting(const rendezvous::Job& job, const Facts& facts);

// Makes the plan. Calls `read_cores` only if ranks are to be bound. Throws UsageError, and Error
// kNoMemory as the functions above.
JobPlan make_plan(const Options& options, const Facts& facts,
                  const std::function<std::vector<Core>()>& read_cores);

}  // namespace rota::launcher

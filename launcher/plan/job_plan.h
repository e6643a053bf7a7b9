// Everything about a job that is decided before anything starts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/plan/host_share.h"
#include "launcher/plan/layout.h"
#include "launcher/plan/placement.h"
#include "launcher/plan/slots.h"
#include "os/host.h"
#include "rendezvous/job.h"

namespace rota::launcher {

// What the machine says about itself.
struct Facts {
  std::string host;
  std::vector<int> allowed_cpus;
  std::optional<double> cpu_quota;
  DeclaredRanks declared;          // Where --np says nothing.
  std::uint64_t memory_bytes = 0;  // Of the machine, or as much as the control group grants.
  std::uint64_t file_size_limit = UINT64_MAX;  // Of an arena, which counts as a file.
  os::OpenFileLimits open_files{UINT64_MAX, UINT64_MAX};
  bool is_pod = false;  // Of Kubernetes.
};

struct JobPlan {
  rendezvous::Job job;
  Slots slots;
  Layout layout;
  Share share;                        // Of this host.
  std::size_t arena_bytes = 0;        // 0: there are no arenas.
  std::vector<std::string> why;       // A sentence each, for --verbose.
  std::vector<std::string> warnings;  // A sentence each, for everybody.
};

Facts gather_facts();

// How many ranks have CPUs to themselves here.
Slots slots_of(const Options& options, const Facts& facts);

// The bytes of a rank's arena. Throws UsageError where the limits of this host leave no room for
// it.
std::size_t size_arena(const Facts& facts, std::size_t rank_count);

// Throws UsageError where the table is longer than one may be, or than a file of this host.
void require_fitting(const rendezvous::Job& job, const Facts& facts);

// `read_cores` is called only when ranks are to be bound. Throws UsageError.
JobPlan make_plan(const Options& options, const Facts& facts,
                  const std::function<std::vector<Core>()>& read_cores);

}  // namespace rota::launcher

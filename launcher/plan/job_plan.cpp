// Makes the plan of a job: everything that is decided before a process starts.
#include "launcher/plan/job_plan.h"

#include <algorithm>

#include <rota/error.h>

#include "base/arena_size.h"
#include "base/counted.h"
#include "base/transports.h"
#include "cluster/environment.h"
#include "launcher/plan/file_need.h"
#include "os/cgroup.h"
#include "os/host.h"
#include "rendezvous/message.h"

namespace rota::launcher {
namespace {

constexpr bool kIs64Bit = sizeof(void*) == 8;

// Room for the address that a rank's row gets when the rank listens.
constexpr std::string_view kLongestAddress = "127.0.0.1:65535";

// Uses the declared slots of this host or, if none are declared, the counted slots.
Layout lay_out_here(const Options& options, const Facts& facts, const Slots& slots) {
  if (slots.count == 0) throw UsageError(lack_of_slots(*options.cpus_per_rank, slots));
  const HostSlots here{.name = facts.host,
                       .slot_count = facts.declared.count.value_or(slots.count),
                       .most = facts.declared.most};
  return lay_out({here}, layout_rules(options));
}

RankTable make_table(const Options& options, const Facts& facts, const Layout& layout,
                     const std::vector<Cpus>& places) {
  RankTable table;
  table.source = "rotarun -np " + std::to_string(layout.places.size());
  table.tuned = options.tuned_file;
  for (std::size_t rank = 0; rank < layout.places.size(); ++rank) {
    table.rows.push_back({.local_rank = layout.places[rank].local_rank,
                          .host = facts.host,
                          .address = {},
                          .cores = to_text(places[rank])});
  }
  return table;
}

std::string in_mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

base::ArenaLimits arena_limits(const Facts& facts) {
  return {.file_bytes = facts.file_size_limit, .address_bytes = facts.address_limit};
}

std::string count_reason(const Options& options, const Facts& facts) {
  if (options.rank_count) return " as --np says";
  if (options.map_by == MapBy::kFixedPerNode) return " as --map-by says";
  return facts.declared.count ? " as " + facts.declared.source + " says" : ", one for each slot";
}

std::vector<std::string> explain(const Options& options, const Facts& facts, const JobPlan& plan,
                                 std::size_t rank_count) {
  const std::string& transport = plan.job.table.transport;
  std::vector<std::string> why;
  why.push_back(base::counted(plan.slots.count, "slot", "slots") + ": " + plan.slots.reason);
  why.push_back(base::counted_ranks(rank_count) + count_reason(options, facts) +
                (plan.job.may_spin
                     ? ""
                     : "; there are more ranks than slots, so waiting ranks yield the CPU"));
  why.push_back("transport " + transport +
                (options.transport ? ": as --transport says" : ": all ranks are on one host"));
  if (options.encrypt) {
    why.emplace_back(base::listens(transport)
                         ? "traffic between ranks is encrypted"
                         : "there is nothing to encrypt: all data stays in this host's memory");
  }
  if (!options.tuned_file.empty()) {
    why.push_back("plans of all-reduces as " + options.tuned_file + " says");
  }
  if (plan.arena_bytes > 0) {
    const std::string_view limit = limit_of_arena(facts, rank_count);
    why.push_back("an arena of " + in_mebibytes(plan.arena_bytes) + " for each rank" +
                  (limit.empty() ? "" : ", as ulimit " + std::string(limit) + " allows no more") +
                  "; only the pages that are used take memory");
  }
  if (plan.slots.is_limited_by_quota && binding_of(options) != BindTo::kNone) {
    why.emplace_back("a quota does not reserve CPUs: other jobs may be bound to the same CPUs");
  }
  return why;
}

}  // namespace

std::size_t size_arena(const Facts& facts, std::size_t rank_count) {
  const std::size_t wanted = base::arena_bytes(facts.memory_bytes, rank_count, kIs64Bit);
  const std::size_t bytes = base::within_limits(wanted, rank_count, arena_limits(facts));
  if (bytes > 0) return bytes;
  throw Error(ErrorCode::kNoMemory,
              base::lack_of_room(rank_count, arena_limits(facts)) +
                  ", or use --transport tcp (if there are several hosts, on host 0)");
}

std::string_view limit_of_arena(const Facts& facts, std::size_t rank_count) {
  const std::size_t wanted = base::arena_bytes(facts.memory_bytes, rank_count, kIs64Bit);
  return base::shrinking_limit(wanted, rank_count, arena_limits(facts));
}

void require_fitting(const rendezvous::Job& job, const Facts& facts) {
  const std::size_t rank_count = job.table.rows.size();
  const bool listens = base::listens(job.table.transport);
  const std::size_t bytes = rendezvous::encode_table(job.table, job.domains).size() +
                            (listens ? rank_count * kLongestAddress.size() : 0);
  const bool is_limited = facts.file_size_limit < rendezvous::kMaxTableBytes;
  const std::uint64_t most = is_limited ? facts.file_size_limit : rendezvous::kMaxTableBytes;
  if (bytes <= most) return;
  const std::string lack = "--np " + std::to_string(rank_count) +
                           ": a table of that many ranks takes " + std::to_string(bytes) +
                           " bytes, but " + std::to_string(most);
  if (!is_limited) throw UsageError(lack + " is the most: give the hosts shorter names");
  throw Error(ErrorCode::kNoMemory, lack + " is the limit for a file (ulimit -f): raise the limit");
}

Facts gather_facts() {
  Facts facts;
  facts.host = os::host_name();
  facts.allowed_cpus = os::allowed_cpus();
  facts.cpu_quota = os::cpu_quota();
  const std::uint64_t physical = os::physical_memory_bytes();
  facts.memory_bytes = std::min(physical, os::memory_limit_bytes().value_or(physical));
  facts.file_size_limit = os::file_size_limit_bytes();
  facts.address_limit = os::address_limit_bytes();
  facts.open_files = os::open_file_limits();
  facts.is_pod = cluster::is_set(os::environment(), "KUBERNETES_SERVICE_HOST");
  return facts;
}

Slots slots_of(const Options& options, const Facts& facts) {
  return count_slots(facts.allowed_cpus.size(), facts.cpu_quota, options.cpus_per_rank.value_or(1));
}

JobPlan make_plan(const Options& options, const Facts& facts,
                  const std::function<std::vector<Core>()>& read_cores) {
  JobPlan plan;
  plan.slots = slots_of(options, facts);
  plan.layout = lay_out_here(options, facts, plan.slots);
  if (!plan.layout.warning.empty()) plan.warnings.push_back(plan.layout.warning);
  const std::size_t rank_count = plan.layout.places.size();
  const Binding binding = binding_rules(options);
  std::vector<Core> cores;
  if (binding.bind_to != BindTo::kNone) cores = limit_cores(read_cores(), plan.slots.cpu_count);
  const base::TransportRow& row =
      options.transport ? *options.transport : base::transport_for(base::Sharing::kAll);
  const std::string transport(row.name);
  plan.assignment = assignment_of(plan.layout, 0, options.groups, transport);
  plan.assignment.evaluators = evaluators_of(options.groups);
  plan.assignment.places = place_ranks(cores, rank_count, binding);
  const std::string lack = lack_of_files(files_needed(plan.assignment, options), facts.open_files);
  if (!lack.empty()) plan.warnings.push_back(lack);
  const std::string cpu_lack = lack_of_cpu(rank_count, facts.cpu_quota, facts.is_pod);
  if (!cpu_lack.empty() && plan.layout.warning.empty()) plan.warnings.push_back(cpu_lack);
  plan.job.table = make_table(options, facts, plan.layout, plan.assignment.places);
  plan.job.table.transport = transport;
  plan.job.deadline = options.deadline;
  plan.job.may_spin = rank_count <= plan.slots.cpu_count;
  plan.job.verbose = options.verbose;
  plan.job.encrypts = options.encrypt;
  if (row.sharing == base::Sharing::kAll) plan.arena_bytes = size_arena(facts, rank_count);
  require_fitting(plan.job, facts);
  plan.why = explain(options, facts, plan, rank_count);
  return plan;
}

}  // namespace rota::launcher

// Chooses algorithms from the settings, the tuned file and the default table, in this order.
#include "communicator/planner.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/assert.h"
#include "base/counted.h"
#include "base/number_text.h"
#include "communicator/memory_need.h"
#include "communicator/topology.h"
#include "device/begin.h"
#include "device/block.h"
#include "device/calls.h"
#include "device/owned.h"
#include "memory/kind.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Choice;
using collectives::Collective;
using collectives::Description;
using collectives::PlannedCollective;

// Returns a text such as "64 bytes", "1.5 KiB" or "4 MiB".
std::string in_units(std::size_t bytes) {
  if (bytes < 1024) return base::counted(bytes, "byte", "bytes");
  const char* const units[] = {" KiB", " MiB", " GiB"};
  auto number = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(units); ++unit) number /= 1024;
  return base::rounded_text(number, 4) + units[unit];
}

constexpr std::size_t kMostPlanned = 1024;

std::size_t bytes_of_values(const Description& call) noexcept {
  return call.count * bytes_of(call.type);
}

// The next two functions return how much of the caller's memory an operation uses. Calls that share
// a plan need the same answer, whichever of them is planned first. So a group counts as one buffer,
// and a buffer that only the root uses counts nowhere else, even if the caller gives one.
std::size_t used_value_bytes(const Call& call, const Description& what, bool is_root) noexcept {
  if (!call.group.empty()) return bytes_of_values(what);
  const bool is_for_root = what.collective == Collective::kGather ||
                           (what.collective == Collective::kReduce && call.input);
  return call.values && (is_root || !is_for_root) ? call.values->bytes() : 0;
}

std::size_t used_input_bytes(const Call& call, const Description& what, bool is_root) noexcept {
  const bool is_for_root = what.collective == Collective::kScatter;
  return call.input && (is_root || !is_for_root) ? call.input->bytes() : 0;
}

}  // namespace

Planner::Planner(const Group& group, const Settings& settings)
    : group_(group),
      settings_(settings),
      world_{.world_size = group.world_size(),
             .shares_memory = group.transport && group.transport->shared_memory(),
             .host_count = host_count_of(hosts_of(group.table))} {}

bool Planner::has_addresses_of(const Known& known, const Call& call) noexcept {
  const KnownAddresses& addresses = *known.addresses;
  return (!call.values || addresses.knows(*call.values)) &&
         (!call.input || addresses.knows(*call.input)) &&
         (call.group.empty() || known.freed_count == device::freed_count());
}

void Planner::examine(const Call& call, Known& known) {
  const std::uint64_t freed_count = device::freed_count();
  PlannedPtr planned =
      planned_for(call, describe(call, group_.rank, group_.world_size(), &addresses_));
  known.group.assign(call.group.begin(), call.group.end());
  known.number = ++examined_;
  known.freed_count = freed_count;
  known.repeats = call.what.uneven || call.what.feeds_back ? nullptr : planned.get();
  known.value_count = call.values ? call.values->count() : 0;
  known.input_count = call.input ? call.input->count() : 0;
  known.addresses = device::calls_in_use() ? &addresses_ : nullptr;
  known.planned = std::move(planned);
}

// The choice depends only on the description, so the result is cached. Calls with uneven counts are
// not cached: they are not expected to be repeated.
Planner::PlannedPtr Planner::planned_for(const Call& call, const Description& what) {
  if (!what.uneven) {
    const auto found = planned_.find(what);
    if (found != planned_.end()) return found->second;
  }
  Description chosen = what;
  chosen.codec = codec_for(what);
  const Choice choice = choice_for(chosen);
  chosen.algorithm = choice.algorithm;
  say_once(chosen, choice.why);
  PlannedPtr planned = make(call, what, chosen);
  if (what.uneven) return planned;
  // The number of plans is limited, because a program that never repeats a count would fill the
  // memory with them.
  if (planned_.size() >= kMostPlanned) planned_.clear();
  planned_[what] = planned;
  return planned;
}

Codec Planner::codec_for(const Description& call) const noexcept {
  if (call.reduction.codec() || settings_.codec == Codec::kIdentity) return call.codec;
  const bool is_worth_it =
      call.collective == Collective::kAllReduce && call.type == DataType::kFloat32 &&
      call.reduction.op() <= ReduceOp::kMean && bytes_of_values(call) >= kLeastCodedBytes;
  return is_worth_it ? settings_.codec : Codec::kIdentity;
}

Choice Planner::choice_for(const Description& call) const noexcept {
  if (call.codec != Codec::kIdentity) return {Algorithm::kRing, "coded"};
  if (library_runs(call)) return {*settings_.all_reduce, "asked for"};
  const bool asks_for_plan =
      settings_.all_reduce && !collectives::is_of_library(*settings_.all_reduce);
  if (call.collective == Collective::kAllReduce && asks_for_plan) {
    return {*settings_.all_reduce, "asked for"};
  }
  if (call.collective == Collective::kAllReduce && group_.tuned) {
    return {tuned_all_reduce(*group_.tuned, bytes_of_values(call)), "as the tuned file says"};
  }
  return collectives::choose(call, world_);
}

// Returns whether the user asks for the collectives of another library, and that library can run
// this call. What it cannot run goes as if the user had asked for nothing.
bool Planner::library_runs(const Description& call) const noexcept {
  if (!settings_.all_reduce || !collectives::is_of_library(*settings_.all_reduce)) return false;
  const collectives::Method& method = *group_.methods[method_of(*settings_.all_reduce)];
  return collectives::makes(*settings_.all_reduce, call.collective) && method.takes(call.memory) &&
         method.why_not(call).empty();
}

std::size_t Planner::method_of(Algorithm algorithm) const noexcept {
  const auto method = std::ranges::find_if(
      group_.methods, [&](const auto& each) { return each->makes(algorithm); });
  ROTA_ASSERT(method != group_.methods.end());
  return static_cast<std::size_t>(method - group_.methods.begin());
}

// Returns the method that runs the chosen algorithm on values in the memory of the call.
std::size_t Planner::method_for(const Description& chosen) const {
  const auto method = std::ranges::find_if(group_.methods, [&](const auto& each) {
    return each->makes(chosen.algorithm) && each->takes(chosen.memory);
  });
  if (method != group_.methods.end()) {
    return static_cast<std::size_t>(method - group_.methods.begin());
  }
  throw Error(ErrorCode::kInvalidArgument,
              std::string(to_string(chosen.collective)) + ": the plan " +
                  std::string(to_string(chosen.algorithm)) + " cannot use values in " +
                  memory::to_text(chosen.memory) + " here: copy them to host memory first");
}

Planner::PlannedPtr Planner::make(const Call& call, const Description& what,
                                  const Description& chosen) const {
  const bool is_root = group_.rank == what.root;
  const auto planned = std::make_shared<PlannedCollective>(PlannedCollective{
      .call = what,
      .signature = {chosen, group_.rank},
      .reducer = {*settings_.reductions, what.type, what.reduction, group_.world_size(),
                  collectives::is_of_library(chosen.algorithm)},
      .value_bytes = used_value_bytes(call, what, is_root),
      .input_bytes = used_input_bytes(call, what, is_root),
      .feedback_bytes = call.feedback ? call.feedback->bytes() : 0});
  if (chosen.codec != Codec::kIdentity) {
    planned->coder.emplace(*settings_.codings, chosen.codec, what.reduction.op(), group_.rank,
                           group_.world_size(), settings_.codec_seed);
  }
  const std::size_t method = method_for(chosen);
  planned->method = static_cast<std::uint8_t>(method);
  if (group_.methods[method]->runs_plans()) make_plan(call, chosen, *planned);
  return planned;
}

void Planner::make_plan(const Call& call, const Description& chosen,
                        PlannedCollective& planned) const {
  const std::size_t element_bytes = bytes_of(chosen.type);
  collectives::PlanRequest request{chosen, group_.rank, group_.world_size(), element_bytes};
  request.pre_scales = collectives::reduces(chosen.collective) && planned.reducer.needs_pre_scale();
  request.counts = call.counts;
  request.receive_counts = call.receive_counts;
  std::vector<std::size_t> hosts;
  if (collectives::looks_at_hosts(chosen.algorithm)) hosts = hosts_of(group_.table);
  request.hosts = hosts;
  if (!chosen.memory.is_host()) {
    // Segments of a few values need no more memory than the values.
    const std::size_t most = transport::Channel::kPartGrain / element_bytes;
    request.segment_count = std::clamp<std::size_t>(chosen.count, 1, most);
  }
  planned.plan = collectives::make_plan(request);
  if (chosen.memory.is_host()) {
    allocate_on_host(planned, element_bytes);
  } else {
    allocate_on_device(planned, element_bytes);
  }
}

void Planner::allocate_on_host(PlannedCollective& planned, std::size_t element_bytes) const {
  const collectives::Plan& plan = planned.plan;
  if (plan.scratch_count > 0) {
    planned.scratch = allocate_for(group_, plan.scratch_count * element_bytes);
  }
  if (plan.coded_count > 0) {
    planned.coded = allocate_for(group_, planned.coder->bytes(plan.coded_count));
  }
}

// What is coded is in pinned memory: the device encodes into it, and messages come from it.
void Planner::allocate_on_device(PlannedCollective& planned, std::size_t element_bytes) {
  const collectives::Plan& plan = planned.plan;
  device::begin_use(planned.call.memory.device());  // Pinned memory takes a device that is in use.
  if (plan.scratch_count > 0) {
    planned.device_scratch =
        allocate_device(plan.scratch_count * element_bytes, planned.call.memory.device());
  }
  if (plan.coded_count > 0) {
    planned.coded = device::allocate_pinned(planned.coder->bytes(plan.coded_count));
  }
}

// For --verbose: prints the way in which a collective runs, when it runs in this way for the first
// time. Prints nothing in a world of one, where there is no choice.
void Planner::say_once(const Description& call, const char* why) {
  if (!group_.verbose || group_.rank != 0 || group_.world_size() == 1) return;
  const std::string collective(to_string(call.collective));
  const std::string way = std::string(to_string(call.algorithm)) + " (" + why + ")";
  const std::string key = collective + ": " + way;
  if (std::ranges::find(said_, key) != said_.end()) return;
  said_.push_back(key);
  std::string line = "rota: " + collective;
  if (call.collective != Collective::kBarrier) {
    line += " of " + in_units(bytes_of_values(call));
    if (call.type != DataType::kByte) line += " " + std::string(to_string(call.type));
    if (call.codec != Codec::kIdentity) line += " as " + std::string(to_string(call.codec));
  }
  line += " on " + base::counted_ranks(group_.world_size());
  if (group_.name != Group{}.name) line += " of communicator " + group_.name;
  line += " over " + group_.table.transport + ": " + way + "\n";
  std::fputs(line.c_str(), stderr);  // In one write: other processes write there too.
}

}  // namespace rota

// Asks the settings, the tuned file and the table of choices, in this order.
#include "communicator/planner.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "base/assert.h"
#include "communicator/memory_need.h"
#include "communicator/topology.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Choice;
using collectives::Collective;
using collectives::Description;
using collectives::PlannedCollective;

// "64 bytes", "1.5 KiB", "4 MiB"
std::string in_units(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  const char* const units[] = {" KiB", " MiB", " GiB"};
  auto number = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(units); ++unit) number /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", number);
  return text.data() + std::string(units[unit]);
}

constexpr std::size_t kMostPlanned = 1024;

std::size_t bytes_of_values(const Description& call) noexcept {
  return call.count * bytes_of(call.type);
}

}  // namespace

Planner::Planner(const Group& group, const Settings& settings)
    : group_(group),
      settings_(settings),
      world_{.world_size = group.world_size(),
             .shares_memory = group.transport && group.transport->shared_memory(),
             .host_count = host_count_of(hosts_of(group.table))} {}

void Planner::examine(const Call& call, Known& known) {
  PlannedPtr planned = planned_for(call, describe(call, group_.rank, group_.world_size()));
  known.group.assign(call.group.begin(), call.group.end());
  known.number = ++examined_;
  known.planned = std::move(planned);
}

// What is chosen follows from what was asked for. Calls with counts of their own are not expected
// to come again.
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
  // A program that never uses a count twice would fill the memory with plans.
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
  if (call.collective == Collective::kAllReduce && settings_.all_reduce) {
    return {*settings_.all_reduce, "asked for"};
  }
  if (call.collective == Collective::kAllReduce && group_.tuned) {
    return {tuned_all_reduce(*group_.tuned, bytes_of_values(call)), "as the tuned file says"};
  }
  return collectives::choose(call, world_);
}

Planner::PlannedPtr Planner::make(const Call& call, const Description& what,
                                  const Description& chosen) const {
  const auto planned = std::make_shared<PlannedCollective>(PlannedCollective{
      .call = what,
      .signature = {chosen, group_.rank},
      .reducer = {*settings_.reductions, what.type, what.reduction, group_.world_size()},
      .value_bytes = call.values ? call.values->bytes() : 0,
      .input_bytes = call.input ? call.input->bytes() : 0,
      .feedback_bytes = call.feedback ? call.feedback->bytes() : 0});
  if (chosen.codec != Codec::kIdentity) {
    planned->coder.emplace(*settings_.codings, chosen.codec, what.reduction.op(), group_.rank,
                           group_.world_size(), settings_.codec_seed);
  }
  const auto method = std::ranges::find_if(
      group_.methods, [&](const auto& each) { return each->makes(chosen.algorithm); });
  ROTA_ASSERT(method != group_.methods.end());
  planned->method = static_cast<std::uint8_t>(method - group_.methods.begin());
  if ((*method)->runs_plans()) make_plan(call, chosen, *planned);
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
  planned.plan = collectives::make_plan(request);
  const collectives::Plan& plan = planned.plan;
  if (plan.scratch_count > 0) {
    planned.scratch = allocate_for(group_, plan.scratch_count * element_bytes);
  }
  if (plan.coded_count > 0) {
    planned.coded = allocate_for(group_, planned.coder->bytes(plan.coded_count));
  }
}

// For whoever started the job with --verbose: one line for each way to make a collective. Where
// there is one rank, there is no choice.
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
  line += " on " + std::to_string(group_.world_size()) + " ranks";
  if (group_.name != Group{}.name) line += " of communicator " + group_.name;
  line += " over " + group_.table.transport + ": " + way + "\n";
  std::fputs(line.c_str(), stderr);  // In one piece: others write there too.
}

}  // namespace rota

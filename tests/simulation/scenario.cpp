// Draws worlds, calls and failures. Rare combinations are drawn on purpose, so that seeds meet them
// often enough.
#include "simulation/scenario.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/transports.h"

namespace rota::simulation {
namespace {

constexpr std::array<std::string_view, kKinds> kKindNames = {
    "all-reduce", "group",      "reduce",    "reduce-scatter", "all-gather", "gather",
    "scatter",    "all-to-all", "broadcast", "barrier",        "shift",      "relay"};
constexpr std::array<std::string_view, kFailures> kFailureNames = {
    "none",   "aborts",  "dies",      "stops",   "pauses",
    "leaves", "is late", "disagrees", "starves", "faults"};
constexpr std::array<std::string_view, kPlaces> kPlaceNames = {"all share", "it shares",
                                                               "it is alone", "none shares"};

base::Domains draw_domains(Random& random) {
  base::Domains domains(random.between(2, 6));
  const std::uint64_t shape = random.below(6);
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    if (shape == 0) domains[rank] = static_cast<std::uint32_t>(rank);
    if (shape == 1) domains[rank] = static_cast<std::uint32_t>(rank / 2);
    if (shape >= 4) domains[rank] = static_cast<std::uint32_t>(random.below(shape - 2));
  }
  return domains;
}

// Returns a count for float32 or int64 values: few that fit into a post, less than a page, or
// several pages.
std::size_t draw_count(Random& random, bool may_be_large) {
  switch (random.below(may_be_large ? 10 : 6)) {
    case 0:
      return random.below(4);
    case 1:
    case 2:
      return random.between(1, 12);
    case 6:
    case 7:
      return random.between(2000, 6000);
    default:
      return random.between(13, 300);
  }
}

}  // namespace

std::string_view name_of(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Failure failure) {
  return kFailureNames[static_cast<std::size_t>(failure)];
}
std::string_view name_of(Place place) { return kPlaceNames[static_cast<std::size_t>(place)]; }

Scenario::Scenario(std::uint64_t chosen) : seed(chosen) {
  Random random(seed);
  domains = draw_domains(random);
  plan = random.one_of<const char*>({"auto", "auto", "auto", "ring", "direct", "hub", "by-host",
                                     "halving-doubling", "tree", "two-level", "star"});
  has_launcher = !random.one_in(4);
  deadline = std::chrono::milliseconds(random.between(400, 800));
  lateness = std::chrono::nanoseconds(random.one_of({0, 1'000, 100'000, 10'000'000}));
  late = random.one_of({Late::kAll, Late::kSomePlaces, Late::kByLook, Late::kByLook});
  switch_one_in = random.one_of<std::uint64_t>({1, 2, 4, 16, 64});
  batches.resize(random.one_in(4) ? random.between(2, 4) : 1);
  for (auto& batch : batches) {
    batch.resize(random.one_in(3) ? random.between(2, 9) : 1);
    for (Call& call : batch) call = draw_call(random, batch.size() == 1);
  }
  draw_failure(random);
  if (random.one_in(3)) draw_taking_back(random);
  if (random.one_in(40)) draw_large(random);
  if (has_launcher && random.one_in(10)) draw_mpi(random);
  // A rank that reaches all others through memory sends nothing over sockets, so it cannot starve.
  if (failure == Failure::kStarves && is_in_memory()) {
    failure = random.one_of({Failure::kDies, Failure::kStops});
  }
  if (!is_over_mpi && random.one_in(8)) draw_devices(random);
}

// Draws which ranks have their values on a device. Ranks with devices do not share memory here. The
// host cannot read the values of a device, and so cannot pack the buffers of a group.
void Scenario::draw_devices(Random& random) {
  std::iota(domains.begin(), domains.end(), 0U);
  on_device = static_cast<std::uint32_t>(random.between(1, (std::uint64_t{1} << world_size()) - 1));
  for (auto& batch : batches) {
    for (Call& call : batch) {
      call.on_heap = ~std::uint32_t{0};
      if (call.kind == Kind::kGroup) call.kind = Kind::kAllReduce;
    }
  }
  if (!random.one_in(3)) return;
  failure = Failure::kFaults;
  fault_stays = random.one_in(2);
  second.reset();
  on_device |= 1U << failing;
  act = random.one_in(2) ? random.between(1, 40) : random.between(1, 400);
}

// Draws a scenario in which a rank wants its values back while a local peer passes them to another
// host. Other scenarios rarely have this.
void Scenario::draw_taking_back(Random& random) {
  const std::uint64_t shape = random.below(4);
  domains.resize(random.between(3, 6));
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    const std::uint64_t domain = shape == 0 ? 0 : shape == 1 ? random.below(2) : rank % 2;
    domains[rank] = static_cast<std::uint32_t>(domain);
  }
  plan = random.one_of<const char*>({"auto", "tree", "tree", "ring", "halving-doubling"});
  lateness = std::chrono::nanoseconds(random.one_of({1'000, 100'000, 10'000'000}));
  late = random.one_of({Late::kAll, Late::kSomePlaces, Late::kByLook});
  switch_one_in = random.one_of<std::uint64_t>({4, 16, 64});
  Call call = draw_call(random, true);
  call.kind = random.one_of({Kind::kBroadcast, Kind::kBroadcast, Kind::kBroadcast, Kind::kAllReduce,
                             Kind::kAllReduce, Kind::kRelay, Kind::kRelay, Kind::kRelay});
  call.count = random.between(200, 6000);
  call.codec = Codec::kIdentity;
  call.on_heap = 0;
  call.root = random.below(world_size());
  batches = {{call}};
  failure = Failure::kAborts;
  failing = random.one_in(2) ? random.below(world_size()) : call.root;
  failing_batch = 0;
  is_begun = true;
  looks = random.below(6);
  if (call.kind == Kind::kRelay || random.one_in(2)) second = random.below(world_size());
  late_comer.reset();
  if (random.one_in(3)) late_comer = random.below(world_size());
  if (second && random.one_in(2)) draw_second_to_give_up(random);
}

// Draws a scenario in which two ranks give up: first rank `second`, and later the root, whose
// values other ranks read. A third rank arrives at a time when it possibly sees neither abort yet.
void Scenario::draw_second_to_give_up(Random& random) {
  const std::size_t n = world_size();
  const auto another = [&] { return (failing + random.between(1, n - 1)) % n; };
  if (random.one_in(2)) domains.assign(domains.size(), 0);
  late = random.one_of({Late::kSomePlaces, Late::kSomePlaces, Late::kByLook});
  failing = batches[0][0].root;
  second = another();
  late_comer = another();
  pause = std::chrono::nanoseconds(random.between(1, static_cast<std::uint64_t>(lateness.count())));
}

// Draws one call with more values than a staging buffer holds, or than the ring for staged bytes
// holds. Most values are in private memory.
void Scenario::draw_large(Random& random) {
  constexpr std::size_t kStagedBytes = 256 * 1024;
  is_large = true;
  domains.assign(random.between(2, 3), 0);
  if (random.one_in(2)) domains.push_back(static_cast<std::uint32_t>(random.below(2)));
  plan = random.one_of<const char*>({"auto", "auto", "tree", "ring"});
  lateness = std::chrono::nanoseconds(random.one_of({1'000, 100'000, 10'000'000}));
  late = random.one_of({Late::kAll, Late::kSomePlaces, Late::kByLook});
  Call call = draw_call(random, true);
  call.kind = random.one_of({Kind::kAllReduce, Kind::kReduce, Kind::kBroadcast, Kind::kBroadcast,
                             Kind::kShift, Kind::kRelay});
  call.is_integer = true;
  call.count = random.between(kStagedBytes / 8, kStagedBytes / 8 * 3 / 2);
  call.codec = Codec::kIdentity;
  call.on_heap = ~static_cast<std::uint32_t>(random.one_in(2) ? 0 : random.next());
  call.root = random.below(world_size());
  batches = {{call}};
  failing = random.below(world_size());
  failing_batch = 0;
  second.reset();
  late_comer.reset();
}

// Ranks over MPI do not share memory. Only the launcher tells them about a failure.
void Scenario::draw_mpi(Random& random) {
  is_over_mpi = true;
  std::iota(domains.begin(), domains.end(), 0U);
  if (random.one_in(2)) plan = "mpi";
  if (failure == Failure::kStarves) failure = random.one_of({Failure::kDies, Failure::kStops});
}

Call Scenario::draw_call(Random& random, bool is_alone) const {
  Call call;
  call.kind = static_cast<Kind>(random.below(kKinds));
  const bool is_of_pairs =
      call.kind == Kind::kGather || call.kind == Kind::kScatter || call.kind == Kind::kAllToAll;
  call.count = draw_count(random, is_alone && !is_of_pairs);
  call.is_integer = random.one_in(4);
  call.op = random.one_of({ReduceOp::kSum, ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin});
  call.root = random.below(world_size());
  call.in_place = !random.one_in(3);
  if (random.one_in(5)) call.on_heap = static_cast<std::uint32_t>(random.next());
  const bool may_be_coded = call.kind == Kind::kAllReduce && (plan == "auto" || plan == "ring");
  if (may_be_coded && random.one_in(3)) {
    call.codec = random.one_of({Codec::kBfloat16, Codec::kFloat16, Codec::kInt8});
    call.is_integer = false;
    call.op = ReduceOp::kSum;
  }
  return call;
}

void Scenario::draw_failure(Random& random) {
  constexpr auto kLast = static_cast<std::uint64_t>(Failure::kStarves);
  failure = random.one_in(6) ? Failure::kNone : static_cast<Failure>(random.between(1, kLast));
  failing_batch = random.below(batches.size());
  // The root of a call fails more often than other ranks.
  const Call& call = batches[failing_batch][random.below(batches[failing_batch].size())];
  failing = random.one_in(2) ? call.root : random.below(world_size());
  is_begun = !random.one_in(4);
  looks = random.below(20);
  act = random.one_in(2) ? random.between(1, 40) : random.between(1, 400);
  const auto quarter = static_cast<std::uint64_t>(deadline.count()) / 4;
  pause = std::chrono::nanoseconds(random.between(1'000, quarter));
}

Place Scenario::place() const {
  const base::Sharing sharing = base::sharing_between(domains);
  if (sharing == base::Sharing::kAll) return Place::kAllShareMemory;
  if (sharing == base::Sharing::kNone) return Place::kNoneShares;
  return base::domain_of(domains, failing).size() > 1 ? Place::kHasPeers : Place::kIsAlone;
}

std::string Scenario::to_text() const {
  std::string text = "seed " + std::to_string(seed) + ": domains ";
  for (const std::uint32_t domain : domains) text += std::to_string(domain);
  if (is_over_mpi) text += ", over MPI";
  if (on_device != 0) {
    text += ", on devices";
    for (std::size_t rank = 0; rank < world_size(); ++rank) {
      if (is_on_device(rank)) text += " " + std::to_string(rank);
    }
  }
  text += ", plan " + plan + (has_launcher ? ", with" : ", without") + " a launcher, deadline " +
          base::to_text(deadline) + ", stores late by " + base::to_text(lateness) + "\n";
  for (std::size_t i = 0; i < batches.size(); ++i) {
    text += "  batch " + std::to_string(i) + ":";
    for (const Call& call : batches[i]) {
      text += " " + std::string(name_of(call.kind)) + " of " + std::to_string(call.count) +
              (call.is_integer ? " int64" : " float32") + (call.in_place ? "" : " from an input") +
              ", root " + std::to_string(call.root) + ";";
    }
    text += "\n";
  }
  text += "  rank " + std::to_string(failing);
  if (second) text += " and rank " + std::to_string(*second);
  text += " " + std::string(name_of(failure));
  if (late_comer) text += ", rank " + std::to_string(*late_comer) + " comes late";
  switch (failure) {
    case Failure::kNone:
      return text + " of its own accord";
    case Failure::kDies:
    case Failure::kStops:
    case Failure::kPauses:
    case Failure::kStarves:
    case Failure::kFaults:
      return text + " before its act " + std::to_string(act);
    default:
      return text + " at batch " + std::to_string(failing_batch) + (is_begun ? ", begun" : "");
  }
}

}  // namespace rota::simulation

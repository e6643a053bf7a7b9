// Opens each allocation of a peer once, and keeps it open until the peer shows another allocation
// at its address, or the group ends.
#include "collectives/shared/device_peers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <rota/error.h>

#include "collectives/algorithms.h"
#include "collectives/shared/offer.h"
#include "device/arrivals.h"
#include "device/calls.h"

namespace rota::collectives {
namespace {

// A program that never uses an allocation again would fill the address space with them.
constexpr std::size_t kMostOpened = 512;

bool has_functions(const cuda::Calls& calls) noexcept {
  return calls.find_allocation && calls.share && calls.open && calls.close && calls.reduce;
}

bool overlap(std::uint64_t base, std::uint64_t bytes, std::uint64_t other,
             std::uint64_t other_bytes) noexcept {
  return base < other + other_bytes && other < base + bytes;
}

Error offers_nonsense(std::size_t rank) {
  return {ErrorCode::kPeerLost,
          "rank " + std::to_string(rank) + " offers memory of a device that it does not have",
          rank};
}

}  // namespace

DevicePeers::DevicePeers(Flags& flags, bool tells)
    : flags_(flags),
      tells_(tells),
      is_possible_(flags.world_size() <= kMostRanks && has_functions(device::calls())),
      ends_(flags.world_size()) {}

DevicePeers::~DevicePeers() {
  if (!is_idle()) {
    worker_.abandon();
    return;
  }
  close_all();
}

void DevicePeers::close_all() noexcept {
  const cuda::Calls* const calls = device::calls_in_use();
  for (const Opened& each : opened_) {
    if (calls) calls->close(each.device, each.base);
  }
  opened_.clear();
}

bool DevicePeers::offer(const Operation& operation) {
  const Description& call = operation.planned->call;
  // A kernel that reads the values of others in place cannot multiply them first.
  if (!is_possible_ || operation.planned->reducer.needs_pre_scale()) return false;
  if (offer_.bytes().empty()) offer_ = flags_.allocate_for_devices(sizeof(DeviceOffer));
  const std::uint8_t device = call.memory.device();
  DeviceOffer own;
  if (gives_in(call, flags_.rank()) && !offer_run(contribution_of(operation), device, own.from)) {
    return false;
  }
  if (takes_in(call, flags_.rank()) &&
      !offer_run(buffer_of(operation, Buffer::kValues), device, own.to)) {
    return false;
  }
  std::memcpy(offer_.bytes().data(), &own, sizeof own);
  return true;
}

std::uint64_t DevicePeers::offset_of_offer() const noexcept {
  return static_cast<std::uint64_t>(offer_.bytes().data() - flags_.memory(flags_.rank()).data());
}

bool DevicePeers::offer_run(const std::byte* values, std::uint8_t device, DeviceOffer::Run& run) {
  cuda::Allocation allocation;
  const int error = device::calls().find_allocation(values, allocation);
  if (error != 0) {
    tell_once(error, "find the allocation of values");
    return false;
  }
  const cuda::MemoryHandle* handle = exported(allocation, device);
  if (!handle) return false;
  const auto base = reinterpret_cast<std::uintptr_t>(allocation.base);
  run = {.number = allocation.number,
         .base = base,
         .bytes = allocation.bytes,
         .offset = reinterpret_cast<std::uintptr_t>(values) - base,
         .handle = *handle};
  return true;
}

const cuda::MemoryHandle* DevicePeers::exported(const cuda::Allocation& allocation,
                                                std::uint8_t device) {
  const auto known = std::ranges::find_if(
      exported_, [&](const Exported& each) { return each.allocation.number == allocation.number; });
  if (known != exported_.end()) return known->is_refused ? nullptr : &known->handle;
  // What was at these addresses before was freed.
  std::erase_if(exported_, [&](const Exported& each) {
    return overlap(reinterpret_cast<std::uintptr_t>(each.allocation.base), each.allocation.bytes,
                   reinterpret_cast<std::uintptr_t>(allocation.base), allocation.bytes);
  });
  if (exported_.size() > kMostOpened) exported_.clear();
  Exported& shown = exported_.emplace_back(Exported{.allocation = allocation, .handle = {}});
  const int error = device::calls().share(device, allocation.base, shown.handle);
  if (error == 0) return &shown.handle;
  shown.is_refused = true;
  tell_once(error, "share the memory of device " + std::to_string(device));
  return nullptr;
}

bool DevicePeers::open_all(const Operation& operation) {
  const Description& call = operation.planned->call;
  const std::uint8_t device = call.memory.device();
  if (opened_.size() > kMostOpened) close_all();
  for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
    Ends& ends = ends_[rank];
    if (rank == flags_.rank()) {
      ends = {contribution_of(operation), buffer_of(operation, Buffer::kValues)};
      continue;
    }
    const DeviceOffer offer = offer_by(rank);
    ends = {};
    if (gives_in(call, rank) && !(ends.from = open(rank, offer.from, device))) return false;
    if (takes_in(call, rank) && !(ends.to = open(rank, offer.to, device))) return false;
  }
  return true;
}

DeviceOffer DevicePeers::offer_by(std::size_t rank) const {
  const std::span<const std::byte> memory = flags_.memory(rank);
  const std::uint64_t offset = flags_.offer_on_device(rank);
  if (offset > memory.size() || sizeof(DeviceOffer) > memory.size() - offset) {
    throw offers_nonsense(rank);
  }
  DeviceOffer offer;
  std::memcpy(&offer, memory.data() + offset, sizeof offer);
  return offer;
}

// Returns where a run of a peer's values is for a device. Returns null if that is refused.
std::byte* DevicePeers::open(std::size_t rank, const DeviceOffer::Run& run, std::uint8_t device) {
  if (run.offset > run.bytes) throw offers_nonsense(rank);
  const auto known = std::ranges::find_if(opened_, [&](const Opened& each) {
    return each.rank == rank && each.device == device && each.run.number == run.number;
  });
  if (known != opened_.end()) return known->base + run.offset;
  close_outdated(rank, run);
  void* base = nullptr;
  const int error = device::calls().open(device, run.handle, base);
  if (error != 0) {
    tell_once(error, "open the memory of rank " + std::to_string(rank) + " on device " +
                         std::to_string(device));
    return nullptr;
  }
  opened_.push_back(
      {.rank = rank, .device = device, .run = run, .base = static_cast<std::byte*>(base)});
  return opened_.back().base + run.offset;
}

// Closes what the rank has freed: the new allocation is at the same addresses.
void DevicePeers::close_outdated(std::size_t rank, const DeviceOffer::Run& run) noexcept {
  std::erase_if(opened_, [&](const Opened& each) {
    const bool is_outdated = each.rank == rank && each.run.number != run.number &&
                             overlap(each.run.base, each.run.bytes, run.base, run.bytes);
    const cuda::Calls* const calls = device::calls_in_use();
    if (is_outdated && calls) calls->close(each.device, each.base);
    return is_outdated;
  });
}

void DevicePeers::tell_once(int error, const std::string& what) {
  if (!std::exchange(tells_, false)) return;
  std::array<char, 256> text{};
  device::calls().describe(error, text.data(), text.size());
  const std::string line = "rota: rank " + std::to_string(flags_.rank()) + " cannot " + what +
                           " (" + text.data() + ", CUDA error " + std::to_string(error) +
                           "): values on devices go through host memory\n";
  std::fputs(line.c_str(), stderr);  // In one write: other processes write there too.
}

Slice DevicePeers::share_of(const Operation& operation, std::size_t rank,
                            std::size_t world_size) noexcept {
  return chunk_of({0, operation.planned->call.count}, rank, world_size);
}

void DevicePeers::hold(const Operation& operation) {
  worker_.use(operation.planned->call.memory.device());
  worker_.begin([&](const device::Stream& stream) { operation.arrivals->hold(stream); });
}

void DevicePeers::begin(const Operation& operation) {
  const Description& call = operation.planned->call;
  worker_.use(call.memory.device());
  const Slice share = share_of(operation, flags_.rank(), ends_.size());
  worker_.begin([&](const device::Stream& stream) {
    if (call.collective == Collective::kBroadcast) {
      copy(operation, share, stream.on());
    } else {
      reduce(operation, share, stream.on());
    }
  });
}

// The contributions are added in the ring's order: in chunk c, which is the share of rank c, the
// ranks' order is c + 1, c + 2, …, c. With a root, it ends at the root.
void DevicePeers::reduce(const Operation& operation, Slice share, const cuda::On& on) {
  const Description& call = operation.planned->call;
  const Reducer& reducer = operation.planned->reducer;
  const std::size_t offset = share.offset * reducer.element_bytes();
  const std::size_t n = ends_.size();
  const std::size_t last = call.collective == Collective::kReduce ? call.root : flags_.rank();
  std::array<const void*, kMostRanks> inputs{};
  for (std::size_t hop = 1; hop <= n; ++hop) {
    inputs[hop - 1] = ends_[(last + hop) % n].from + offset;
  }
  std::array<std::byte*, kMostRanks> outputs{};
  std::size_t takers = 0;
  for (std::size_t hop = 0; hop < n; ++hop) {  // This rank comes first, if it takes.
    const std::size_t rank = (flags_.rank() + hop) % n;
    if (takes_in(call, rank)) outputs[takers++] = ends_[rank].to + offset;
  }
  const cuda::Calls& calls = device::calls();
  device::check(calls.reduce(on, {.inputs = inputs.data(),
                                  .input_count = static_cast<std::uint32_t>(n),
                                  .to = outputs[0],
                                  .also_to = outputs[1],
                                  .count = share.count,
                                  .type = call.type,
                                  .op = call.reduction.op(),
                                  .factor = reducer.mean_factor()}),
                on.device, "the reduction of a share");
  for (std::size_t taker = 2; taker < takers; ++taker) {
    device::check(calls.copy(on, outputs[taker], outputs[0], share.count * reducer.element_bytes()),
                  on.device, "the copy of a sum");
  }
}

// In a broadcast, each rank copies its share from the root to all others.
void DevicePeers::copy(const Operation& operation, Slice share, const cuda::On& on) {
  const Description& call = operation.planned->call;
  const std::size_t element_bytes = operation.planned->reducer.element_bytes();
  const std::size_t offset = share.offset * element_bytes;
  for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
    if (!takes_in(call, rank)) continue;
    device::check(device::calls().copy(on, ends_[rank].to + offset, ends_[call.root].from + offset,
                                       share.count * element_bytes),
                  on.device, "the copy of a share");
  }
}

}  // namespace rota::collectives

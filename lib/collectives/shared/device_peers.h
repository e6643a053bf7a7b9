// How a rank reads and writes the values of other ranks of its host where all values lie on
// devices: each rank shows the others its allocations, and opens theirs. Nothing is copied to the
// host.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <rota/cuda_calls.h>
#include <rota/memory.h>

#include "collectives/operation.h"
#include "collectives/shared/flags_page.h"
#include "device/worker.h"

namespace rota::collectives {

// What a rank shows the others before a collective. It lies in the rank's arena.
struct DeviceOffer {
  struct Run {
    std::uint64_t number = 0;  // Of the allocation: see cuda::Allocation. 0: there are no values.
    std::uint64_t base = 0;    // The address of the allocation in its own process.
    std::uint64_t bytes = 0;   // Of the allocation.
    std::uint64_t offset = 0;  // Of the values in the allocation.
    cuda::MemoryHandle handle{};
  };
  Run from;
  Run to;
};

// One collective at a time uses it. Never waits, except in is_idle().
class DevicePeers {
 public:
  // No kernel takes the values of more ranks.
  static constexpr std::size_t kMostRanks = cuda::Calls::kMostInputs;

  // `flags` must outlive the object. `tells`: prints why the ranks do not open each other's memory.
  DevicePeers(Flags& flags, bool tells);
  DevicePeers(const DevicePeers&) = delete;
  DevicePeers& operator=(const DevicePeers&) = delete;
  // Closes what is open, unless a kernel still runs.
  ~DevicePeers();

  // Writes where the values of this rank are, for show() of Flags. Returns false if other ranks
  // cannot open them. Throws Error kNoMemory.
  bool offer(const Operation& operation);
  std::uint64_t offset_of_offer() const noexcept;

  // Begins to wait for the caller's streams. Requires operation.arrivals. Throws Error kSystem.
  void hold(const Operation& operation);

  // Opens the values of all other ranks, each of which has shown its offer. Returns false if that
  // is refused. Throws Error kPeerLost if an offer cannot be one.
  bool open_all(const Operation& operation);

  // From now on, offer() returns false: some rank was refused, and all ranks know it.
  void give_up() noexcept { is_possible_ = false; }

  // Begins to reduce this rank's share for all ranks. Requires open_all(). Throws Error kSystem.
  void begin(const Operation& operation);
  // Returns whether what hold() or begin() has begun is done. Throws Error kSystem.
  bool is_done() const { return worker_.has_ended(); }
  // Returns whether no kernel is under way. Waits a while for one that is.
  bool is_idle() const noexcept { return worker_.is_idle(); }

  // The part of the values that a rank reduces for all.
  static Slice share_of(const Operation& operation, std::size_t rank,
                        std::size_t world_size) noexcept;

 private:
  struct Exported {
    cuda::Allocation allocation;
    cuda::MemoryHandle handle;
    bool is_refused = false;  // There is no handle. Memory of CUDA's pools has none.
  };
  struct Opened {
    std::size_t rank = 0;
    std::uint8_t device = 0;  // Which accesses it.
    DeviceOffer::Run run;
    std::byte* base = nullptr;
  };
  // Where the values of a rank are for this rank's device.
  struct Ends {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
  };

  bool offer_run(const std::byte* values, std::uint8_t device, DeviceOffer::Run& run);
  const cuda::MemoryHandle* exported(const cuda::Allocation& allocation, std::uint8_t device);
  DeviceOffer offer_by(std::size_t rank) const;
  std::byte* open(std::size_t rank, const DeviceOffer::Run& run, std::uint8_t device);
  void close_all() noexcept;
  void close_outdated(std::size_t rank, const DeviceOffer::Run& run) noexcept;
  void tell_once(int error, const std::string& what);
  void reduce(const Operation& operation, Slice share, const cuda::On& on);
  void copy(const Operation& operation, Slice share, const cuda::On& on);

  Flags& flags_;
  bool tells_;
  bool is_possible_;
  Block offer_;  // This rank's DeviceOffer.
  std::vector<Exported> exported_;
  std::vector<Opened> opened_;
  std::vector<Ends> ends_;  // Index = rank.
  device::Worker worker_;
};

}  // namespace rota::collectives

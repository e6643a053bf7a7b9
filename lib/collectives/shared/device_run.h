// Collectives over shared memory whose values, on this rank, are on a device. If the values of all
// ranks are, the devices read and write each other's memory. Otherwise the values are copied to
// this rank's arena, where they take part like any values in host memory, and the result is copied
// back. The bits are the same.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "collectives/operation.h"
#include "collectives/running.h"
#include "collectives/shared/device_peers.h"
#include "collectives/shared/device_stage.h"
#include "collectives/shared/pinned_stage.h"
#include "collectives/shared/run.h"

namespace rota::collectives {

// What all runs of a rank use, one after another.
struct DeviceWays {
  DevicePeers peers;
  DeviceStage stage;
  // Whether the last values that might have stayed on devices went through host memory. Relaxed:
  // it is a guess about the next call, which the thread that calls makes.
  std::atomic<bool> went_through_host{false};
};

class DeviceSharedRun final : public Running {
 public:
  // The other arguments are as for SharedRun.
  DeviceSharedRun(DeviceWays& ways, Flags& flags, std::span<transport::Channel* const> channels,
                  std::size_t place, std::size_t first_stream);

  // An operation uses all streams, because it has all of `ways`. So it also keeps the order of
  // posts: no other collective over shared memory is under way on this rank, whichever memory it
  // uses.
  void add_streams(const Operation& operation, Streams& streams) const noexcept override;

  void start(const Operation& operation) override;
  Turn step() override;
  std::optional<Wait> waiting() const noexcept override;  // Empty while the device works.
  void compare_with(std::size_t peer) const override;
  std::string_view keeps_buffers() const noexcept override;

 private:
  enum class Phase : std::uint8_t {
    kArrives,  // Waits for the caller's streams: afterwards, other ranks may use the values.
    kShows,    // Waits until all ranks have shown their values, or one has posted instead.
    kMeets,    // Has opened the values of all ranks, and waits until they have, too.
    kReduces,  // The device reduces this rank's share.
    kWaits,    // For the shares of all other ranks.
    kBrings,   // From here on, the way through host memory: there,
    kRuns,     // in host memory,
    kTakes,    // and back.
    kDone,
  };

  const Description& call() const noexcept { return operation_->planned->call; }
  Turn arrive();
  void begin_to_show();
  Turn show();
  Turn meet();
  Turn reduce();
  Turn wait_for_all();
  bool has_share(std::size_t rank) const noexcept;
  void count_sent() const noexcept;
  void go_through_host();
  void run_in_host();
  Turn bring();
  Turn run();
  Turn take();

  DeviceWays& ways_;
  Flags& flags_;
  std::span<transport::Channel* const> channels_;
  SharedRun in_host_;
  std::size_t first_stream_;
  const Operation* operation_ = nullptr;
  Operation staged_;  // The same operation, with the stage in place of the device's memory.
  Phase phase_ = Phase::kDone;
  std::uint64_t number_ = 0;  // Of its post.
  std::uint64_t share_ = 0;   // The number of the share that all ranks must finish.
  std::size_t seen_ = 0;      // Ranks 0 to seen_ - 1 have reached the awaited point.
};

// The method for collectives over shared memory with values on devices.
class DeviceSharedCollectives final : public Method {
 public:
  // `shared` must outlive this object's operations, and make its places first. `tells`: as for
  // DevicePeers.
  DeviceSharedCollectives(SharedCollectives& shared, bool tells)
      : shared_(shared),
        pinned_(shared.flags()),
        ways_{.peers = {shared.flags(), tells}, .stage = DeviceStage(shared.flags())} {}

  bool makes(Algorithm algorithm) const noexcept override {
    return algorithm == Algorithm::kShared;
  }
  bool takes(MemoryKind memory) const noexcept override { return !memory.is_host(); }
  bool host_reads_values() const noexcept override { return false; }
  std::size_t stream_count() const noexcept override { return 0; }
  std::byte* make_staging(const PlannedCollective& planned, std::uint64_t number,
                          std::uint64_t finished) override;
  std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) override;

 private:
  SharedCollectives& shared_;
  PinnedStage pinned_;  // Before `ways_`, whose devices copy from and to it.
  DeviceWays ways_;
};

}  // namespace rota::collectives

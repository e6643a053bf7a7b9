// Does the local steps of plans whose values are on a device: puts each on a stream, and asks an
// event whether it is done.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/executor.h"
#include "device/stream.h"

namespace rota::collectives {

class DeviceExecutor {
 public:
  static constexpr bool kStages = true;

  DeviceExecutor() = default;
  DeviceExecutor(const DeviceExecutor&) = delete;
  DeviceExecutor& operator=(const DeviceExecutor&) = delete;
  // Waits a while for work that is under way. If it does not end, keeps its streams for ever.
  ~DeviceExecutor();

  // Called before the steps of an operation. Throws Error kSystem.
  void start(const Operation& operation, std::size_t lane_count);

  // Returns whether the caller's streams have come to the operation. Throws Error kSystem.
  bool has_come() const;

  // Begins the next local step of a lane, whose last one is done. Throws Error kSystem.
  void begin(std::size_t lane, const LocalStep& local);

  // Returns whether the step that the lane began last is done. Throws Error kSystem.
  bool is_done(std::size_t lane) const;

  // Returns whether no step is under way. Waits a while for those that are.
  bool is_idle() const noexcept;

 private:
  void hold(const device::Arrivals& arrivals, device::Stream& stream, const device::Event& held);
  bool has_happened(const device::Event& event) const;
  void check(int error) const;

  // What one device needs. Segments are filled on a stream of their own, so that this goes on while
  // others are emptied.
  struct OfDevice {
    explicit OfDevice(std::uint8_t number)
        : fills(number), works(number), fills_held(number), works_held(number) {}
    device::Stream fills;
    device::Stream works;
    device::Event fills_held;  // Happens when the stream has waited for the caller's streams.
    device::Event works_held;
    std::vector<device::Event> done;  // Index = lane.
  };

  std::vector<std::unique_ptr<OfDevice>> devices_;  // Index = number of the device.
  OfDevice* device_ = nullptr;                      // The one of the latest operation, as the next.
  const Operation* operation_ = nullptr;
  bool begins_ = false;  // A step is on its stream, and its event is not recorded.
};

}  // namespace rota::collectives

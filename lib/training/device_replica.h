// The part of a replica that is on a device: parameters, gradients and the optimizer's memory. What
// reads them on the host, such as a checkpoint, reads copies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_gradient_buckets.h>
#include <rota/device_memory.h>
#include <rota/optimizer.h>
#include <rota/step_guard.h>

#include "device/stream.h"

namespace rota::training {

// Where the host has its copies, which are borrowed. The spans of one parameter have its count.
struct HostCopies {
  std::vector<std::span<float>> values;     // By parameter.
  std::vector<std::span<float>> gradients;  // By parameter.
  std::vector<std::span<float>> kept;       // What the optimizer keeps, by parameter.
};

// The parameters are laid out as their gradients are. So an update of a bucket is one kernel. One
// thread at a time may use a DeviceReplica.
class DeviceReplica {
 public:
  // All work goes on the model's stream `on`. `communicator` and `optimizer` are borrowed. Throws
  // what DeviceGradientBuckets throws; Error kNoMemory; kSystem.
  DeviceReplica(Communicator& communicator, const cuda::On& on, const Optimizer<float>& optimizer,
                const BucketOptions& options, const HostCopies& copies);
  ~DeviceReplica();
  DeviceReplica(const DeviceReplica&) = delete;
  DeviceReplica& operator=(const DeviceReplica&) = delete;

  DeviceSpan<float> values(std::size_t parameter) const noexcept;
  DeviceSpan<float> gradient(std::size_t parameter) const noexcept {
    return buckets_.gradient(parameter);
  }
  DeviceGradientBuckets<float>& buckets() noexcept { return buckets_; }

  // Returns the event that the model must record when the gradient of `parameter` is final, or 0.
  // By then, all gradients after it must be final. From now on, ready() records no event.
  cuda::Handle event_for_model(std::size_t parameter) noexcept;
  // Forgets what ready() has announced. A step may have failed after its backward pass.
  void begin_pass() noexcept;
  // Announces that a gradient is final once the stream has done what is on it now, or has come to
  // the model's event. Sends nothing.
  void ready(std::size_t parameter);
  // Begins a step whose gradients are all announced. Each bucket leaves when the device has come to
  // its announcement, and the host does not wait for that.
  void begin_step(std::uint64_t samples, std::span<const double> sums);

  // Returns the sum of the squares of all gradients, once they are sums over all ranks.
  double squared_norm();
  // Puts the updates of all parameters on the stream, each bucket behind its sums.
  void update(float gradient_scale);
  // Ends a step, with or without updates.
  void finish_step();
  // Waits for sums for which only the stream waits. Throws what Request::wait throws.
  void settle();

  // Bring copies up to date. Before copies of the state change, `guard` is told, unless it is null.
  void read_values(StepGuard* guard);
  void read_gradients();
  void read_state(StepGuard* guard);  // The values, and what the optimizer keeps.

  // Copy from the host.
  void write_values();
  void write_state();

 private:
  DeviceSpan<float> part(const DeviceBlock& block, std::size_t parameter) const noexcept;
  void hold(std::size_t bucket);
  void stand_still();

  cuda::On on_;
  const Optimizer<float>& optimizer_;
  HostCopies copies_;
  DeviceBlock values_;             // Laid out as the gradients are.
  std::vector<DeviceBlock> kept_;  // The same, one for each array that the optimizer keeps.
  DeviceBlock norms_;              // Of the buckets, then working memory; made when it is needed.
  device::Stream departures_;      // A bucket leaves when it comes to that bucket's event.
  device::Event idle_;             // Of the model's stream.
  std::vector<device::Event> filled_;  // By bucket: all its gradients are final.
  bool model_records_ = false;         // These events.
  std::vector<std::size_t> missing_;   // By bucket: number of gradients not announced.
  std::size_t held_ = 0;  // For the sums of so many buckets, the model's stream waits in this step.
  bool is_under_way_ = false;   // Nothing on the host has waited for the latest sums.
  bool values_are_old_ = true;  // The copies.
  bool gradients_are_old_ = true;
  bool kept_is_old_ = true;
  DeviceGradientBuckets<float> buckets_;  // Last: its sums use the streams.
};

}  // namespace rota::training

// Lets gradients leave and parameters change on a device, and copies between the device and the
// host.
#include "training/device_replica.h"

#include <array>

#include <rota/error.h>

#include "base/assert.h"
#include "device/calls.h"
#include "device/wait.h"

namespace rota::training {
namespace {

std::vector<std::size_t> sizes_of(const std::vector<std::span<float>>& spans) {
  std::vector<std::size_t> sizes;
  sizes.reserve(spans.size());
  for (const std::span<float>& span : spans) sizes.push_back(span.size());
  return sizes;
}

// A handle of the table is a stream of CUDA, as a number.
const void* stream_of(const cuda::On& on) noexcept {
  return reinterpret_cast<const void*>(on.stream);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

DeviceReplica::DeviceReplica(Communicator& communicator, const cuda::On& on,
                             const Optimizer<float>& optimizer, const BucketOptions& options,
                             const HostCopies& copies)
    : on_(on),
      optimizer_(optimizer),
      copies_(copies),
      departures_(on.device),
      idle_(on.device),
      buckets_(communicator, sizes_of(copies.values), options, on.device) {
  const BucketLayout& layout = buckets_.layout();
  values_ = allocate_device(layout.count * sizeof(float), on.device);
  for (std::size_t i = 0; i < optimizer.kept_count(); ++i) {
    kept_.push_back(allocate_device(layout.count * sizeof(float), on.device));
  }
  for (std::size_t i = 0; i < layout.buckets.size(); ++i) filled_.emplace_back(on.device);
  begin_pass();
  buckets_.set_stream(stream_of(departures_.on()));
}

// After a failure, streams may still have work that uses the memory of this object.
DeviceReplica::~DeviceReplica() {
  try {
    if (is_under_way_) buckets_.wait();
  } catch (const Error&) {
    // Ignored here: the next call of the communicator throws the same error.
  }
  try {
    departures_.finish("end a step");
  } catch (const Error&) {
    // Ignored here: the device has failed, or its next call throws the same error.
  }
}

DeviceSpan<float> DeviceReplica::part(const DeviceBlock& block,
                                      std::size_t parameter) const noexcept {
  const Slice& slice = buckets_.layout().gradients[parameter];
  return block.as<float>().subspan(slice.offset, slice.count);
}

DeviceSpan<float> DeviceReplica::values(std::size_t parameter) const noexcept {
  return part(values_, parameter);
}

// A bucket has gradients that follow each other. The first of them is final last.
cuda::Handle DeviceReplica::event_for_model(std::size_t parameter) noexcept {
  model_records_ = true;
  const std::vector<std::size_t>& bucket_of = buckets_.layout().bucket_of;
  const std::size_t bucket = bucket_of[parameter];
  const bool is_first = parameter == 0 || bucket_of[parameter - 1] != bucket;
  return is_first ? filled_[bucket].handle() : 0;
}

void DeviceReplica::begin_pass() noexcept {
  missing_ = buckets_.layout().population;  // Same size, so nothing is allocated.
}

void DeviceReplica::ready(std::size_t parameter) {
  const std::size_t bucket = buckets_.layout().bucket_of[parameter];
  ROTA_ASSERT(missing_[bucket] > 0);
  if (--missing_[bucket] > 0 || model_records_) return;
  device::check(device::calls().record(on_, filled_[bucket].handle()), on_.device,
                "the recording of an event");
}

// A collective starts when all work is done that is on its stream at the time of the call. When
// this function runs, the model's stream already has the whole backward pass. So each bucket
// leaves from another stream, which waits for that bucket alone.
void DeviceReplica::begin_step(std::uint64_t samples, std::span<const double> sums) {
  settle();
  buckets_.begin_step(samples, sums);
  buckets_.send_sums();
  const BucketLayout& layout = buckets_.layout();
  if (samples == 0 && buckets_.world_sample_count() == 0) {  // As in ReplicaCore::begin_step.
    held_ = layout.buckets.size();
    return;
  }
  for (std::size_t bucket = 0; bucket < layout.buckets.size(); ++bucket) {
    ROTA_ASSERT(missing_[bucket] == 0);
    device::check(device::calls().wait_for(departures_.on(), filled_[bucket].handle()), on_.device,
                  "the wait for a bucket");
    for (std::size_t index = 0; index < layout.gradients.size(); ++index) {
      if (layout.bucket_of[index] == bucket) buckets_.ready(index);
    }
  }
  held_ = 0;
  is_under_way_ = true;
}

// The norms of the buckets are added in order, as ranks on the host add them: their norms have the
// same bits.
double DeviceReplica::squared_norm() {
  const BucketLayout& layout = buckets_.layout();
  const std::size_t count = layout.buckets.size();
  if (norms_.bytes().size() == 0) {
    norms_ = allocate_device((count + cuda::norm_sums(layout.count)) * sizeof(double), on_.device);
  }
  const DeviceSpan<double> norms = norms_.as<double>();
  for (std::size_t bucket = 0; bucket < count; ++bucket) {
    hold(bucket);
    const DeviceSpan<float> values = buckets_.bucket_values(bucket);
    device::check(
        device::calls().models.squared_norm(on_, norms.address() + bucket, norms.address() + count,
                                            values.address(), values.size()),
        on_.device, "the norm of a gradient");
  }
  settle();
  stand_still();
  std::vector<double> seen(count);
  copy_from_device(seen, norms.first(count));
  double sum = 0;
  for (const double norm : seen) sum += norm;
  return sum;
}

// Lets the model's stream wait for the sums of a bucket. Buckets are held in order, and again in
// order: all that were held before are skipped.
void DeviceReplica::hold(std::size_t bucket) {
  if (bucket < held_) return;
  buckets_.wait_on(bucket, stream_of(on_));
  held_ = bucket + 1;
}

void DeviceReplica::update(float gradient_scale) {
  constexpr std::size_t kMostKept = 2;
  const BucketLayout& layout = buckets_.layout();
  for (std::size_t bucket = 0; bucket < layout.buckets.size(); ++bucket) {
    hold(bucket);
    const Slice& slice = layout.buckets[bucket];
    std::array<float*, kMostKept> kept{};
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      kept[i] = kept_[i].as<float>().address() + slice.offset;
    }
    optimizer_.update_on(on_, values_.as<float>().address() + slice.offset,
                         std::span<float* const>(kept).first(kept_.size()),
                         buckets_.bucket_values(bucket).address(), slice.count, gradient_scale);
  }
  values_are_old_ = true;
  kept_is_old_ = true;
}

// Later work of the model overwrites the gradients, so the stream waits for their sums.
void DeviceReplica::finish_step() {
  for (std::size_t bucket = 0; bucket < filled_.size(); ++bucket) hold(bucket);
  gradients_are_old_ = true;
}

void DeviceReplica::settle() {
  if (!is_under_way_) return;
  buckets_.wait();
  is_under_way_ = false;
}

// Waits until the model's stream is idle, so that the host may copy.
void DeviceReplica::stand_still() {
  device::check(device::calls().record(on_, idle_.handle()), on_.device,
                "the recording of an event");
  device::wait_for(idle_, on_.device, "a step");
}

void DeviceReplica::read_values(StepGuard* guard) {
  if (!values_are_old_) return;
  settle();
  stand_still();
  for (std::size_t index = copies_.values.size(); index-- > 0;) {
    if (guard != nullptr) guard->before_update(index);
    copy_from_device(copies_.values[index], values(index));
  }
  values_are_old_ = false;
}

void DeviceReplica::read_gradients() {
  if (!gradients_are_old_) return;
  settle();
  stand_still();
  for (std::size_t index = 0; index < copies_.gradients.size(); ++index) {
    copy_from_device(copies_.gradients[index], gradient(index));
  }
  gradients_are_old_ = false;
}

void DeviceReplica::read_state(StepGuard* guard) {
  read_values(guard);
  if (!kept_is_old_) return;
  for (std::size_t i = 0; i < copies_.kept.size(); ++i) {
    const std::size_t parameter = i / kept_.size();
    if (guard != nullptr) guard->before_update(parameter);
    copy_from_device(copies_.kept[i], part(kept_[i % kept_.size()], parameter));
  }
  kept_is_old_ = false;
}

void DeviceReplica::write_values() {
  settle();
  stand_still();
  for (std::size_t index = 0; index < copies_.values.size(); ++index) {
    copy_to_device(values(index), copies_.values[index]);
  }
  values_are_old_ = false;
}

void DeviceReplica::write_state() {
  write_values();
  for (std::size_t i = 0; i < copies_.kept.size(); ++i) {
    copy_to_device(part(kept_[i % kept_.size()], i / kept_.size()), copies_.kept[i]);
  }
  kept_is_old_ = false;
}

}  // namespace rota::training

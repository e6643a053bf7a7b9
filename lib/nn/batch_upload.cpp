// Packs the parts of a batch, and copies them in one piece.
#include "nn/batch_upload.h"

#include <cstring>

#include "device/block.h"
#include "device/wait.h"

namespace rota::nn {
namespace {

constexpr std::size_t kPartAlignment = 64;

std::size_t padded_part(std::size_t bytes) noexcept {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

}  // namespace

BatchUpload::BatchUpload(DeviceWork& work, std::size_t input_count)
    : work_(work),
      input_count_(input_count),
      slots_{Slot(work.on().device), Slot(work.on().device)} {}

BatchUpload::Layout BatchUpload::layout_of(const Batch<float>& batch,
                                           std::size_t count) const noexcept {
  Layout layout{};
  const std::size_t element = batch.pixels.empty() ? sizeof(float) : sizeof(std::uint8_t);
  layout.inputs = padded_part(batch.samples.empty() ? 0 : count * sizeof(std::uint64_t));
  layout.labels = layout.inputs + padded_part(count * input_count_ * element);
  layout.bytes = layout.labels + padded_part(batch.labels.empty() ? 0 : count);
  return layout;
}

void BatchUpload::reserve(std::size_t samples) {
  const std::size_t bytes = padded_part(samples * sizeof(std::uint64_t)) +
                            padded_part(samples * input_count_ * sizeof(float)) +
                            padded_part(samples);
  for (Slot& slot : slots_) {
    slot.pinned = {};
    slot.pinned = device::allocate_pinned(bytes);
  }
  batch_ = {};
  batch_ = allocate_device(bytes, work_.on().device);
  inputs_.reserve(work_, samples * input_count_);
}

BatchUpload::Copied BatchUpload::copy(const Batch<float>& batch, std::size_t first,
                                      std::size_t count) {
  Slot& slot = slots_[next_];
  next_ = 1 - next_;
  device::wait_for(slot.copied, work_.on().device, "the copy of a batch");
  const Layout layout = layout_of(batch, count);
  std::byte* to = slot.pinned.bytes().data();
  if (!batch.samples.empty()) {
    std::memcpy(to + layout.identities, &batch.samples[first], count * sizeof(std::uint64_t));
  }
  const std::size_t inputs = count * input_count_;
  if (batch.pixels.empty()) {
    std::memcpy(to + layout.inputs, &batch.inputs[first * input_count_], inputs * sizeof(float));
  } else {
    std::memcpy(to + layout.inputs, &batch.pixels[first * input_count_], inputs);
  }
  if (!batch.labels.empty()) std::memcpy(to + layout.labels, &batch.labels[first], count);
  std::byte* there = batch_.bytes().address();
  work_.check(work_.calls().copy(work_.on(), there, to, layout.bytes), "the copy of a batch");
  work_.record(slot.copied);

  Copied copied{};
  copied.inputs = reinterpret_cast<const float*>(there + layout.inputs);
  copied.labels = reinterpret_cast<const std::uint8_t*>(there + layout.labels);
  if (!batch.samples.empty()) {
    copied.identities = {reinterpret_cast<const std::uint64_t*>(there + layout.identities), count};
  }
  if (!batch.pixels.empty()) {
    copied.pixels = reinterpret_cast<const std::uint8_t*>(there + layout.inputs);
    copied.inputs = inputs_.data();
  }
  return copied;
}

void BatchUpload::widen(const Copied& copied, std::size_t count) {
  if (copied.pixels == nullptr) return;
  work_.check(
      work_.models().widen_pixels(work_.on(), inputs_.data(), copied.pixels, count * input_count_),
      "the widening of pixels");
}

}  // namespace rota::nn

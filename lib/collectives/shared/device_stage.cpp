// Copies the values by one stream of their device. If the memory is not pinned, copies them in
// pieces: the device copies a piece to or from a pinned block, and the host does the rest.
#include "collectives/shared/device_stage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "device/block.h"
#include "device/calls.h"

namespace rota::collectives {
namespace {

constexpr std::size_t kPinnedPieceBytes = 256 * 1024;  // Copied by the host in some 20 µs.

}  // namespace

void DeviceStage::make_pieces() {
  if (pieces_.bytes().empty()) pieces_ = device::allocate_pinned(kPinnedPieceBytes);
}

void DeviceStage::prepare(std::uint8_t device, std::size_t bytes, std::byte* pinned,
                          const device::Arrivals* arrivals) {
  ROTA_ASSERT(piece_ == 0 && !pieces_.bytes().empty());
  worker_.use(device);
  if (arrivals) {
    worker_.begin([&](const device::Stream& stream) { arrivals->hold(stream); });
  }
  is_pinned_ = pinned != nullptr;
  const bool is_small = memory_.bytes().size() < bytes;
  if (is_pinned_ || is_small) memory_ = {};  // First: the arena may have no room for both.
  if (!is_pinned_ && is_small) memory_ = flags_.allocate_for_devices(bytes);
  data_ = is_pinned_ ? pinned : memory_.bytes().data();
}

void DeviceStage::begin_to_bring(const std::byte* from, std::size_t bytes) {
  flags_.count_staged(bytes);
  rest_ = {const_cast<std::byte*>(from), data(), bytes, true};
  begin_piece();
}

void DeviceStage::begin_to_take(std::byte* to, std::size_t bytes) {
  flags_.count_staged(bytes);
  rest_ = {to, data(), bytes, false};
  begin_piece();
}

Turn DeviceStage::go_on() {
  if (!worker_.has_ended()) return Turn::kNothing;
  end_piece();
  if (rest_.bytes == 0) return Turn::kDone;
  begin_piece();
  return Turn::kMoved;
}

void DeviceStage::begin_piece() {
  piece_ = is_pinned_ ? rest_.bytes : std::min(rest_.bytes, pieces_.bytes().size());
  std::byte* const in_host = is_pinned_ ? rest_.in_memory : pieces_.bytes().data();
  if (!is_pinned_ && !rest_.to_host) std::memcpy(in_host, rest_.in_memory, piece_);
  worker_.begin([&](const device::Stream& stream) {
    device::check(
        device::calls().copy(stream.on(), rest_.to_host ? in_host : rest_.on_device,
                             rest_.to_host ? rest_.on_device : in_host, piece_),
        stream.on().device,
        rest_.to_host ? "the copy of values to shared memory" : "the copy of values to the device");
  });
}

void DeviceStage::end_piece() noexcept {
  if (!is_pinned_ && rest_.to_host) std::memcpy(rest_.in_memory, pieces_.bytes().data(), piece_);
  rest_.on_device += piece_;
  rest_.in_memory += piece_;
  rest_.bytes -= std::exchange(piece_, 0);
}

}  // namespace rota::collectives

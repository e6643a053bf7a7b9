// Allocates memory of devices, and pins memory of the host.
#include "device/block.h"

#include <rota/device_memory.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <rota/error.h>

#include "device/begin.h"
#include "device/calls.h"
#include "device/owned.h"
#include "device/stream.h"
#include "memory/kept.h"

namespace rota {
namespace {

class PinnedOwner final : public Block::Owner {
 public:
  void release(std::span<std::byte> bytes) noexcept override {
    if (const cuda::Calls* calls = device::calls_in_use()) calls->free_pinned(bytes.data());
  }
};

// Owns memory of the host that was pinned later.
class UnpinningOwner final : public Block::Owner {
 public:
  explicit UnpinningOwner(Block block) noexcept : block_(std::move(block)) {}
  void release(std::span<std::byte> bytes) noexcept override {
    if (const cuda::Calls* calls = device::calls_in_use()) calls->unpin(bytes.data());
    block_ = {};
  }
  Block take_back() noexcept { return std::move(block_); }

 private:
  Block block_;
};

class DeviceOwner final : public DeviceBlock::Owner {
 public:
  explicit DeviceOwner(std::shared_ptr<device::OwnedMemory> memory) noexcept
      : memory_(std::move(memory)) {}
  void release(DeviceSpan<std::byte>) noexcept override {
    memory_->give_up();
    memory_.reset();
    device::give_back_kept();
  }

 private:
  std::shared_ptr<device::OwnedMemory> memory_;
};

// Zeroes the bytes, and waits for that: memory is allocated before the data moves. If the device
// does not end that, the memory and the stream are kept: to free them would wait for the device.
void clear(DeviceBlock& block) {
  const DeviceSpan<std::byte> bytes = block.bytes();
  auto stream = std::make_shared<device::Stream>(bytes.device());
  device::check(device::calls().clear(stream->on(), bytes.address(), bytes.size()), bytes.device(),
                "the clearing of memory");
  try {
    stream->finish("clear " + std::to_string(bytes.size()) + " bytes");
  } catch (...) {
    memory::keep_for_ever(std::make_shared<DeviceBlock>(std::move(block)));
    memory::keep_for_ever(std::move(stream));
    throw;
  }
}

}  // namespace

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  if (this != &other) {
    reset();
    bytes_ = std::exchange(other.bytes_, {});
    owner_ = std::move(other.owner_);
  }
  return *this;
}

DeviceBlock::~DeviceBlock() { reset(); }

void DeviceBlock::reset() noexcept {
  if (owner_) owner_->release(bytes_);
  owner_.reset();
}

DeviceBlock allocate_device(std::size_t bytes, std::uint8_t device) {
  device::begin_use(device);
  if (bytes == 0) return {DeviceSpan<std::byte>(nullptr, 0, device), nullptr};
  device::give_back_kept();
  DeviceBlock block = device::allocate_unwritten(bytes, device);
  clear(block);
  return block;
}

DeviceBlock device::allocate_unwritten(std::size_t bytes, std::uint8_t device) {
  auto memory = std::make_shared<OwnedMemory>(bytes, device);
  const DeviceSpan<std::byte> all = memory->bytes();
  return {all, std::make_shared<DeviceOwner>(std::move(memory))};
}

Block device::allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return {};
  auto owner = std::make_shared<PinnedOwner>();  // Made first: if this throws, nothing is lost.
  void* address = nullptr;
  const int error = calls().allocate_pinned(bytes, address);
  if (error == device::kNoRoom) {
    throw Error(ErrorCode::kNoMemory,
                "the host has no room for " + std::to_string(bytes) + " bytes of pinned memory");
  }
  check(error, "the allocation of " + std::to_string(bytes) + " bytes of pinned memory");
  std::memset(address, 0, bytes);
  return {{static_cast<std::byte*>(address), bytes}, std::move(owner)};
}

Block device::pin(Block block, bool& is_pinned) {
  const std::span<std::byte> bytes = block.bytes();
  auto owner = std::make_shared<UnpinningOwner>(std::move(block));
  is_pinned = calls().pin && calls().unpin && calls().pin(bytes.data(), bytes.size()) == 0;
  return is_pinned ? Block(bytes, std::move(owner)) : owner->take_back();
}

namespace {

void require_same(std::size_t to, std::size_t from) {
  if (to == from) return;
  throw Error(ErrorCode::kInvalidArgument, "a copy of " + std::to_string(from) +
                                               " bytes was asked to fill " + std::to_string(to) +
                                               " bytes: both spans must have the same size");
}

// A stream and pinned memory, through which bytes travel piece by piece.
struct Ferry {
  Ferry(std::uint8_t device, std::size_t bytes)
      : pinned(device::allocate_pinned(bytes)), stream(device) {}

  void copy(void* to, const void* from, std::size_t bytes) {
    device::check(device::calls().copy(stream.on(), to, from, bytes), stream.on().device, "a copy");
    stream.finish("copy " + std::to_string(bytes) + " bytes");
  }

  Block pinned;
  device::Stream stream;
};

// Calls `copy(ferry, at, bytes)` for each piece. If the device does not end a copy, the ferry is
// kept: to free what a device may use would wait for the device.
template <class Copy>
void copy_pieces(std::uint8_t device, std::size_t bytes, Copy copy) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  if (bytes == 0) return;
  device::begin_use(device);
  auto ferry = std::make_shared<Ferry>(device, std::min(bytes, kPiece));
  try {
    for (std::size_t at = 0; at < bytes; at += kPiece) {
      copy(*ferry, at, std::min(kPiece, bytes - at));
    }
  } catch (...) {
    memory::keep_for_ever(std::move(ferry));
    throw;
  }
}

}  // namespace

void copy_from_device(std::span<std::byte> to, DeviceSpan<const std::byte> from) {
  require_same(to.size(), from.size());
  copy_pieces(from.device(), to.size(), [&](Ferry& ferry, std::size_t at, std::size_t bytes) {
    std::byte* const pinned = ferry.pinned.bytes().data();
    ferry.copy(pinned, from.address() + at, bytes);
    std::memcpy(to.data() + at, pinned, bytes);
  });
}

void copy_to_device(DeviceSpan<std::byte> to, std::span<const std::byte> from) {
  require_same(to.size(), from.size());
  copy_pieces(to.device(), from.size(), [&](Ferry& ferry, std::size_t at, std::size_t bytes) {
    std::byte* const pinned = ferry.pinned.bytes().data();
    std::memcpy(pinned, from.data() + at, bytes);
    ferry.copy(to.address() + at, pinned, bytes);
  });
}

}  // namespace rota

// Owns memory that a Communicator gave for values. Over shared memory, peers access it in place.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <rota/export.h>

namespace rota {

// Owns contiguous bytes, 64-byte aligned and zeroed. Move-only; may outlive its Communicator.
class ROTA_EXPORT Block {
 public:
  // Takes back the bytes of a Block when the Block is destroyed. Never throws.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void release(std::span<std::byte> bytes) noexcept = 0;
  };

  Block() = default;
  Block(std::span<std::byte> bytes, std::shared_ptr<Owner> owner) noexcept
      : bytes_(bytes), owner_(std::move(owner)) {}
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept {
    if (this != &other) {
      reset();
      bytes_ = std::exchange(other.bytes_, {});
      owner_ = std::move(other.owner_);
    }
    return *this;
  }
  ~Block() { reset(); }

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  void reset() noexcept {
    if (owner_) owner_->release(bytes_);
    owner_.reset();
  }

  std::span<std::byte> bytes_;
  std::shared_ptr<Owner> owner_;
};

}  // namespace rota

// Keys as such. What is made with them needs a library, which who merely holds one does without.
#include "auth/key.h"

#include <mutex>
#include <vector>

#include "os/host.h"
#include "os/secret_memory.h"

namespace rota::auth {
namespace {

constexpr std::size_t kKeysAtOnce = 128;  // A page, mostly.

// For the keys of the process. Pages stay once they are there.
class Places {
 public:
  std::span<std::byte, kKeyBytes> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    std::byte* const place = free_.back();
    free_.pop_back();
    return std::span<std::byte, kKeyBytes>(place, kKeyBytes);
  }

  // There is room for all places in the list, since they have been there.
  void give_back(std::span<std::byte, kKeyBytes> place) noexcept {
    os::wipe(place);
    const std::lock_guard lock(mutex_);
    free_.push_back(place.data());
  }

 private:
  void grow() {
    pages_.reserve(pages_.size() + 1);
    free_.reserve((pages_.size() + 1) * kKeysAtOnce);
    const auto bytes = pages_.emplace_back(kKeysAtOnce * kKeyBytes).bytes();
    for (std::size_t i = kKeysAtOnce; i-- > 0;) free_.push_back(bytes.data() + i * kKeyBytes);
  }

  std::mutex mutex_;
  std::vector<os::SecretMemory> pages_;
  std::vector<std::byte*> free_;
};

// Never destroyed: a key may be when all else has been.
Places& all_places() {
  static auto* const kPlaces = new Places;
  return *kPlaces;
}

}  // namespace

Key::Key() : bytes_(all_places().take()) {}

Key::Key(std::span<const std::byte, kKeyBytes> bytes) : Key() { os::copy_secret(bytes, bytes_); }

Key::Key(const Key& other) : Key(other.bytes()) {}

Key& Key::operator=(const Key& other) noexcept {
  os::copy_secret(other.bytes_, bytes_);
  return *this;
}

Key::~Key() { all_places().give_back(bytes_); }

Key random_key() {
  Key key;
  os::fill_with_randomness(key.bytes());
  return key;
}

}  // namespace rota::auth

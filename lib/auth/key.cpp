// Stores keys. The derivation of keys needs a library, so it is in another file: code that only
// holds keys does not need the library.
#include "auth/key.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <forward_list>
#include <mutex>
#include <new>

#include "base/assert.h"
#include "os/host.h"
#include "os/secret_memory.h"

namespace rota::auth {
namespace {

constexpr std::size_t kKeysAtOnce = 128;  // One page on most hosts.

// Has the memory for the keys of the process. Pages are never given back, and hold only keys and
// zeros.
class Places {
 public:
  std::span<std::byte, kKeyBytes> take() {
    const std::lock_guard lock(mutex_);
    for (Page& page : pages_) {
      if (!page.taken.all()) return page.take();
    }
    return pages_.emplace_front().take();
  }

  void give_back(std::span<std::byte, kKeyBytes> place) noexcept {
    os::wipe(place);
    const std::lock_guard lock(mutex_);
    for (Page& page : pages_) {
      const std::byte* const first = page.memory.bytes().data();
      if (place.data() < first || place.data() >= first + kKeysAtOnce * kKeyBytes) continue;
      page.taken.reset(static_cast<std::size_t>(place.data() - first) / kKeyBytes);
      return;
    }
    ROTA_ASSERT(false);
  }

 private:
  struct Page {
    os::SecretMemory memory{kKeysAtOnce * kKeyBytes};
    std::bitset<kKeysAtOnce> taken;

    std::span<std::byte, kKeyBytes> take() noexcept {
      std::size_t place = 0;
      while (taken[place]) ++place;
      taken.set(place);
      return std::span<std::byte, kKeyBytes>(memory.bytes().subspan(place * kKeyBytes, kKeyBytes));
    }
  };

  std::mutex mutex_;
  std::forward_list<Page> pages_;
};

// Returns an object that is never destroyed, because a key may be destroyed after everything else.
Places& all_places() {
  alignas(Places) static std::array<std::byte, sizeof(Places)> room;
  static auto* const kPlaces = new (room.data()) Places;
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

// Keys as such. What is made with them needs a library, which who merely holds one does without.
#include "auth/key.h"

#include <algorithm>

#include "os/host.h"

namespace rota::auth {

Key::Key(std::span<const std::byte, kKeyBytes> bytes) noexcept {
  std::ranges::copy(bytes, bytes_.begin());
}

Key::~Key() { os::wipe(bytes_); }

Key random_key() {
  Key key;
  os::fill_with_randomness(key.bytes());
  return key;
}

}  // namespace rota::auth

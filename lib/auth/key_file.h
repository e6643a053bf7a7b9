// The file in which hosts find the key that they share.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "os/secret_memory.h"

namespace rota::auth {

// A key as it was read: 32 to 4096 bytes, which lie where those of a Key do.
class SharedKey {
 public:
  explicit SharedKey(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }

 private:
  os::SecretMemory memory_;
};

// Whether somebody seems to have typed or counted a key: fewer than ten different bytes, less than
// 32 bytes again and again, equal steps from most bytes to the next, or words. Of keys that were
// drawn this says so of one in 2^47 where they are 32 bytes, since so few are printable; and of
// less than one in a thousand where they are hex or base64.
bool is_hand_made(std::span<const std::byte> bytes);

// Where a key file may be.
struct KeyFilePlaces {
  std::string named;                          // By --key-file, or else by ROTA_KEY_FILE.
  std::string system_file = "/etc/rota/key";  // For everybody on this host.
  std::string home;                           // .config/rota/key is looked for below it.
};

// The file that is named, whether or not it exists: who names one wants no other. Otherwise the
// first of the others that exists. Empty where there is none, or where it cannot be looked for.
std::optional<std::string> find_key_file(const KeyFilePlaces& places);

// The file's bytes, but for one newline at the end of more than 32 of them. Links are followed: a
// Kubernetes Secret lies behind two. The file must belong to root or to us; others may not read it
// or write it, and the group may not write it. Throws Error kInvalidArgument, saying what to do.
SharedKey read_key_file(const std::string& path);

// The same of a descriptor, a pipe or a file, which is read to its end; who it belongs to is for
// whoever opened it to know. Throws Error kInvalidArgument, also where the end does not come.
SharedKey read_key_descriptor(int fd, base::TimePoint deadline);

}  // namespace rota::auth

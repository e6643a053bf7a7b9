// Finds and reads the file that holds the key that hosts share.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "os/secret_memory.h"

namespace rota::auth {

// A key as it was read: 32 to 4096 bytes, in the same kind of memory as the bytes of a Key.
class SharedKey {
 public:
  explicit SharedKey(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }

 private:
  os::SecretMemory memory_;
};

// Returns whether a key looks typed by a person: fewer than ten different bytes, a repeated pattern
// of less than 32 bytes, mostly equal steps from byte to byte (0, 1, 2 or abc), or words. The
// result is wrong for one in 2^47 random keys of 32 bytes, because so few of these keys are
// printable. It is wrong for less than one in a thousand random keys in hex or base64.
bool is_hand_made(std::span<const std::byte> bytes);

// Where a key file may be.
struct KeyFilePlaces {
  std::string named;  // Named by --key-file; if not given, by ROTA_KEY_FILE.
  std::string system_file = "/etc/rota/key";  // For all users of this host.
  std::string home;                           // A directory: the file is .config/rota/key in it.
};

// Returns the named file, whether or not it exists: a user who names a file wants no other. Without
// a named file, returns the first of the other files that exists. Returns nothing if there is none,
// or if the search is not possible.
std::optional<std::string> find_key_file(const KeyFilePlaces& places);

// Returns the file's bytes. If there are more than 32, leaves out one newline at the end. Follows
// links: a Kubernetes Secret is behind two links. The file must belong to root or to the user of
// this process. Other users must not have permission to read or write the file, and its group must
// not have permission to write it. Throws Error kInvalidArgument that tells what to do.
SharedKey read_key_file(const std::string& path);

// Reads a key in the same way from `fd`, an open pipe or file, to its end. Does not check the
// owner: the code that opened `fd` must know the owner. Throws Error kInvalidArgument, for example
// if the end is not reached before `deadline`.
SharedKey read_key_descriptor(int fd, base::TimePoint deadline);

}  // namespace rota::auth

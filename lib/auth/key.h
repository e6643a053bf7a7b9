// Stores keys, and derives from them further keys, and proofs that a side holds a key.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace rota::auth {

constexpr std::size_t kKeyBytes = 32;

// The bytes of a key are in memory that is not in core files. The bytes are wiped when the key is
// destroyed.
class Key {
 public:
  // The constructors throw Error kSystem or kNoMemory if there is no room for another key.
  Key();  // All zeros, to be filled.
  explicit Key(std::span<const std::byte, kKeyBytes> bytes);
  Key(const Key& other);
  Key& operator=(const Key& other) noexcept;
  ~Key();

  std::span<const std::byte, kKeyBytes> bytes() const noexcept { return bytes_; }
  std::span<std::byte, kKeyBytes> bytes() noexcept { return bytes_; }

  // Compares in the same time, wherever the keys differ.
  friend bool operator==(const Key& one, const Key& other) noexcept;

 private:
  std::span<std::byte, kKeyBytes> bytes_;  // Owned by this key.
};

// Returns a random key that cannot be guessed. Throws Error kSystem.
Key random_key();

// Returns the key of one job. This key reveals nothing about the key that all jobs share. `shared`
// is random and has 32 bytes or more; `job_id` may be public. Throws Error kInvalidArgument if
// `shared` is shorter.
Key job_key(std::span<const std::byte> shared, std::string_view job_id);

// A KeyId distinguishes a key from other keys, and reveals nothing about the key.
using KeyId = std::array<std::byte, 8>;
KeyId key_id(const Key& key);

using Digest = std::array<std::byte, 32>;
Digest sha256(std::span<const std::byte> text);
Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> text);

// Computes HKDF of RFC 5869: fills `derived`, at most 8160 bytes, with bytes derived from the other
// three arguments.
void hkdf_sha256(std::span<const std::byte> secret, std::span<const std::byte> salt,
                 std::span<const std::byte> purpose, std::span<std::byte> derived);

// Compares in the same time, wherever the bytes differ. Spans of different lengths are not equal.
bool are_equal(std::span<const std::byte> one, std::span<const std::byte> other) noexcept;

// Why a peer without this side's key is refused.
inline constexpr const char* kNoProof = "it cannot prove that it holds the key";
inline constexpr const char* kHasOtherKey = "it holds another key, or belongs to another job";

}  // namespace rota::auth

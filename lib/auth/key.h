// Keys, and what is made with them: further keys, and the proof that somebody holds one.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace rota::auth {

constexpr std::size_t kKeyBytes = 32;

// Its bytes lie in memory that no core file has, and leave no trace there when it is destroyed.
class Key {
 public:
  // Throw Error kSystem, kNoMemory, where there is no room for a further key.
  Key();  // All zeros, to be filled.
  explicit Key(std::span<const std::byte, kKeyBytes> bytes);
  Key(const Key& other);
  Key& operator=(const Key& other) noexcept;
  ~Key();

  std::span<const std::byte, kKeyBytes> bytes() const noexcept { return bytes_; }
  std::span<std::byte, kKeyBytes> bytes() noexcept { return bytes_; }

  // Takes the same time wherever they differ.
  friend bool operator==(const Key& one, const Key& other) noexcept;

 private:
  std::span<std::byte, kKeyBytes> bytes_;  // Its own.
};

// One that nobody can guess. Throws Error kSystem.
Key random_key();

// The key of one job, which tells nothing of the key that all jobs share. `shared` is 32 bytes or
// more, and random; `job_id` may be public. Throws Error kInvalidArgument where `shared` is
// shorter.
Key job_key(std::span<const std::byte> shared, std::string_view job_id);

// Tells keys apart, and tells nothing of them.
using KeyId = std::array<std::byte, 8>;
KeyId key_id(const Key& key);

using Digest = std::array<std::byte, 32>;
Digest sha256(std::span<const std::byte> text);
Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> text);

// HKDF of RFC 5869: fills `derived`, of at most 8160 bytes, with what follows from the other three.
void hkdf_sha256(std::span<const std::byte> secret, std::span<const std::byte> salt,
                 std::span<const std::byte> purpose, std::span<std::byte> derived);

// Takes the same time wherever they differ. Those of different lengths are not equal.
bool are_equal(std::span<const std::byte> one, std::span<const std::byte> other) noexcept;

// Why somebody is refused who has no key of ours.
inline constexpr const char* kNoProof = "it cannot prove that it holds the key";
inline constexpr const char* kHasOtherKey = "it holds another key, or is of another job";

}  // namespace rota::auth

// Derives keys, and makes digests and proofs, with OpenSSL.
#include "auth/key.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <memory>
#include <string>

#include <rota/error.h>

#include "auth/openssl_error.h"
#include "base/byte_stream.h"

namespace rota::auth {
namespace {

unsigned char* as_chars(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

const unsigned char* as_chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

// Returns a pointer that is never null. An empty span may have a null pointer, which OpenSSL treats
// as a missing value.
const std::byte* data_of(std::span<const std::byte> bytes) {
  static constexpr std::byte kNothing{};
  return bytes.empty() ? &kNothing : bytes.data();
}

// OpenSSL does not write to the parameter, but its type is not const.
OSSL_PARAM parameter(const char* name, std::span<const std::byte> bytes) {
  return ::OSSL_PARAM_construct_octet_string(name, const_cast<std::byte*>(data_of(bytes)),
                                             bytes.size());
}

}  // namespace

bool operator==(const Key& one, const Key& other) noexcept {
  return are_equal(one.bytes(), other.bytes());
}

Key job_key(std::span<const std::byte> shared, std::string_view job_id) {
  if (shared.size() < kKeyBytes) {
    throw Error(ErrorCode::kInvalidArgument, "the shared key has " + std::to_string(shared.size()) +
                                                 " bytes; use at least " +
                                                 std::to_string(kKeyBytes) + " random bytes");
  }
  Key key;
  hkdf_sha256(shared, base::bytes_of(job_id), base::bytes_of("rota/1 job"), key.bytes());
  return key;
}

KeyId key_id(const Key& key) {
  const Digest digest = hmac_sha256(key.bytes(), base::bytes_of("rota/1 id"));
  KeyId id;
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

Digest sha256(std::span<const std::byte> text) {
  Digest digest;
  if (::EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(), as_chars(digest.data()),
                     nullptr) != 1) {
    throw_openssl_error("SHA-256");
  }
  return digest;
}

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> text) {
  Digest digest;
  if (::EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, data_of(key), key.size(),
                  as_chars(text.data()), text.size(), as_chars(digest.data()), digest.size(),
                  nullptr) == nullptr) {
    throw_openssl_error("HMAC-SHA256");
  }
  return digest;
}

void hkdf_sha256(std::span<const std::byte> secret, std::span<const std::byte> salt,
                 std::span<const std::byte> purpose, std::span<std::byte> derived) {
  const std::unique_ptr<EVP_KDF, decltype(&::EVP_KDF_free)> hkdf(
      ::EVP_KDF_fetch(nullptr, "HKDF", nullptr), &::EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&::EVP_KDF_CTX_free)> context(
      ::EVP_KDF_CTX_new(hkdf.get()), &::EVP_KDF_CTX_free);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      ::OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      parameter(OSSL_KDF_PARAM_KEY, secret),
      parameter(OSSL_KDF_PARAM_SALT, salt),
      parameter(OSSL_KDF_PARAM_INFO, purpose),
      ::OSSL_PARAM_construct_end(),
  };
  if (!context ||
      ::EVP_KDF_derive(context.get(), as_chars(derived.data()), derived.size(), parameters) != 1) {
    throw_openssl_error("HKDF-SHA256");
  }
}

bool are_equal(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.size() == other.size() && ::CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace rota::auth

// Makes the tags of frames: HMAC-SHA256 of the frame's number and the frame, cut to 16 bytes.
#include "auth/frame_seal.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>

#include "auth/openssl_error.h"

namespace rota::auth {
namespace {

const unsigned char* as_chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

void FrameSeal::FreeMac::operator()(evp_mac_ctx_st* mac) const noexcept { ::EVP_MAC_CTX_free(mac); }

FrameSeal::FrameSeal(const Key& key) {
  const std::unique_ptr<EVP_MAC, decltype(&::EVP_MAC_free)> hmac(
      ::EVP_MAC_fetch(nullptr, "HMAC", nullptr), &::EVP_MAC_free);
  if (!hmac) throw_openssl_error("HMAC-SHA256");  // EVP_MAC_CTX_new() does not check for null.
  mac_.reset(::EVP_MAC_CTX_new(hmac.get()));
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      ::OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      ::OSSL_PARAM_construct_end(),
  };
  if (!mac_ ||
      ::EVP_MAC_init(mac_.get(), as_chars(key.bytes()), key.bytes().size(), parameters) != 1) {
    throw_openssl_error("HMAC-SHA256");
  }
}

FrameSeal::Tag FrameSeal::next_tag(std::span<const std::byte> frame) {
  std::array<std::byte, sizeof sequence_> number{};
  for (std::size_t i = 0; i < number.size(); ++i) {
    number[i] = static_cast<std::byte>((sequence_ >> (8 * (number.size() - 1 - i))) & 0xff);
  }
  ++sequence_;
  Digest digest{};
  std::size_t digest_bytes = 0;
  EVP_MAC_CTX* mac = mac_.get();
  // Without a key, EVP_MAC_init starts again with the key that `mac` has.
  if (::EVP_MAC_init(mac, nullptr, 0, nullptr) != 1 ||
      ::EVP_MAC_update(mac, as_chars(number), number.size()) != 1 ||
      ::EVP_MAC_update(mac, as_chars(frame), frame.size()) != 1 ||
      ::EVP_MAC_final(mac, reinterpret_cast<unsigned char*>(digest.data()), &digest_bytes,
                      digest.size()) != 1) {
    throw_openssl_error("HMAC-SHA256");
  }
  Tag tag;
  std::copy_n(digest.begin(), tag.size(), tag.begin());
  return tag;
}

bool FrameSeal::matches_next(std::span<const std::byte> frame,
                             std::span<const std::byte, kTagBytes> tag) {
  if (!are_equal(next_tag(frame), tag)) is_broken_ = true;
  return !is_broken_;
}

}  // namespace rota::auth

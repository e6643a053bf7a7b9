// The file in which hosts find the key that they share.
#include "auth/key_file.h"

#include <openssl/crypto.h>

#include <cstdio>
#include <filesystem>

#include <rota/error.h>

#include "auth/key.h"
#include "os/file.h"
#include "os/pipe.h"

namespace rota::auth {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;
constexpr std::uint32_t kForbidden = 0026;  // Others read or write; the group writes.

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string octal(std::uint32_t permissions) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(permissions));
  return text;
}

// What keeps a file from being trusted, and what to do about it; empty where nothing does.
std::string trouble_with(const os::OpenedFile& opened, const std::string& path) {
  if (opened.failure) {
    return "cannot be opened: " + *opened.failure + "; let this user read it, or name another file";
  }
  if (!opened.is_regular) return "is not a regular file; name the one that holds the key";
  const std::uint32_t us = os::own_user();
  if (opened.owner != 0 && opened.owner != us) {
    return "belongs to user " + std::to_string(opened.owner) +
           ", who could change it; make it root's or user " + std::to_string(us) + "'s own";
  }
  if ((opened.permissions & kForbidden) != 0) {
    return "has the permissions " + octal(opened.permissions) +
           ", so that others than its owner may read or change it; chmod g-w,o-rw " + path;
  }
  return {};
}

// All that `file` holds, or one byte more than it may.
std::vector<std::byte> read_bytes(int file) {
  std::vector<std::byte> bytes(kMaxKeyFileBytes + 2);
  std::size_t count = 0;
  while (count < bytes.size()) {
    const auto rest = std::span(bytes).subspan(count);
    const os::ReadResult read =
        os::read_available(file, {reinterpret_cast<char*>(rest.data()), rest.size()});
    if (read.count == 0) break;
    count += read.count;
  }
  bytes.resize(count);
  // One of 32 random bytes in 256 ends so itself.
  if (bytes.size() > kKeyBytes && bytes.back() == std::byte{'\n'}) bytes.pop_back();
  return bytes;
}

}  // namespace

SharedKey::~SharedKey() { ::OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

std::optional<std::string> find_key_file(const KeyFilePlaces& places) {
  if (!places.named.empty()) return places.named;
  if (exists(places.system_file)) return places.system_file;
  const std::string own_file = places.home + "/.config/rota/key";
  if (!places.home.empty() && exists(own_file)) return own_file;
  return std::nullopt;
}

SharedKey read_key_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "the key file " + path + " " + why);
  };
  const os::OpenedFile opened = os::open_file(path);
  if (const auto trouble = trouble_with(opened, path); !trouble.empty()) refuse(trouble);
  SharedKey key(read_bytes(opened.file.get()));
  if (key.bytes().size() < kKeyBytes) {
    refuse("holds " + std::to_string(key.bytes().size()) + " bytes, and a key has " +
           std::to_string(kKeyBytes) + " or more; (umask 077; head -c 32 /dev/urandom > " + path +
           ")");
  }
  if (key.bytes().size() > kMaxKeyFileBytes) {
    refuse("holds more than " + std::to_string(kMaxKeyFileBytes) +
           " bytes, so that it is no key; name the one that is");
  }
  return key;
}

}  // namespace rota::auth

// The file in which hosts find the key that they share.
#include "auth/key_file.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include <rota/error.h>

#include "auth/key.h"
#include "os/file.h"
#include "os/host.h"
#include "os/pipe.h"
#include "os/poll_set.h"

namespace rota::auth {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;
constexpr std::chrono::seconds kFileTime{10};
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
  if (const auto folder = os::folder_open_to_all(path)) {
    return "lies in the folder " + *folder +
           ", where anybody may put another in its place; chmod o-w " + *folder;
  }
  return {};
}

// What of a key has been read; leaves no trace of it.
struct Draft {
  os::SecretMemory memory{kMaxKeyFileBytes + 2};
  std::size_t count = 0;
};

// All that `fd` holds, or one byte more than it may. False where its end has not come.
bool read_all(int fd, base::TimePoint deadline, Draft& draft) {
  while (draft.count < draft.memory.bytes().size()) {
    os::PollSet polls;
    const std::size_t position = polls.add(fd, true, false);
    polls.wait(deadline);
    if (!polls.readable(position)) return false;
    const auto rest = draft.memory.bytes().subspan(draft.count);
    const os::ReadResult read =
        os::read_available(fd, {reinterpret_cast<char*>(rest.data()), rest.size()});
    if (read.io == os::Io::kClosed) break;
    draft.count += read.count;
  }
  return true;
}

bool has_few_different(std::span<const std::byte> bytes) {
  constexpr std::size_t kFewest = 10;
  std::bitset<256> seen;
  for (const std::byte byte : bytes) seen.set(std::to_integer<std::size_t>(byte));
  return seen.count() < kFewest;
}

// Less than a key's length, again and again: twice at least.
bool repeats_itself(std::span<const std::byte> bytes) {
  const std::size_t longest = std::min(kKeyBytes - 1, bytes.size() / 2);
  for (std::size_t period = 1; period <= longest; ++period) {
    const std::size_t rest = bytes.size() - period;
    if (std::ranges::equal(bytes.subspan(period), bytes.first(rest))) return true;
  }
  return false;
}

// 0, 1, 2 or abc: most bytes are as far from the one before.
bool is_counted(std::span<const std::byte> bytes) {
  std::array<std::size_t, 256> steps{};
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const int step = std::to_integer<int>(bytes[i]) - std::to_integer<int>(bytes[i - 1]);
    ++steps[static_cast<unsigned char>(step)];
  }
  return std::ranges::max(steps) > bytes.size() / 2;
}

bool reads_like_words(std::span<const std::byte> bytes) {
  const auto is = [](int (*kind)(int)) {
    return [kind](std::byte byte) { return kind(std::to_integer<int>(byte)) != 0; };
  };
  if (!std::ranges::all_of(bytes, is(std::isprint))) return false;
  const bool has_both_cases =
      std::ranges::any_of(bytes, is(std::islower)) && std::ranges::any_of(bytes, is(std::isupper));
  const bool has_digits = std::ranges::any_of(bytes, is(std::isdigit));
  return std::ranges::any_of(bytes, is(std::isspace)) || (!has_digits && !has_both_cases);
}

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, what + " " + why);
}

// `what` names where it is from, `remedy` how to make one there.
SharedKey read_key(int fd, base::TimePoint deadline, const std::string& what,
                   const std::string& remedy) {
  Draft draft;
  try {
    if (!read_all(fd, deadline, draft)) refuse(what, "does not end; write the key, and close it");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) throw;
    refuse(what, std::string("cannot be read: ") + error.what());
  }
  std::span<const std::byte> bytes = draft.memory.bytes().first(draft.count);
  // One of 32 random bytes in 256 ends so itself.
  if (bytes.size() > kKeyBytes && bytes.back() == std::byte{'\n'}) {
    bytes = bytes.first(bytes.size() - 1);
  }
  if (bytes.size() < kKeyBytes) {
    refuse(what, "holds " + std::to_string(bytes.size()) + " bytes, and a key has " +
                     std::to_string(kKeyBytes) + " or more; " + remedy);
  }
  if (bytes.size() > kMaxKeyFileBytes) {
    refuse(what, "holds more than " + std::to_string(kMaxKeyFileBytes) +
                     " bytes, so that it is no key; name the one that is");
  }
  if (is_hand_made(bytes)) {
    refuse(what, "was made by hand, so that it may be guessed; draw one: " + remedy);
  }
  return SharedKey(bytes);
}

}  // namespace

bool is_hand_made(std::span<const std::byte> bytes) {
  return has_few_different(bytes) || repeats_itself(bytes) || is_counted(bytes) ||
         reads_like_words(bytes);
}

SharedKey::SharedKey(std::span<const std::byte> bytes) : memory_(bytes.size()) {
  os::copy_secret(bytes, memory_.bytes());
}

std::optional<std::string> find_key_file(const KeyFilePlaces& places) {
  if (!places.named.empty()) return places.named;
  if (exists(places.system_file)) return places.system_file;
  const std::string own_file = places.home + "/.config/rota/key";
  if (!places.home.empty() && exists(own_file)) return own_file;
  return std::nullopt;
}

SharedKey read_key_file(const std::string& path) {
  const std::string what = "the key file " + path;
  const os::OpenedFile opened = os::open_file(path);
  if (const auto trouble = trouble_with(opened, path); !trouble.empty()) refuse(what, trouble);
  return read_key(opened.file.get(), base::Clock::now() + kFileTime, what,
                  "(umask 077; head -c 32 /dev/urandom > " + path + ")");
}

SharedKey read_key_descriptor(int fd, base::TimePoint deadline) {
  return read_key(fd, deadline, "the key's descriptor " + std::to_string(fd),
                  "write them to it, such as head -c 32 /dev/urandom does");
}

}  // namespace rota::auth

// Finds and reads the file that holds the key that hosts share.
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

// Returns why a file cannot be trusted, and what to do about it; empty if the file can be trusted.
std::string trouble_with(const os::OpenedFile& opened, const std::string& path) {
  if (opened.failure) {
    return "cannot be opened: " + *opened.failure + "; let this user read it, or name another file";
  }
  if (!opened.is_regular) return "is not a regular file; name the file that holds the key";
  const std::uint32_t us = os::own_user();
  if (opened.owner != 0 && opened.owner != us) {
    return "belongs to user " + std::to_string(opened.owner) +
           ", who could change it; make root or user " + std::to_string(us) + " its owner";
  }
  if ((opened.permissions & kForbidden) != 0) {
    return "has the permissions " + octal(opened.permissions) +
           ", so other users can read or change it; chmod g-w,o-rw " + path;
  }
  if (const auto folder = os::folder_open_to_all(path)) {
    return "is in the folder " + *folder + ", where every user can replace it; chmod o-w " +
           *folder;
  }
  return {};
}

// The part of a key that has been read. Its memory leaves no trace of the key.
struct Draft {
  os::SecretMemory memory{kMaxKeyFileBytes + 2};
  std::size_t count = 0;
};

// Reads all bytes of `fd`, or one byte more than allowed. Returns false if the end is not reached
// in time.
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

// Returns whether the bytes repeat a pattern that is shorter than a key and is present at least
// twice.
bool repeats_itself(std::span<const std::byte> bytes) {
  const std::size_t longest = std::min(kKeyBytes - 1, bytes.size() / 2);
  for (std::size_t period = 1; period <= longest; ++period) {
    const std::size_t rest = bytes.size() - period;
    if (std::ranges::equal(bytes.subspan(period), bytes.first(rest))) return true;
  }
  return false;
}

// Returns whether the bytes are a sequence such as 0, 1, 2 or abc: most bytes differ from the
// previous byte by the same number.
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

// Reads a key from `fd`. `what` names the source of the key, and `remedy` tells how to make a key
// there.
SharedKey read_key(int fd, base::TimePoint deadline, const std::string& what,
                   const std::string& remedy) {
  Draft draft;
  try {
    if (!read_all(fd, deadline, draft))
      refuse(what, "has not ended; write the key to it, and close it");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) throw;
    refuse(what, std::string("cannot be read: ") + error.what());
  }
  std::span<const std::byte> bytes = draft.memory.bytes().first(draft.count);
  // One in 256 random keys of 32 bytes ends with a newline, which is part of the key.
  if (bytes.size() > kKeyBytes && bytes.back() == std::byte{'\n'}) {
    bytes = bytes.first(bytes.size() - 1);
  }
  if (bytes.size() < kKeyBytes) {
    refuse(what, "has " + std::to_string(bytes.size()) + " bytes, but a key needs at least " +
                     std::to_string(kKeyBytes) + "; " + remedy);
  }
  if (bytes.size() > kMaxKeyFileBytes) {
    refuse(what, "has more than " + std::to_string(kMaxKeyFileBytes) +
                     " bytes, so it is not a key; give the right one");
  }
  if (is_hand_made(bytes)) {
    refuse(what, "looks typed or counted up, so it can be guessed; draw a random key: " + remedy);
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
                  "write 32 random bytes to it, as head -c 32 /dev/urandom does");
}

}  // namespace rota::auth

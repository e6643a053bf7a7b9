// A device is a range of bytes of the file, and a rank is a byte in it. A process first locks its
// own byte and then looks for locks of others, so of two processes at least one finds the other.
#include "device/claims.h"

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/hash.h"
#include "device/environment.h"
#include "os/byte_lock.h"
#include "os/host.h"

namespace rota::device {
namespace {

constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostDevices = std::uint64_t{1} << 30;  // Offsets have 63 bits.

struct Claim {
  std::uint8_t device;
  std::string name;
  std::string id;
};

struct Claims {
  std::mutex mutex;
  os::Fd file;
  std::size_t rank = 0;
  std::vector<Claim> all;
};

// It is never destroyed: a process's locks end with the process.
Claims& claims() {
  static auto* const kClaims = new Claims;
  return *kClaims;
}

std::string who(std::uint64_t rank, int pid) {
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ")";
}

// Returns the first of the device's bytes.
std::uint64_t begin_of(const Claim& claim) noexcept {
  return base::fnv1a(std::as_bytes(std::span(claim.id))) % kMostDevices * kMostRanks;
}

void require_alone(const Claims& own, const Claim& claim) {
  const std::uint64_t begin = begin_of(claim);
  const bool is_locked = os::lock_byte(own.file, begin + own.rank);
  const auto other = os::find_lock(own.file, begin, kMostRanks);
  if (is_locked && !other) return;
  os::unlock_byte(own.file, begin + own.rank);  // Another rank may use the device later.
  const std::string holder = other ? who(other->at - begin, other->pid) : "another process";
  throw Error(ErrorCode::kInvalidArgument,
              who(own.rank, os::own_process()) + " cannot use device " +
                  std::to_string(claim.device) + " (" + claim.name + "): " + holder +
                  " of this job uses this device already; start at most one rank for each device, "
                  "or let ranks share devices with rotarun --share-devices");
}

}  // namespace

void join_claims(os::Fd file, std::size_t rank) {
  Claims& own = claims();
  const std::scoped_lock lock(own.mutex);
  own.file = std::move(file);
  own.rank = rank;
  if (shares_devices()) return;
  for (const Claim& claim : own.all) require_alone(own, claim);
}

void claim(std::uint8_t device, std::string_view name, std::string_view id) {
  Claims& own = claims();
  const std::scoped_lock lock(own.mutex);
  Claim made{.device = device, .name = std::string(name), .id = std::string(id)};
  if (own.file && !shares_devices()) require_alone(own, made);
  own.all.push_back(std::move(made));
}

void give_up_claim() noexcept {
  Claims& own = claims();
  const std::scoped_lock lock(own.mutex);
  if (own.file) os::unlock_byte(own.file, begin_of(own.all.back()) + own.rank);
  own.all.pop_back();
}

}  // namespace rota::device

// In a fence, ranks of an MPI world wait for each other, and each host gets the data of all hosts.
// A host sends one share once its ranks have arrived; the leader joins the shares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace rota::launcher {

// The largest number of bytes that all hosts together may put into one fence.
inline constexpr std::size_t kMostFenceBytes = std::size_t{4} << 20;

// The state of a fence on one host. All ranks are numbers in the job.
struct FenceShare {
  std::string key{};                     // The same on all hosts, and another for each fence.
  std::vector<std::uint32_t> members{};  // The ranks of the fence; empty: the whole MPI world.
  std::vector<std::uint32_t> arrived{};  // The ranks of this host that have arrived.
  bool is_whole = true;                  // False: ranks of this host are still to come.
  std::string data{};                    // What this host gives; empty if not is_whole.
  std::uint32_t excess = 0;              // The size of data that were too many to be sent.

  friend bool operator==(const FenceShare&, const FenceShare&) = default;
};

// Takes away data that no fence has room for, and whose message would be too long.
void limit_data(FenceShare& share);

std::string encode(const FenceShare& share);
std::optional<FenceShare> decode_fence_share(std::string_view bytes);

// The end of a fence: the data of all hosts, one after the other.
struct FenceResult {
  std::string key{};
  std::string data{};

  friend bool operator==(const FenceResult&, const FenceResult&) = default;
};
std::string encode(const FenceResult& result);
std::optional<FenceResult> decode_fence_result(std::string_view bytes);

// The fences of an MPI world that have begun and not ended, at the host that leads the job. It is a
// state machine without a clock or a socket.
class Fences {
 public:
  // `world`: the ranks of the MPI world. `patience`: how long a fence may wait for its ranks.
  Fences(std::vector<std::uint32_t> world, base::Duration patience)
      : world_(world.begin(), world.end()), patience_(patience) {}

  // Takes the share of a host. Returns the result if the fence ends with this share.
  std::optional<FenceResult> take(FenceShare share, base::TimePoint now);

  // Returns the ranks that have not arrived in a fence that has waited too long; empty if there is
  // no such fence.
  std::vector<std::uint32_t> absent_by(base::TimePoint now) const;

  // Returns the number of bytes of a fence that has more than kMostFenceBytes, and so never ends; 0
  // if there is no such fence.
  std::size_t excess_bytes() const;

  std::optional<base::TimePoint> next_deadline() const;

 private:
  struct Fence {
    std::set<std::uint32_t> members;
    std::set<std::uint32_t> arrived;
    std::set<std::uint32_t> given;              // Ranks of hosts that have given their data.
    std::map<std::uint32_t, std::string> data;  // By the first rank of the host.
    std::size_t bytes = 0;
    base::TimePoint begin{};
  };

  std::set<std::uint32_t> world_;
  base::Duration patience_;
  std::map<std::string, Fence> fences_;  // By key.
};

}  // namespace rota::launcher

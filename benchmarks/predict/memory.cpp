// Adds up the terms of docs/memory.md.
#include "predict/memory.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/memory_terms.h"
#include "communicator/topology.h"
#include "kernels/codings.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

constexpr std::size_t kScoreBytes = 48;         // The number of samples and the sums of the score.
constexpr std::size_t kPieceCount = 64 * 1024;  // Elements of a piece of a coded chunk.
constexpr std::size_t kMostPieces = 64;         // Of a coded chunk.

std::size_t ranks_of_a_host(const WorldModel& model) {
  return model.hosts.size() / host_count_of(model.hosts);
}

// Returns the number of peers from which a rank receives values to add.
std::size_t staging_peers(const WorldModel& model, Algorithm algorithm) {
  const std::size_t n = model.hosts.size();
  switch (algorithm) {
    case Algorithm::kRing:
    case Algorithm::kShared:
      return 1;
    case Algorithm::kDirect:
      return std::max<std::size_t>(n, 3) - 2;
    case Algorithm::kHalvingDoubling:
    case Algorithm::kTree:
      return static_cast<std::size_t>(std::bit_width(n - 1));
    case Algorithm::kTwoLevel:
      return ranks_of_a_host(model);
    case Algorithm::kStar:
      return n - 1;
    default:
      return 0;
  }
}

std::size_t stage_count(const WorldModel& model, const std::vector<Call>& calls) {
  std::set<Algorithm> algorithms;
  for (const Call& call : calls) algorithms.insert(call.algorithm);
  std::size_t peers = 0;
  for (const Algorithm algorithm : algorithms) peers += staging_peers(model, algorithm);
  return std::min(peers, model.hosts.size() - 1);
}

std::uint64_t plan_bytes(const WorldModel& model, const Call& call) {
  const std::size_t n = model.hosts.size();
  if (call.codec == Codec::kIdentity) return base::plan_bytes(n);
  const std::size_t chunk = (call.count + n - 1) / n;
  const std::size_t pieces =
      std::clamp<std::size_t>((chunk + kPieceCount - 1) / kPieceCount, 1, kMostPieces);
  return 1536 * pieces * n + kernels::coded_bytes(call.codec, call.count);
}

std::size_t scratch_bytes(const WorldModel& model, const Call& call) {
  const std::size_t n = model.hosts.size();
  const std::size_t bytes = call.count * sizeof(float);
  switch (call.algorithm) {
    case Algorithm::kDirect:
      return n > 2 ? (bytes + n - 1) / n : 0;
    case Algorithm::kHub:
      return (n - 1) * bytes;
    case Algorithm::kByHost:
      return 2 * n * bytes;
    default:
      return 0;
  }
}

}  // namespace

RankMemory memory_of(const WorldModel& model, const BucketLayout& layout,
                     const std::vector<Call>& calls, std::string_view transport) {
  const std::size_t n = model.hosts.size();
  RankMemory memory{.gradient_bytes = layout.count * sizeof(float) + kScoreBytes};
  const bool feeds_back =
      std::ranges::any_of(calls, [](const Call& call) { return wants_feedback(call.codec); });
  if (feeds_back) memory.gradient_bytes += layout.count * sizeof(float);
  if (n == 1) return memory;
  const auto names = [&](std::string_view word) {
    return transport.find(word) != std::string_view::npos;
  };
  base::Connections rank{.world_size = n,
                         .has_tcp = names("tcp"),
                         .encrypts = names("encrypted"),
                         .stage_count = stage_count(model, calls)};
  if (names("shm")) rank.sharing_count = transport == "shm" ? n : ranks_of_a_host(model);
  memory.communication_bytes = base::connection_bytes(rank);
  for (const Call& call : std::set<Call>(calls.begin(), calls.end())) {
    memory.communication_bytes += plan_bytes(model, call) + scratch_bytes(model, call);
  }
  return memory;
}

}  // namespace rota::bench

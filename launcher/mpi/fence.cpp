// Joins the shares of a fence. If no host did so, ranks on several hosts could not find each other
// in MPI_Init.
#include "launcher/mpi/fence.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/byte_stream.h"

namespace rota::launcher {

void limit_data(FenceShare& share) {
  if (share.data.size() <= kMostFenceBytes) return;
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  share.excess = static_cast<std::uint32_t>(std::min(share.data.size(), kMost));
  share.data.clear();
}

std::string encode(const FenceShare& share) {
  base::ByteWriter out;
  out.write(share.key);
  out.write(share.members);
  out.write(share.arrived);
  out.write(static_cast<std::uint8_t>(share.is_whole));
  out.write(share.data);
  out.write(share.excess);
  return out.take_text();
}

std::optional<FenceShare> decode_fence_share(std::string_view bytes) {
  base::ByteReader in(base::bytes_of(bytes));
  FenceShare share{.key = in.read_text()};
  share.members = in.read_numbers();
  share.arrived = in.read_numbers();
  share.is_whole = in.read<std::uint8_t>() != 0;
  share.data = in.read_text();
  share.excess = in.read<std::uint32_t>();
  if (!in.ok() || !in.at_end() || share.arrived.empty()) return std::nullopt;
  return share;
}

std::string encode(const FenceResult& result) {
  base::ByteWriter out;
  out.write(result.key);
  out.write(result.data);
  return out.take_text();
}

std::optional<FenceResult> decode_fence_result(std::string_view bytes) {
  base::ByteReader in(base::bytes_of(bytes));
  FenceResult result{.key = in.read_text()};
  result.data = in.read_text();
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return result;
}

std::optional<FenceResult> Fences::take(FenceShare share, base::TimePoint now) {
  const auto [found, is_new] = fences_.try_emplace(share.key);
  Fence& fence = found->second;
  if (is_new) {
    fence.begin = now;
    fence.members = world_;
    if (!share.members.empty()) fence.members = {share.members.begin(), share.members.end()};
  }
  fence.arrived.insert(share.arrived.begin(), share.arrived.end());
  if (!share.is_whole) return std::nullopt;
  fence.given.insert(share.arrived.begin(), share.arrived.end());
  fence.bytes += share.data.size() + share.excess;
  fence.data[std::ranges::min(share.arrived)] = std::move(share.data);
  const bool is_over = std::ranges::includes(fence.given, fence.members);
  if (!is_over || fence.bytes > kMostFenceBytes) return std::nullopt;
  FenceResult result{.key = share.key};
  result.data.reserve(fence.bytes);
  for (const auto& [first, data] : fence.data) result.data += data;
  fences_.erase(found);
  return result;
}

std::vector<std::uint32_t> Fences::absent_by(base::TimePoint now) const {
  std::vector<std::uint32_t> absent;
  for (const auto& [key, fence] : fences_) {
    if (now < fence.begin + patience_) continue;
    std::ranges::set_difference(fence.members, fence.arrived, std::back_inserter(absent));
    if (!absent.empty()) break;
  }
  return absent;
}

std::size_t Fences::excess_bytes() const {
  for (const auto& [key, fence] : fences_) {
    if (fence.bytes > kMostFenceBytes) return fence.bytes;
  }
  return 0;
}

std::optional<base::TimePoint> Fences::next_deadline() const {
  std::optional<base::TimePoint> next;
  for (const auto& [key, fence] : fences_) next = base::earlier(next, fence.begin + patience_);
  return next;
}

}  // namespace rota::launcher

// Allocates a group's buffers, and warns if the control group's memory limit is too low for them.
#include "communicator/memory_need.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "memory/host_block.h"
#include "os/cgroup.h"

namespace rota {
namespace {

// There is no warning for smaller buffers: they fit, and are allocated often.
constexpr std::size_t kLeastBytes = 1 << 20;

std::string in_mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

std::string lack_of_memory(std::size_t buffer_bytes, std::size_t local_rank_count,
                           std::optional<std::uint64_t> limit_bytes, bool is_pod) {
  const std::uint64_t needed = std::uint64_t{buffer_bytes} * local_rank_count;
  if (!limit_bytes || needed <= *limit_bytes) return {};
  return (local_rank_count == 1 ? "a buffer takes " + in_mebibytes(needed)
                                : "a buffer of " + in_mebibytes(buffer_bytes) + " on each of the " +
                                      std::to_string(local_rank_count) + " ranks here takes " +
                                      in_mebibytes(needed)) +
         ", but the memory limit is " + in_mebibytes(*limit_bytes) + ": raise " +
         (is_pod ? "resources.limits.memory" : "the limit of the control group");
}

namespace {

void warn_where_memory_lacks(const Group& group, std::size_t buffer_bytes) {
  static std::atomic_flag was_said;
  const auto& rows = group.table.rows;
  const bool is_first = group.rank < rows.size() && rows[group.rank].local_rank == 0;
  if (buffer_bytes < kLeastBytes || !is_first || was_said.test()) return;
  static const std::optional<std::uint64_t> kLimit = os::memory_limit_bytes();
  const auto count = std::ranges::count(rows, rows[group.rank].host, &RankRow::host);
  const std::string lack =
      lack_of_memory(buffer_bytes, static_cast<std::size_t>(count), kLimit, is_in_pod());
  if (lack.empty() || was_said.test_and_set()) return;
  std::fputs(("rota: warning: " + lack + "\n").c_str(), stderr);
}

}  // namespace

Block allocate_for(const Group& group, std::size_t bytes) {
  warn_where_memory_lacks(group, bytes);
  return group.transport ? group.transport->allocate(bytes) : memory::allocate_host(bytes);
}

}  // namespace rota

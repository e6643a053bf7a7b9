// Puts a function of its own into the table. A function of the table has no place for an object, so
// what the function needs is static.
#include "gpu/counted_nccl.h"

#include <atomic>

namespace rota::bench::gpu {
namespace {

const nccl::Calls* counted_calls = nullptr;
std::atomic<std::uint64_t> all_reduces{0};  // In tests, several ranks count together.

int count_all_reduce(const nccl::Job& job, ReduceOp op) noexcept {
  all_reduces.fetch_add(1, std::memory_order_relaxed);
  return counted_calls->all_reduce(job, op);
}

}  // namespace

const nccl::Calls& counted(const nccl::Calls& calls) noexcept {
  static nccl::Calls counting;
  counted_calls = &calls;
  counting = calls;
  counting.all_reduce = count_all_reduce;
  return counting;
}

std::uint64_t counted_all_reduces() noexcept { return all_reduces.load(std::memory_order_relaxed); }

}  // namespace rota::bench::gpu

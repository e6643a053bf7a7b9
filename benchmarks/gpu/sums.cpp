// Sums small integers, so every order of the additions gives the exact sums.
#include "gpu/sums.h"

#include <rota/device_memory.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/counted_nccl.h"

namespace rota::bench::gpu {
namespace {

enum Finding : std::int32_t { kRight, kElsewhere, kWrong };  // The worst one is the greatest.

// A prime, so that pieces of a power of two do not begin with the same number.
constexpr std::size_t kPeriod = 1021;

// Fills `numbers` from index `first` on. The factor of rank r is r + 1. The factors of all ranks
// add up to the factor of the sums.
void fill(std::vector<float>& numbers, std::size_t first, std::size_t factor) {
  for (std::size_t i = first; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(factor * (i % kPeriod + 1));
  }
}

// Sums the values from index `first` on. Returns whether all sums are exact, and the values before
// that index are as they were.
bool sums_exactly(Communicator& comm, DeviceSpan<float> values, std::size_t first) {
  const std::size_t ranks = comm.world_size();
  std::vector<float> expected(values.size());
  fill(expected, 0, comm.rank() + 1);
  copy_to_device(values, expected);
  comm.all_reduce(values.subspan(first), kMeasuredOp);
  fill(expected, first, ranks * (ranks + 1) / 2);
  std::vector<float> summed(values.size());
  copy_from_device(summed, values);
  return summed == expected;
}

const char* text_of_other_way(Way way) {
  return way == Way::kByNccl ? "NCCL did not run all sums" : "the values went through host memory";
}

}  // namespace

std::string why_no_figure(Communicator& comm, DeviceSpan<float> values, Way way) {
  const std::uint64_t staged_before = comm.staged_bytes();
  const std::uint64_t by_nccl_before = counted_all_reduces();
  bool is_right = sums_exactly(comm, values, 0);
  if (values.size() > 1) is_right = sums_exactly(comm, values, 1) && is_right;
  const std::uint64_t sum_count = values.size() > 1 ? 2 : 1;
  const std::uint64_t by_nccl = counted_all_reduces() - by_nccl_before;
  const bool went_elsewhere = (way == Way::kOnDevices && comm.staged_bytes() != staged_before) ||
                              (way == Way::kByNccl && by_nccl < sum_count);
  copy_to_device(values, std::vector<float>(values.size()));

  std::int32_t finding = !is_right ? kWrong : went_elsewhere ? kElsewhere : kRight;
  comm.all_reduce(std::span(&finding, 1), ReduceOp::kMax);
  if (finding == kWrong) return "wrong values";
  return finding == kElsewhere ? text_of_other_way(way) : "";
}

}  // namespace rota::bench::gpu

// Tests calls with more elements than 31 bits can count, over a real transport. This program is one
// rank of two. Method: values repeat after a prime number of elements, so runs of values are filled
// and compared at the speed of memory. If a plan moved an element to a wrong place, the value there
// would differ.
#include <rota/communicator.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t kCount = (std::size_t{1} << 31) + 9;
constexpr std::size_t kPeriod = 1'000'003;

using Run = std::vector<std::uint8_t>;

Run run_of(std::size_t rank) {
  Run run(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    run[i] = static_cast<std::uint8_t>((i * 2'654'435'761U >> 13) + rank);
  }
  return run;
}

// Calls `visit(start, count)` for each run.
template <class Visit>
void for_each_run(Visit visit) {
  for (std::size_t at = 0; at < kCount; at += kPeriod) visit(at, std::min(kPeriod, kCount - at));
}

}  // namespace

int main() {
  rota::Communicator comm;
  std::vector<std::uint8_t> values(kCount);
  const Run own = run_of(comm.rank());
  for_each_run([&](std::size_t at, std::size_t count) {
    std::memcpy(values.data() + at, own.data(), count);
  });
  comm.all_reduce(values, rota::ReduceOp::kSum);

  Run expected = run_of(0);
  const Run other = run_of(1);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    expected[i] = static_cast<std::uint8_t>(expected[i] + other[i]);
  }
  bool is_right = true;
  for_each_run([&](std::size_t at, std::size_t count) {
    if (!is_right || std::memcmp(values.data() + at, expected.data(), count) == 0) return;
    const auto start = values.begin() + static_cast<std::ptrdiff_t>(at);
    const auto wrong =
        std::mismatch(start, start + static_cast<std::ptrdiff_t>(count), expected.begin());
    std::fprintf(stderr, "rank %zu: element %td is %d, not %d\n", comm.rank(),
                 wrong.first - values.begin(), *wrong.first, *wrong.second);
    is_right = false;
  });
  return is_right ? 0 : 1;
}

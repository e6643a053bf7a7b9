// More elements than 31 bits count, over a real transport: this program is one rank of two.
#include <rota/communicator.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t kCount = (std::size_t{1} << 31) + 9;

std::uint8_t value_of(std::size_t rank, std::size_t index) {
  return static_cast<std::uint8_t>(index % 251 + index / 65536 + rank);
}

}  // namespace

int main() {
  rota::Communicator comm;
  std::vector<std::uint8_t> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = value_of(comm.rank(), i);
  comm.all_reduce(values, rota::ReduceOp::kSum);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto expected = static_cast<std::uint8_t>(value_of(0, i) + value_of(1, i));
    if (values[i] != expected) {
      std::fprintf(stderr, "rank %zu: element %zu is %d, not %d\n", comm.rank(), i, values[i],
                   expected);
      return 1;
    }
  }
  return 0;
}

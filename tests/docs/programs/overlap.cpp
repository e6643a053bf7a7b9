// Two buffers are summed while this thread does something else.
#include <rota/communicator.h>
#include <rota/shared_allocator.h>

#include <array>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  rota::Communicator ranks;
  const rota::SharedAllocator<float> shared(ranks);  // Memory that other ranks read in place.
  std::vector<float, rota::SharedAllocator<float>> first(100'000, 1.0F, shared);
  std::vector<double> second(100'000, 0.5);  // Any other memory will do.

  std::array requests = {ranks.all_reduce_async(first, rota::ReduceOp::kSum),
                         ranks.all_reduce_async(second, rota::ReduceOp::kSum)};
  std::vector<int> own(1000);
  std::iota(own.begin(), own.end(), 0);  // `first` and `second` are borrowed now.
  rota::wait_all(requests);
  if (ranks.rank() == 0) std::printf("%g and %g\n", first[0], second[0]);
}

// Gradients travel in a quarter of their bytes. Each step adds what the step before has lost.
#include <rota/communicator.h>

#include <cstdio>
#include <vector>

int main() {
  rota::Communicator ranks;
  std::vector<float> gradient(100'000);
  std::vector<float> lost(gradient.size());  // Zeros to begin with.
  const auto mean = rota::Reduction(rota::ReduceOp::kMean).by(rota::Codec::kInt8);

  float way = 0;
  for (int step = 0; step < 100; ++step) {
    gradient.assign(gradient.size(), 1.0F);
    gradient[0] = 0.01F;  // Its nearest levels are 1 / 127 and 2 / 127.
    ranks.all_reduce_with_feedback(gradient, lost, mean);
    way += gradient[0];
  }
  if (ranks.rank() == 0) {
    std::printf("100 steps of 0.01: %.2f, with %llu bytes a step instead of 400000\n", way,
                static_cast<unsigned long long>(ranks.sent_bytes() / 100));
  }
}

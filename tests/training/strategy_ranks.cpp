// Runs one replica of small_training.h in its own process. Rank 0 prints the hash of its weights.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "training/small_training.h"

int main() {
  rota::MultiWorkerStrategy strategy;
  const std::uint64_t hash = rota::testing::weights_trained_by(strategy);
  if (hash != 0) std::printf("%s\n", std::to_string(hash).c_str());
}

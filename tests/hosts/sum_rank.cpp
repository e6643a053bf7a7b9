// This program is a rank for rotarun. It repeats an all-reduce for `ROUNDS` rounds of 10 ms, and
// prints its own host and the first sum. Then it stays until the file `STAY_UNTIL` is there, if the
// variable is set. It exits with 3 if a call fails, and with 4 if a sum is wrong.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>

int main() {
  const char* rounds = std::getenv("ROUNDS");
  try {
    rota::Communicator comm(rota::CommunicatorOptions::from_environment());
    std::vector<double> values(1000);
    for (int round = 0; round < std::atoi(rounds ? rounds : "1"); ++round) {
      values.assign(values.size(), static_cast<double>(comm.rank() + 1));
      comm.all_reduce(values, rota::ReduceOp::kSum);
      const auto count = static_cast<double>(comm.world_size());
      const bool is_right = std::ranges::all_of(
          values, [&](double value) { return value == count * (count + 1) / 2; });
      if (!is_right) return 4;
      if (round == 0) {
        std::printf("rank %zu of %zu on %s: sum %g\n", comm.rank(), comm.world_size(),
                    comm.rank_table().rows[comm.rank()].host.c_str(), values.back());
        std::fflush(stdout);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const char* end = std::getenv("STAY_UNTIL");
    while (end && !std::filesystem::exists(end)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}

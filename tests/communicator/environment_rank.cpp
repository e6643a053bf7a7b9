// A program that knows its job from its environment alone: adds up over all ranks, and says so.
#include <cstdio>
#include <vector>

#include <rota/communicator.h>

int main() try {
  rota::CommunicatorOptions options = rota::CommunicatorOptions::from_environment();
  options.join_timeout = std::chrono::seconds(60);
  rota::Communicator comm(options);
  std::vector<float> values(1000, static_cast<float>(comm.rank() + 1));
  comm.all_reduce(values, rota::ReduceOp::kSum);
  std::printf("rank %zu of %zu by %s: %g\n", comm.rank(), comm.world_size(),
              comm.rank_table().source.c_str(), static_cast<double>(values.back()));
} catch (const rota::Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(to_string(error.code())).c_str(), error.what());
  return 3;
}

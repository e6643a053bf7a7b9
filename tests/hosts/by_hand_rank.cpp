// A rank started by hand: by_hand_rank RANK KEY ADDRESS...
// It repeats an all-reduce for `ROUNDS` rounds of 10 ms, and prints the sum. Then it gathers
// `GATHERED` values of each rank, if that variable is set. Otherwise the ranks make pairs. With
// `HOST_OF_ALL`, the hosts of all ranks have this name.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* rounds = std::getenv("ROUNDS");
  rota::CommunicatorOptions options;
  options.by_hand = {.table = rota::table_of(std::vector<std::string>(argv + 3, argv + argc)),
                     .rank = std::strtoul(argv[1], nullptr, 10),
                     .key = argv[2]};
  if (const char* host = std::getenv("HOST_OF_ALL")) {
    for (rota::RankRow& row : options.by_hand->table.rows) row.host = host;
  }
  options.deadline = std::chrono::seconds(std::getenv("GATHERED") ? 60 : 2);
  try {
    rota::Communicator comm(options);
    std::vector<double> values(1000);
    for (long round = rounds ? std::atol(rounds) : 1; round > 0; --round) {
      values.assign(values.size(), static_cast<double>(comm.rank() + 1));
      comm.all_reduce(values, rota::ReduceOp::kSum);
      if (round > 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (round == 1 || rounds) std::printf("sum %g\n", values.back());
      std::fflush(stdout);
    }
    if (const char* count = std::getenv("GATHERED")) {
      // This rank leaves as soon as it has passed its values to the kernel.
      const std::vector<float> part(std::strtoul(count, nullptr, 10), 1.0F);
      std::vector<float> all(comm.rank() == 0 ? part.size() * comm.world_size() : 0);
      comm.gather(part, all, 0);
      if (comm.rank() == 0) std::printf("gathered %g\n", all.back());
      return 0;
    }
    rota::Communicator pair = comm.split(comm.rank() / 2);
    pair.barrier();
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

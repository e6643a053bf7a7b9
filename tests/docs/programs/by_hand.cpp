// by_hand RANK ADDRESS...: a rank that is told who the others are, and which of them it is.
#include <rota/communicator.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::vector<std::string> addresses(argv + 2, argv + argc);
  rota::CommunicatorOptions options;
  options.by_hand = {.table = rota::table_of(addresses),
                     .rank = std::strtoul(argv[1], nullptr, 10),
                     .key = rota::shared_key()};
  rota::Communicator ranks(options);
  std::vector<double> values(1000, 1.0);
  ranks.all_reduce(values, rota::ReduceOp::kSum);
  if (ranks.rank() == 0) std::printf("%g ranks\n", values[0]);
}

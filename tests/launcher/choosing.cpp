// This program is a rank. It all-reduces few values and many values, twice each. Then it splits off
// a communicator, and all-reduces there. Usage: choosing [PLAN]. Without the argument PLAN, the
// library chooses the plans.
#include <cstdio>
#include <vector>

#include <rota/communicator.h>

int main(int argc, char** argv) {
  try {
    auto options = rota::CommunicatorOptions::from_environment();
    if (argc > 1) options.plan = argv[1];
    rota::Communicator communicator(options);
    std::vector<float> few(16);
    std::vector<float> many(1 << 18);
    for (int round = 0; round < 2; ++round) {
      communicator.all_reduce(few, rota::ReduceOp::kSum);
      communicator.all_reduce(many, rota::ReduceOp::kSum);
      communicator.barrier();
    }
    rota::Communicator half = communicator.split(communicator.rank() / 2, communicator.rank());
    half.all_reduce(few, rota::ReduceOp::kSum);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "choosing: %s\n", error.what());
    return 1;
  }
  return 0;
}

// A rank that leaves plans to the library: choosing PLAN. Adds up few values and many, each twice,
// splits off a communicator, and adds up there.
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

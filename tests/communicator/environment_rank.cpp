// A rank that finds its job only by its environment variables. It prints the sum over all ranks;
// with the argument "transport", also the transport. With the argument "role", it prints only its
// role. With the argument "fail", rank 1 then ends with 4, and the others speak seconds later.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>
#include <rota/role.h>

int main(int argc, char** argv) try {
  const std::string wish = argc > 1 ? argv[1] : "";
  if (wish == "role") {
    std::puts(rota::role() == rota::Role::kEvaluator ? "evaluator" : "worker");
    return 0;
  }
  rota::CommunicatorOptions options = rota::CommunicatorOptions::from_environment();
  const char* seconds = std::getenv("JOIN_SECONDS");
  options.join_timeout = std::chrono::seconds(seconds ? std::atoi(seconds) : 60);
  rota::Communicator comm(options);
  std::vector<float> values(1000, static_cast<float>(comm.rank() + 1));
  comm.all_reduce(values, rota::ReduceOp::kSum);
  const std::string transport = wish.empty() ? "" : " over " + comm.rank_table().transport;
  std::printf("rank %zu of %zu by %s%s: %g\n", comm.rank(), comm.world_size(),
              comm.rank_table().source.c_str(), transport.c_str(),
              static_cast<double>(values.back()));
  if (wish == "fail") {
    if (comm.rank() == 1) return 4;
    std::this_thread::sleep_for(std::chrono::seconds(8));
    std::puts("nobody has ended the job");
  }
} catch (const rota::Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(to_string(error.code())).c_str(), error.what());
  return 3;
}

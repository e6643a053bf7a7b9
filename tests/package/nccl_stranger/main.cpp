// A program that uses NCCL where it is, and says so where it is not.
#include <rota/communicator.h>
#include <rota/nccl.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  std::string which = "NCCL";
  try {
    rota::nccl::use_library("/nowhere/libnccl.so.2");
  } catch (const rota::Error& error) {
    which = error.what();
  }
  rota::Communicator comm;
  std::vector<float> values(1000, 1.0F);
  comm.all_reduce(values, rota::ReduceOp::kSum);
  if (comm.rank() == 0) std::printf("%s\n", which.c_str());
  const bool is_named = which.find("/nowhere/libnccl.so.2") != std::string::npos;
  return is_named && values[0] == static_cast<float>(comm.world_size()) ? 0 : 1;
}

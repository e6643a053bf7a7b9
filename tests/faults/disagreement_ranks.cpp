// One rank of a job whose ranks do not make the same calls. It prints its error, and fails.
#include <rota/communicator.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

// Rank 1 makes a call that differs from the other ranks' calls.
void run(rota::Communicator& comm, const std::string& kind) {
  const bool other = comm.rank() == 1;
  std::vector<float> few(100);
  std::vector<float> many(1000000);
  if (kind == "counts") {  // Rank 1 sums so many values that its plan differs, too.
    comm.all_reduce(other ? many : few, rota::ReduceOp::kSum);
  } else if (kind == "order") {
    if (!other) comm.all_reduce(few, rota::ReduceOp::kSum);
    comm.broadcast(few, 0);
    if (other) comm.all_reduce(few, rota::ReduceOp::kSum);
  } else if (kind == "root") {
    comm.broadcast(few, other ? 1 : 0);
  } else if (kind == "operation") {
    comm.all_reduce(few, other ? rota::ReduceOp::kMax : rota::ReduceOp::kSum);
  } else if (kind == "message") {
    if (comm.rank() == 0) comm.send(few, 1);
    if (other) comm.receive(many, 0);
  }
  comm.barrier();  // A rank whose call has returned gets the error here.
}

}  // namespace

int main(int, char** argv) {
  rota::Communicator comm;
  try {
    run(comm, argv[1]);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "told: %s: %s\n", std::string(to_string(error.code())).c_str(),
                 error.what());
    return 5;
  }
  return 0;
}

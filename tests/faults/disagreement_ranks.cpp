// One rank of a job whose ranks do not make the same calls. It prints what it is told and fails.
#include <rota/communicator.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

// Rank 1 does something else than the others.
void run(rota::Communicator& comm, const std::string& kind) {
  const bool other = comm.rank() == 1;
  std::vector<float> few(100);
  std::vector<float> many(1000000);
  if (kind == "counts") {  // So many that they are summed by another plan.
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
  comm.barrier();  // Where a rank hears of it that had returned already.
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

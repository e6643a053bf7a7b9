// Every rank gives its number; all have the mean.
#include <rota/communicator.h>

#include <cstdio>
#include <vector>

int main() {
  rota::Communicator comm;  // Joins the job that rotarun started.
  std::vector<float> gradients(1000, static_cast<float>(comm.rank()));
  comm.all_reduce(gradients, rota::ReduceOp::kMean);  // The same bits on every rank.
  if (comm.rank() == 0) std::printf("mean of ranks: %g\n", gradients[0]);
}

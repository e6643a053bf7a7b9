// A program that uses MPI, and averages over rota.
#include <rota/mpi.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  bool is_right = false;
  {
    rota::Communicator comm = rota::mpi::communicator(MPI_COMM_WORLD);
    std::vector<float> values(1000, static_cast<float>(comm.rank()));
    comm.all_reduce(values, rota::ReduceOp::kMean);
    is_right = values[999] * 2 == static_cast<float>(comm.world_size() - 1);
    if (comm.rank() == 0) {
      std::printf("mean of %zu ranks over %s: %g\n", comm.world_size(),
                  comm.rank_table().transport.c_str(), static_cast<double>(values[999]));
    }
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}

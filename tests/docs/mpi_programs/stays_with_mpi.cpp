// A program that goes on using MPI. rota averages over the same ranks, over MPI's messages.
#include <rota/mpi.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  {
    rota::Communicator world = rota::mpi::communicator(MPI_COMM_WORLD);
    std::vector<float> gradients(1000, static_cast<float>(world.rank()));
    rota::Request mean = world.all_reduce_async(gradients, rota::ReduceOp::kMean);
    int step = world.rank() == 0 ? 7 : 0;
    MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD);  // The program's own messages.
    mean.wait();
    if (world.rank() + 1 == world.world_size()) {
      std::printf("step %d: mean of ranks %g\n", step, static_cast<double>(gradients[0]));
    }
  }  // The communicator ends before MPI_Finalize.
  MPI_Finalize();
}

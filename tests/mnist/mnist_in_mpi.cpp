// The example mnist in a program that uses MPI itself: it takes the same flags, and trains over the
// communicator of MPI. It prints JSON lines.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <exception>
#include <iostream>
#include <utility>

#include <rota/idx.h>
#include <rota/progress.h>
#include <rota/strategy.h>
#include <rota/trainer.h>

#include "models.h"
#include "sets.h"
#include "settings.h"

namespace {

void train(rota::Communicator& communicator, const Settings& settings, const Sets& sets) {
  const rota::Dataset& images = sets.train.dataset();
  rota::Model<float> model(images.shape, layers_of(settings.model, images.classes));
  rota::Trainer<float> trainer(communicator, std::move(model), sets.train, sets.test,
                               settings.trainer);
  rota::JsonLines lines(std::cout);
  if (communicator.rank() == 0) trainer.add_hook(lines);
  trainer.run();
}

// Trains as `replicas` threads of this process. With one, MPI needs no thread level.
void train_over_mpi(const Settings& settings) {
  const rota::TrainAndTest data = rota::read_idx_folder(settings.data);
  const Sets sets = sets_of(data, settings);
  const auto program = [&](rota::Communicator& replica) { train(replica, settings, sets); };
  if (settings.replicas == 1) {
    rota::MultiWorkerStrategy::over(rota::mpi::communicator(MPI_COMM_WORLD)).run(program);
  } else {
    rota::MirroredStrategy::over(rota::mpi::for_threads(MPI_COMM_WORLD, settings.replicas))
        .run(program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  try {
    train_over_mpi(parse_settings(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "mnist over MPI: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

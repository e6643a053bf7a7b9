// One rank that trains a small model, in a world whose ranks may have other processors. Rank 0
// prints a line with the hash of the weights for each optimizer. Exits with 1 if a rank has other
// weights than rank 0. Usage: trained_weights FOLDER (with files as MNIST has them)
//
// The ranks of a job have equal weights if their optimizers give the same bits, and if the sums of
// gradients do. The gradients of a rank depend on its processor: each has its own matrix products.
#include <rota/communicator.h>
#include <rota/idx.h>
#include <rota/trainer.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

// Trains, and returns whether all ranks have the same weights.
bool train(rota::Communicator& world, const rota::TrainAndTest& images, const char* name,
           const rota::OptimizerOptions& optimizer) {
  rota::TrainerOptions options;
  options.epochs = 2;
  options.batch_size = 20;
  options.optimizer = optimizer;
  rota::Model<float> model(images.train.shape, {rota::dense(32), rota::relu(), rota::dense(10)});
  rota::Trainer<float> trainer(world, std::move(model), images.train, images.test, options);
  const std::array<std::int64_t, 1> own{static_cast<std::int64_t>(trainer.run().weights_hash)};
  std::vector<std::int64_t> all(world.world_size());
  world.all_gather(own, all);
  if (own[0] != all[0]) {
    std::fprintf(stderr, "rank %zu has other weights: %s\n", world.rank(), name);
  }
  bool all_agree = true;
  for (const std::int64_t hash : all) all_agree = all_agree && hash == all[0];
  if (world.rank() == 0) std::printf("%s %llx\n", name, static_cast<unsigned long long>(all[0]));
  return all_agree;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    rota::Communicator world;
    const rota::TrainAndTest images = rota::read_idx_folder(argv[1]);
    const bool by_sgd =
        train(world, images, "sgd", rota::Sgd{.learning_rate = 0.1, .momentum = 0.9});
    const bool by_adam = train(world, images, "adam", rota::Adam{.weight_decay = 0.01});
    return by_sgd && by_adam ? 0 : 1;
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

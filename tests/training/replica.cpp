// One rank of a training run that must end with equal weights for every world size, up to rounding.
// Rank 0 writes the weights. Usage: training_replica float|double BATCH_SIZE SAMPLES EPOCHS FILE
#include <rota/trainer.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "training/thread_ranks.h"

namespace {

struct Arguments {
  std::size_t batch_size;
  std::size_t samples;
  std::size_t epochs;
  const char* file;
};

template <class T>
void train(const Arguments& arguments) {
  using namespace rota;
  Communicator communicator;
  const Dataset data = testing::small_dataset(arguments.samples);
  const Dataset test = testing::small_dataset(100);
  Model<T> model({6, 6, 1}, {convolution(4, 3), relu(), max_pool(2), dense(24), relu(),
                             dropout(0.5), dense(4, Initializer::kGlorot)});
  TrainerOptions options;
  options.epochs = arguments.epochs;
  options.batch_size = arguments.batch_size;
  options.optimizer = Sgd{.learning_rate = 0.05, .momentum = 0.9};
  options.buckets = {.first_bucket_bytes = 256, .bucket_bytes = 2048};
  Trainer<T> trainer(communicator, std::move(model), data, test, options);
  trainer.run();
  if (communicator.rank() != 0) return;
  std::ofstream file(arguments.file);
  file.precision(17);
  for (std::size_t i = 0; i < trainer.replica().model().parameters().size(); ++i) {
    for (const T value : trainer.replica().values(i)) file << value << "\n";
  }
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + arguments.file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s float|double BATCH_SIZE SAMPLES EPOCHS FILE\n", argv[0]);
    return 2;
  }
  const auto number = [&](int i) -> std::size_t { return std::strtoul(argv[i], nullptr, 10); };
  const Arguments arguments{number(2), number(3), number(4), argv[5]};
  try {
    if (std::string(argv[1]) == "float") {
      train<float>(arguments);
    } else {
      train<double>(arguments);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

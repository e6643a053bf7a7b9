// A rank of a training that is asked to stop. The higher the rank, the slower. Each says, for every
// training, "stopped" or "done", after how many steps, and the hash of its weights.
// Usage: training_stop_ranks MODE, which is one of
//   once     one training, which would last for minutes
//   short    the same with few steps, and then a barrier, while rank 0 saves
//   again    one short training after another
//   threads  two replicas a process
//   loop     steps of its own, without a Trainer
//   stuck    rank 1 never comes out of its third step
#include <rota/agreed_steps.h>
#include <rota/strategy.h>
#include <rota/trainer.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "training/thread_ranks.h"

namespace {

using rota::Communicator;
using std::chrono::milliseconds;

void report(const Communicator& communicator, bool stopped, std::size_t steps,
            std::uint64_t weights) {
  std::printf("%s %zu %llx rank %zu\n", stopped ? "stopped" : "done", steps,
              static_cast<unsigned long long>(weights), communicator.rank());
  std::fflush(stdout);
}

void be_slow(const Communicator& communicator) {
  const std::size_t rank = communicator.rank();
  if (rank > 0) std::this_thread::sleep_for(std::chrono::microseconds(500 * rank * rank));
}

void say_ready(const Communicator& communicator) {
  if (communicator.rank() == 0) std::printf("ready\n");
  std::fflush(stdout);
}

class Hook : public rota::TrainingHook {
 public:
  Hook(const Communicator& communicator, std::string mode)
      : communicator_(communicator), mode_(std::move(mode)) {}

  void on_step(const rota::StepReport& report) override {
    if (report.epoch == 1 && report.step == 1) say_ready(communicator_);
    be_slow(communicator_);
    const bool is_stuck = mode_ == "stuck" && communicator_.rank() == 1 && report.step == 3;
    while (is_stuck) std::this_thread::sleep_for(milliseconds(100));
  }
  void on_end(const rota::EndReport&) override {
    if (communicator_.rank() != 0) return;
    std::printf("saving\n");
    std::fflush(stdout);
    if (mode_ == "short") std::this_thread::sleep_for(milliseconds(500));
    std::printf("saved\n");
    std::fflush(stdout);
  }

 private:
  const Communicator& communicator_;
  std::string mode_;
};

// Three steps an epoch, so that many stops fall between the last step and the evaluation.
bool train(Communicator& communicator, const std::string& mode) {
  using namespace rota;
  const Dataset data = testing::small_dataset(30 * communicator.world_size());
  const Dataset test = testing::small_dataset(50);
  Model<float> model({6, 6, 1}, {dense(16), relu(), dense(4)});
  TrainerOptions options;
  options.epochs = mode == "short" ? 2 : mode == "again" ? 5 : 100'000;
  options.batch_size = 10;
  Hook hook(communicator, mode);
  Trainer<float> trainer(communicator, std::move(model), data, test, options);
  trainer.add_hook(hook);
  const EndReport end = trainer.run();
  report(communicator, end.stopped, end.steps, end.weights_hash);
  return !end.stopped;
}

void loop(Communicator& communicator) {
  rota::AgreedSteps steps(communicator);
  std::size_t count = 0;
  std::vector<float> sum(1000);
  float total = 0;
  while (steps.begin()) {
    if (++count == 2) say_ready(communicator);
    sum.assign(sum.size(), static_cast<float>(communicator.rank() + count));
    communicator.all_reduce(sum, rota::ReduceOp::kSum);
    total = total / 2 + sum.back();
    be_slow(communicator);
  }
  report(communicator, true, count, static_cast<std::uint64_t>(total));
}

void run(Communicator& communicator, const std::string& mode) {
  if (mode == "loop") return loop(communicator);
  while (train(communicator, mode) && mode == "again") {
  }
  if (mode == "short") communicator.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string mode = argv[1];
  try {
    rota::MirroredStrategy strategy({.replicas = mode == "threads" ? 2u : 1u});
    strategy.run([&](Communicator& communicator) { run(communicator, mode); });
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

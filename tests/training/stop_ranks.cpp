// A rank of a training run that is asked to stop. Higher ranks are slower. After every training run
// each rank prints "stopped" or "done", its number of steps, and the hash of its weights.
// Usage: training_stop_ranks MODE, with one of these modes:
//   once     one training run, which would last for minutes.
//   short    the same with few steps, and then a barrier, while rank 0 saves.
//   again    one short training run after another.
//   threads  two replicas per process.
//   loop     a training loop of its own, without a Trainer.
//   stuck    rank 1 never leaves its third step.
//   test     one training run, whose first evaluation would last for minutes.
// Or: training_stop_ranks session FOLDER STEPS: a Session in FOLDER, until STEPS steps are done.
#include <rota/agreed_steps.h>
#include <rota/session.h>
#include <rota/strategy.h>
#include <rota/trainer.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
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
    if (report.epoch == 1 && report.step == 1 && mode_ != "test") say_ready(communicator_);
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

// Returns a source that gives the samples of `test` again and again, and takes 1 ms for each batch.
// After the first batch it says that the rank is ready.
rota::SampleSource<rota::Batch<float>> endless(rota::SampleSource<rota::Batch<float>> test,
                                               const Communicator& communicator) {
  constexpr std::size_t kTimes = 50'000;
  const std::size_t count = test.count;
  const auto gather = [=, &communicator, is_ready = false,
                       samples = std::vector<std::uint64_t>()](const rota::SampleRun& run) mutable {
    samples.clear();
    for (const std::uint64_t sample : run.samples) samples.push_back(sample % count);
    be_slow(communicator);
    std::this_thread::sleep_for(milliseconds(1));
    if (!std::exchange(is_ready, true)) say_ready(communicator);
    return test.gather({.samples = samples});
  };
  return {count * kTimes, test.digest, gather};
}

// Runs one training run. An epoch has only three steps, so a stop often comes between the last step
// and the evaluation.
bool train(Communicator& communicator, const std::string& mode) {
  using namespace rota;
  const Dataset data = testing::small_dataset(30 * communicator.world_size());
  const Dataset test = testing::small_dataset(50);
  Model<float> model({6, 6, 1}, {dense(16), relu(), dense(4)});
  TrainerOptions options;
  options.epochs = mode == "short" ? 2 : mode == "again" ? 5 : 100'000;
  options.batch_size = 10;
  Hook hook(communicator, mode);
  auto learnt = samples_of(data, model, options.batch_size, "training");
  auto held_back = samples_of(test, model, options.batch_size, "test");
  if (mode == "test") held_back = endless(std::move(held_back), communicator);
  Trainer<float> trainer(communicator, std::move(model), std::move(learnt), std::move(held_back),
                         options);
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

// The weights tell which steps were taken, and in which order.
void train_in_session(Communicator& communicator, const std::string& folder, std::uint64_t steps) {
  rota::Session session(communicator, {.checkpoints = {.folder = folder, .every_steps = 20}});
  std::vector<float> weights(1000);
  std::vector<float> gradients(weights.size());
  session.track("weights", weights);
  session.restore();
  while (session.step() < steps && session.begin_step()) {
    gradients.assign(gradients.size(), static_cast<float>(communicator.rank() + session.step()));
    communicator.all_reduce(gradients, rota::ReduceOp::kSum);
    session.before_update();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = weights[i] / 2 + gradients[i];
    session.end_step();
    if (session.step() == 2) say_ready(communicator);
    be_slow(communicator);
  }
  session.end();
  report(communicator, session.step() < steps, session.step(),
         std::bit_cast<std::uint32_t>(weights.back()));
}

void run(Communicator& communicator, const std::string& mode) {
  if (mode == "loop") return loop(communicator);
  while (train(communicator, mode) && mode == "again") {
  }
  if (mode == "short") communicator.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (argc != (mode == "session" ? 4 : 2)) return 2;
  try {
    if (mode == "session") {
      Communicator communicator;
      train_in_session(communicator, argv[2], std::stoull(argv[3]));
      return 0;
    }
    rota::MirroredStrategy strategy({.replicas = mode == "threads" ? 2u : 1u});
    strategy.run([&](Communicator& communicator) { run(communicator, mode); });
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

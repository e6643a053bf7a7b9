// Training that runs wholly on a device gives what training on the host gives: the same losses and
// weights, up to rounding, and the same checkpoints and hooks. On a GPU, ./dev gpu runs this
// program too.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rota/idx.h>
#include <rota/replica.h>
#include <rota/safetensors.h>
#include <rota/session.h>
#include <rota/stop_after.h>
#include <rota/strategy.h>
#include <rota/summaries_hook.h>
#include <rota/trainer.h>

#include "mnist/models.h"
#include "testing/error_of.h"
#include "testing/on_every_rank.h"
#include "testing/paths.h"
#include "testing/tcp_world.h"
#include "testing/test_device.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using testing::small_dataset;
using testing::TemporaryFolder;
using testing::TestDevice;

constexpr MemoryKind kHere = {};
constexpr MemoryKind kThere = MemoryKind::of_device(0);

const Dataset kTrained = small_dataset(103);
const Dataset kTested = small_dataset(31);

const std::vector<Layer> kSmallLayers = {convolution(2, 3), relu(),        max_pool(2), dense(8),
                                         sigmoid(),         dropout(0.25), dense(4)};

TrainerOptions small_options() {
  TrainerOptions options;
  options.epochs = 2;
  options.batch_size = 10;
  options.seed = 11;
  options.optimizer = Sgd{.learning_rate = 0.2, .momentum = 0.5, .weight_decay = 0.001};
  return options;
}

class LossRecorder : public TrainingHook {
 public:
  void on_step(const StepReport& report) override {
    losses.push_back(report.score.loss / static_cast<double>(report.score.samples));
    correct.push_back(report.score.correct);
  }
  std::vector<double> losses;
  std::vector<std::size_t> correct;
};

// What a training run leaves behind.
struct Outcome {
  std::vector<double> losses;  // By step.
  std::vector<std::size_t> correct;
  std::vector<float> weights;
  Score test;
};

using Configure = std::function<void(Trainer<float>&)>;

Outcome outcome_of(Communicator& communicator, MemoryKind where, const TrainerOptions& options,
                   const std::vector<Layer>& layers = kSmallLayers, const Configure& configure = {},
                   const DatasetView& train = kTrained, const DatasetView& test = kTested) {
  Trainer<float> trainer(communicator, Model<float>(train.dataset().shape, layers, where), train,
                         test, options);
  LossRecorder recorder;
  trainer.add_hook(recorder);
  if (configure) configure(trainer);
  const EndReport end = trainer.run();
  Outcome outcome = {recorder.losses, recorder.correct, {}, end.test};
  for (std::size_t i = 0; i < trainer.replica().model().parameters().size(); ++i) {
    const auto values = trainer.replica().values(i);
    outcome.weights.insert(outcome.weights.end(), values.begin(), values.end());
  }
  return outcome;
}

Outcome outcome_alone(MemoryKind where, const TrainerOptions& options,
                      const std::vector<Layer>& layers = kSmallLayers,
                      const Configure& configure = {}) {
  Communicator alone{CommunicatorOptions{}};
  return outcome_of(alone, where, options, layers, configure);
}

void expect_near(const Outcome& there, const Outcome& here, double tolerance) {
  ASSERT_EQ(there.losses.size(), here.losses.size());
  for (std::size_t step = 0; step < here.losses.size(); ++step) {
    ASSERT_NEAR(there.losses[step], here.losses[step], tolerance) << "step " << step;
  }
  ASSERT_EQ(there.weights.size(), here.weights.size());
  for (std::size_t i = 0; i < here.weights.size(); ++i) {
    ASSERT_NEAR(there.weights[i], here.weights[i], tolerance) << "weight " << i;
  }
  EXPECT_NEAR(there.test.loss, here.test.loss, tolerance * static_cast<double>(here.test.samples));
}

TEST(DeviceTraining, HasTheLossesAndWeightsOfTheHost) {
  TestDevice device;
  const TrainerOptions options = small_options();
  expect_near(outcome_alone(kThere, options), outcome_alone(kHere, options), 1e-5);
  EXPECT_EQ(device.crime(), "");
}

// A step that fails has put its backward pass on the stream. The next step is another pass.
TEST(DeviceTraining, SaysAgainThatTheLossIsNotFinite) {
  TestDevice device;
  Communicator alone;
  Replica<float> replica(alone, Model<float>(kTrained.shape, kSmallLayers, kThere), {});
  const std::vector<float> inputs(kTrained.shape.count(), std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::uint8_t> labels = {1};
  const std::vector<std::uint64_t> samples = {0};
  const Batch<float> batch{.inputs = inputs, .labels = labels, .samples = samples};
  for (int step = 0; step < 2; ++step) {
    const auto error = error_of([&] { replica.step(batch, {}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kNotFinite) << error->what();
  }
  EXPECT_EQ(device.crime(), "");
}

TEST(DeviceTraining, WorksWithAdamClippingAndMicroBatches) {
  TestDevice device;
  TrainerOptions options = small_options();
  options.optimizer = Adam{.learning_rate = 0.01, .weight_decay = 0.001};
  options.max_gradient_norm = 0.3;
  options.accumulation_steps = 3;
  options.prefetch = 2;
  options.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 256};
  expect_near(outcome_alone(kThere, options), outcome_alone(kHere, options), 1e-4);
  EXPECT_EQ(device.crime(), "");
}

// The models of the example, on the images of the example.
void expect_first_steps(const std::string& model, std::size_t batch_size, double learning_rate) {
  TestDevice device;
  constexpr std::size_t kSteps = 10;
  const TrainAndTest data = read_idx_folder(testing::source_path("examples/mnist/data"));
  std::vector<std::uint64_t> first(kSteps * batch_size);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = i;
  const DatasetView train(data.train, first);
  const DatasetView test(data.test, {0, 1, 2, 3, 4});
  TrainerOptions options;
  options.batch_size = batch_size;
  options.optimizer = Sgd{.learning_rate = learning_rate, .momentum = 0.9};
  const std::vector<Layer> layers = layers_of(model, data.train.classes);
  Communicator alone{CommunicatorOptions{}};
  const Outcome here = outcome_of(alone, kHere, options, layers, {}, train, test);
  const Outcome there = outcome_of(alone, kThere, options, layers, {}, train, test);
  ASSERT_EQ(there.losses.size(), kSteps);
  // The fake device's products are the host's. After ten steps, those of a GPU may differ more.
  expect_near(there, here, device.is_fake() ? 1e-5 : 1e-3);
  EXPECT_EQ(device.crime(), "");
}

TEST(DeviceTraining, OfMlpHasTheLossOfTheHostInEachOfTenSteps) {
  expect_first_steps("mlp", 50, 0.05);
}
// The fake device is slow, so batches are small. The host convolves by tiles, whose rounding a step
// with a usual rate and so few images would amplify to more than 1e-5.
TEST(DeviceTraining, OfLenetHasTheLossOfTheHostInEachOfTenSteps) {
  expect_first_steps("lenet", 5, 0.00002);
}

// Ranks 1 and 2 train on devices; ranks 0 and 3 train on the host. All clip by the same factor.
TEST(DeviceTraining, SharesStepsWithRanksOnTheHost) {
  TestDevice device;
  for (const Codec codec : {Codec::kIdentity, Codec::kInt8}) {
    SCOPED_TRACE(to_string(codec));
    const auto train_all = [&](bool mixes) {
      CommunicatorOptions with;
      with.deadline = std::chrono::seconds(40);
      with.codec = codec;
      std::vector<Communicator> world = testing::tcp_world_of(4, with);
      std::vector<Outcome> outcomes(4);
      testing::on_every_rank(world, [&](Communicator& communicator) {
        const std::size_t rank = communicator.rank();
        const bool is_there = mixes && (rank == 1 || rank == 2);
        const std::vector<Layer> layers = {dense(500), relu(), dense(4)};  // Is coded.
        TrainerOptions options = small_options();
        options.max_gradient_norm = codec == Codec::kIdentity ? 0.3 : 0;
        outcomes[rank] = outcome_of(
            communicator, is_there ? MemoryKind::of_device(device.device(rank - 1)) : kHere,
            options, layers);
      });
      return outcomes;
    };
    const std::vector<Outcome> here = train_all(false);
    const std::vector<Outcome> mixed = train_all(true);
    for (const Outcome& rank : mixed) {
      expect_near(rank, here[0], codec == Codec::kIdentity ? 1e-5 : 1e-2);
      EXPECT_EQ(rank.weights, mixed[0].weights) << "the same bits on every rank";
    }
  }
  EXPECT_EQ(device.crime(), "");
}

// A state of a device goes on there with the same bits, and on the host too.
TEST(DeviceTraining, GoesOnFromAState) {
  TestDevice device;
  Communicator alone{CommunicatorOptions{}};
  const auto make = [&](MemoryKind where, std::size_t epochs) {
    TrainerOptions options = small_options();
    options.epochs = epochs;
    return std::make_unique<Trainer<float>>(alone, Model<float>({6, 6, 1}, kSmallLayers, where),
                                            kTrained, kTested, options);
  };
  auto whole = make(kThere, 2);
  State after_first;
  class Keeper : public TrainingHook {
   public:
    Keeper(Trainer<float>& trainer, State& state) : trainer_(trainer), state_(state) {}
    void on_epoch(const EpochReport& report) override {
      if (report.epoch == 1) state_ = trainer_.state();
    }

   private:
    Trainer<float>& trainer_;
    State& state_;
  } keeper(*whole, after_first);
  whole->add_hook(keeper);
  const std::uint64_t expected = whole->run().weights_hash;

  for (const MemoryKind where : {kThere, kHere}) {
    auto second = make(where, 2);
    second->give_state(after_first);
    const std::uint64_t hash = second->run().weights_hash;
    if (where == kThere) {
      EXPECT_EQ(hash, expected);
    } else {
      for (std::size_t i = 0; i < 6; ++i) {
        const auto here = second->replica().values(i);
        const auto there = whole->replica().values(i);
        for (std::size_t k = 0; k < here.size(); ++k) ASSERT_NEAR(here[k], there[k], 1e-5);
      }
    }
  }
}

TEST(DeviceTraining, SavesCheckpointsAndResumesFromThem) {
  TestDevice device;
  TemporaryFolder folder;
  TrainerOptions options = small_options();
  options.epochs = 3;
  const std::vector<float> expected = outcome_alone(kThere, options).weights;
  options.session.checkpoints.folder = folder.path();
  options.session.checkpoints.every_steps = 4;
  StopAfter stop({.steps = 17});
  outcome_alone(kThere, options, kSmallLayers,
                [&](Trainer<float>& trainer) { trainer.add_hook(stop); });
  EXPECT_EQ(outcome_alone(kThere, options).weights, expected);
  EXPECT_EQ(device.crime(), "");
}

TEST(DeviceTraining, SavesInASessionThatGuardsTheReplica) {
  TestDevice device;
  TemporaryFolder folder;
  Communicator alone{CommunicatorOptions{}};
  const auto train_until = [&](const char* run, std::uint64_t last) {
    Replica<float> replica(alone, Model<float>(kTrained.shape, kSmallLayers, kThere), {.seed = 4});
    SessionOptions options;
    options.checkpoints.folder = folder.path() / run;
    options.checkpoints.every_steps = 1;
    Session session(alone, options);
    session.track([&](StateVisitor& visitor) { replica.visit_state(visitor); });
    replica.set_guard(&session.guard());
    session.restore();
    BatchBuffer<float> buffer(kTrained, 3);
    while (session.step() < last && session.begin_step()) {
      const std::vector<std::uint64_t> samples = {session.step(), 20, 30};
      replica.step(buffer.gather(samples), {});
      session.end_step();
    }
    session.end();
    return replica.weights_hash();
  };
  const std::uint64_t expected = train_until("whole", 6);
  train_until("resumed", 3);
  EXPECT_EQ(train_until("resumed", 6), expected);
  EXPECT_EQ(device.crime(), "");
}

// Hooks read tensors that they got before the first step.
TEST(DeviceTraining, ShowsHooksTheValuesOfTheirStep) {
  TestDevice device;
  TemporaryFolder folder;
  class Watcher : public TrainingHook {
   public:
    explicit Watcher(const Replica<float>& replica)
        : replica_(replica), tensors_(replica.tensors()), gradients_(replica.gradients()) {}
    void on_step(const StepReport&) override {
      replica_.refresh();
      weights.push_back(first_of(tensors_));
      gradients.push_back(first_of(gradients_));
    }
    std::vector<float> weights;
    std::vector<float> gradients;

   private:
    static float first_of(const std::vector<NamedTensor>& tensors) {
      return *reinterpret_cast<const float*>(tensors[0].values.data());
    }
    const Replica<float>& replica_;
    std::vector<NamedTensor> tensors_;
    std::vector<NamedTensor> gradients_;
  };
  const auto seen_on = [&](MemoryKind where) {
    std::optional<Watcher> watcher;
    std::optional<Summaries> summaries;
    outcome_alone(where, small_options(), kSmallLayers, [&](Trainer<float>& trainer) {
      watcher.emplace(trainer.replica());
      trainer.add_hook(*watcher);
      summaries.emplace(folder.path(), SummariesOptions{.histogram_steps = 5});
      summaries->watch(trainer.replica());
      trainer.add_hook(*summaries);
    });
    return std::pair(watcher->weights, watcher->gradients);
  };
  const auto [weights, gradients] = seen_on(kHere);
  const auto [weights_there, gradients_there] = seen_on(kThere);
  ASSERT_EQ(weights.size(), weights_there.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(weights_there[i], weights[i], 1e-5);
    EXPECT_NEAR(gradients_there[i], gradients[i], 1e-4);
  }
}

TEST(DeviceTraining, LoadsParametersOfAFile) {
  TestDevice device;
  TemporaryFolder folder;
  Communicator alone{CommunicatorOptions{}};
  Replica<float> here(alone, Model<float>({6, 6, 1}, kSmallLayers), {.seed = 4});
  write_safetensors(folder.path() / "weights.safetensors", here.tensors());
  Replica<float> there(alone, Model<float>({6, 6, 1}, kSmallLayers, kThere), {.seed = 5});
  EXPECT_NE(there.weights_hash(), here.weights_hash());
  there.load(SafetensorsFile(folder.path() / "weights.safetensors"));
  EXPECT_EQ(there.weights_hash(), here.weights_hash());
}

TEST(DeviceTraining, EndsWhenTheLossIsNotFinite) {
  TestDevice device;
  TrainerOptions options = small_options();
  options.optimizer = Sgd{.learning_rate = 1e38};
  const auto error = error_of([&] { outcome_alone(kThere, options, {dense(4)}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNotFinite);
}

// Rank 0 is on a device, rank 1 on the host. No parameter is updated by the sums of such a step, so
// they must not have what the codec has lost.
TEST(DeviceTraining, KeepsWhatACodecHasLostInAStepWithoutSamples) {
  TestDevice device;
  std::vector<Communicator> world = testing::tcp_world_of(2, {});
  testing::on_every_rank(world, [&](Communicator& communicator) {
    const MemoryKind place = communicator.rank() == 0 ? kThere : kHere;
    Replica<float> replica(communicator,
                           Model<float>(kTrained.shape, {dense(500), relu(), dense(4)}, place),
                           {.buckets = {.first_bucket_bytes = 1 << 20, .codec = Codec::kInt8}});
    BatchBuffer<float> buffer(kTrained, 5);
    const auto lost = [&] {
      State state = replica.state();
      std::erase_if(state.items, [](const auto& item) { return !item.name.ends_with("/lost"); });
      return state;
    };
    const std::vector<std::uint64_t> samples = {communicator.rank(), 2, 3};
    replica.step(buffer.gather(samples), {.epoch = 1, .step = 1});
    const State before = lost();
    EXPECT_EQ(before.items.size(), 4U);
    EXPECT_EQ(replica.step(buffer.gather({}), {.epoch = 1, .step = 2}).samples, 0U);
    EXPECT_TRUE(lost() == before);
    EXPECT_EQ(replica.step(buffer.gather(samples), {.epoch = 2, .step = 1}).samples, 6U);
    EXPECT_FALSE(lost() == before);
  });
  EXPECT_EQ(device.crime(), "");
}

// Three replicas of a process, two of them on one device.
TEST(DeviceTraining, MirrorsAModelOnDevices) {
  TestDevice device;
  const auto train_on = [](const MirroredOptions& options) {
    MirroredStrategy strategy(options);
    std::vector<Outcome> outcomes(3);
    strategy.run([&](Communicator& communicator, MemoryKind place) {
      outcomes[communicator.rank()] = outcome_of(communicator, place, small_options());
    });
    return outcomes;
  };
  const auto here = train_on({.replicas = 3, .communicator = CommunicatorOptions{}});
  const auto there =
      train_on({.communicator = CommunicatorOptions{}, .devices = {0, 0, device.device(1)}});
  for (const Outcome& replica : there) {
    expect_near(replica, here[0], 1e-5);
    EXPECT_EQ(replica.weights, there[0].weights) << "the same bits in every replica";
  }
  EXPECT_EQ(device.crime(), "");
}

TEST(DeviceStrategy, GivesEachReplicaItsDevice) {
  std::mutex mutex;
  std::vector<MemoryKind> places(3);
  MirroredStrategy strategy({.communicator = CommunicatorOptions{}, .devices = {0, 0, 1}});
  EXPECT_EQ(strategy.replica_count(), 3U);
  strategy.run([&](Communicator& communicator, MemoryKind place) {
    const std::lock_guard lock(mutex);
    places[communicator.rank()] = place;
  });
  EXPECT_EQ(places, (std::vector{MemoryKind::of_device(0), MemoryKind::of_device(0),
                                 MemoryKind::of_device(1)}));
  MirroredStrategy here({.communicator = CommunicatorOptions{}});
  here.run([](Communicator&, MemoryKind place) { EXPECT_TRUE(place.is_host()); });
  const auto error = error_of([] {
    MirroredStrategy({.replicas = 2, .communicator = CommunicatorOptions{}, .devices = {0, 0, 1}});
  });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "2 replicas, but 3 devices for them: name the device of each replica");
}

// A memory of the host has the code that a device with this number would have.
TEST(DeviceStrategy, RefusesANumberThatNoDeviceHas) {
  const auto error = error_of([] {
    MirroredStrategy({.communicator = CommunicatorOptions{}, .devices = {0, 255}});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(), "there is no device 255: devices have numbers below 255");
}

}  // namespace
}  // namespace rota

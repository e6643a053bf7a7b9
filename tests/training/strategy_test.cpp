// Every strategy runs the same program, once for each replica. The first failure ends all replicas.
#include <rota/strategy.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/trainer.h>

#include "testing/error_of.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/small_training.h"

namespace rota {
namespace {

using testing::small_dataset;

MirroredOptions mirrored(std::size_t replicas) {
  MirroredOptions options;
  options.replicas = replicas;
  options.communicator.deadline = std::chrono::seconds(20);
  return options;
}

TEST(Strategy, RunsAProgramOnceOnEachReplicaAtTheSameTime) {
  for (const std::size_t replicas : {1, 2, 4}) {
    MirroredStrategy strategy(mirrored(replicas));
    EXPECT_EQ(strategy.replica_count(), replicas);
    EXPECT_EQ(strategy.world_size(), replicas);
    std::mutex mutex;
    std::set<std::size_t> ranks;
    std::set<std::thread::id> threads;
    strategy.run([&](Communicator& communicator) {
      EXPECT_EQ(communicator.world_size(), replicas);
      communicator.barrier();
      const std::lock_guard lock(mutex);
      ranks.insert(communicator.rank());
      threads.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(ranks.size(), replicas);
    EXPECT_EQ(threads.size(), replicas);
    EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
  }
}

TEST(Strategy, OfOneWorkerRunsOnTheCallersThread) {
  MultiWorkerStrategy strategy;
  EXPECT_EQ(strategy.replica_count(), 1u);
  EXPECT_EQ(strategy.world_size(), 1u);
  std::thread::id thread;
  strategy.run([&](Communicator&) { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(Strategy, RunsOneProgramAfterAnother) {
  MirroredStrategy strategy(mirrored(3));
  std::atomic<int> run_count{0};
  for (int i = 0; i < 3; ++i) {
    strategy.run([&](Communicator& communicator) {
      communicator.barrier();
      ++run_count;
    });
  }
  EXPECT_EQ(run_count, 9);
}

// Method: a program has communicators already, as one over MPI has, and trains over them.
TEST(Strategy, RunsOverCommunicatorsThatThereAre) {
  std::vector<Communicator> all = Communicator::for_threads(3, mirrored(3).communicator);
  MirroredStrategy strategy = MirroredStrategy::over(std::move(all));
  EXPECT_EQ(strategy.replica_count(), 3u);
  EXPECT_EQ(strategy.world_size(), 3u);
  std::atomic<std::size_t> sum{0};
  strategy.run([&](Communicator& communicator) {
    std::vector<float> values(7, 1);
    communicator.all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values[6], 3);
    sum += communicator.rank();
    MultiWorkerStrategy of_one = MultiWorkerStrategy::over(communicator.split(communicator.rank()));
    EXPECT_EQ(of_one.replica_count(), 1u);
    EXPECT_EQ(of_one.world_size(), 1u);
    of_one.run([&](Communicator& alone) { EXPECT_EQ(alone.world_size(), 1u); });
  });
  EXPECT_EQ(sum, 3u);
}

TEST(Strategy, RefusesCommunicatorsThatDoNotFit) {
  const auto refusal = [](std::vector<Communicator> communicators) {
    const auto error = testing::error_of([&] {
      (void)MirroredStrategy::over(std::move(communicators), {0, 0, 1});
    });
    return error ? std::string(error->what()) : "nothing was refused";
  };
  EXPECT_EQ(refusal({}), "a strategy needs at least one communicator, and got none");
  EXPECT_EQ(refusal(Communicator::for_threads(2, mirrored(2).communicator)),
            "2 replicas, but 3 devices for them: name the device of each replica");
}

TEST(Strategy, RefusesToMirrorNothing) {
  try {
    MirroredStrategy strategy(mirrored(0));
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
}

// Method: one replica throws before a barrier, and all others wait in the barrier. Whichever
// replica throws, the caller gets that replica's exception with its type, and the other replicas
// get the exception's message.
TEST(Strategy, EndsEveryReplicaWhenOneThrows) {
  for (std::size_t thrower = 0; thrower < 3; ++thrower) {
    MirroredStrategy strategy(mirrored(3));
    std::atomic<int> told_count{0};
    try {
      strategy.run([&](Communicator& communicator) {
        if (communicator.rank() == thrower) throw std::out_of_range("no such file");
        try {
          communicator.barrier();
        } catch (const Error& error) {
          if (error.code() == ErrorCode::kAborted &&
              std::string_view(error.what()).find("no such file") != std::string_view::npos) {
            ++told_count;
          }
          throw;
        }
      });
      FAIL() << "replica " << thrower << " threw";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "no such file");
    }
    EXPECT_EQ(told_count, 2);
    EXPECT_THROW(strategy.run([](Communicator& communicator) { communicator.barrier(); }), Error)
        << "what broke stays broken";
  }
}

// Method: the failing replica aborts first, and throws only after the others have thrown.
TEST(Strategy, PassesOnTheCauseAndNotItsEcho) {
  MirroredStrategy strategy(mirrored(3));
  std::atomic<int> echo_count{0};
  try {
    strategy.run([&](Communicator& communicator) {
      if (communicator.rank() == 1) {
        communicator.abort("the disk is full");
        while (echo_count < 2) std::this_thread::yield();
        throw std::runtime_error("the disk is full");
      }
      try {
        communicator.barrier();
      } catch (...) {
        ++echo_count;
        throw;
      }
    });
    FAIL() << "replica 1 threw";
  } catch (const Error& error) {
    FAIL() << "an echo: " << error.what();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
}

// Method: every replica trains alone on the same data, as if in its own world, while the other
// replicas do the same. The code below the models must not share unprotected state.
TEST(Strategy, KeepsTheProductsOfReplicasApart) {
  const Dataset data = small_dataset(60);
  const auto train = [&] {
    Communicator alone{CommunicatorOptions{}};
    Model<float> model({6, 6, 1}, {convolution(4, 3), relu(), max_pool(2), dense(16), dense(4)});
    Trainer<float> trainer(alone, std::move(model), data, data, {.epochs = 40, .batch_size = 10});
    return trainer.run().weights_hash;
  };
  const std::uint64_t expected = train();
  MirroredStrategy strategy(mirrored(4));
  strategy.run([&](Communicator&) { EXPECT_EQ(train(), expected); });
}

TEST(Strategy, PassesOnWhatIsNoException) {
  MirroredStrategy strategy(mirrored(2));
  EXPECT_THROW(strategy.run([](Communicator& communicator) {
    if (communicator.rank() == 0) throw 42;
    communicator.barrier();
  }),
               int);
}

TEST(Strategy, PassesOnTheErrorOfAHook) {
  class Fails : public TrainingHook {
    void on_step(const StepReport& report) override {
      if (report.step == 2) throw std::runtime_error("the disk is full");
    }
  };
  const Dataset data = small_dataset(60);
  MirroredStrategy strategy(mirrored(3));
  try {
    strategy.run([&](Communicator& communicator) {
      Trainer<float> trainer(communicator, Model<float>({6, 6, 1}, {dense(4)}), data, data,
                             {.epochs = 3, .batch_size = 5});
      Fails fails;
      if (communicator.rank() == 2) trainer.add_hook(fails);
      trainer.run();
    });
    FAIL() << "the hook threw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
}

std::uint64_t weights_of_threads(std::size_t replicas) {
  MirroredStrategy strategy(mirrored(replicas));
  return testing::weights_trained_by(strategy);
}

// Returns the hash that training_strategy_ranks prints. That program runs the same training as
// weights_of_threads().
std::uint64_t weights_of_processes(std::size_t world_size, const std::string& transport) {
  const testing::Result result =
      testing::run_rotarun({"-np", std::to_string(world_size), "--transport", transport,
                            testing::test_path("training_strategy_ranks")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return std::strtoull(result.out.c_str(), nullptr, 10);
}

TEST(Strategy, TrainsTheSameAsThreadsAndAsProcesses) {
  const std::uint64_t of_threads = weights_of_threads(3);
  EXPECT_NE(of_threads, 0U);
  EXPECT_EQ(weights_of_processes(3, "shm"), of_threads);
  EXPECT_EQ(weights_of_processes(3, "tcp"), of_threads);
  EXPECT_NE(weights_of_threads(2), of_threads) << "another world has other sums";
}

TEST(Strategy, TrainsAloneTheSameWhicheverItIs) {
  MultiWorkerStrategy alone;
  EXPECT_EQ(testing::weights_trained_by(alone), weights_of_threads(1));
}

}  // namespace
}  // namespace rota

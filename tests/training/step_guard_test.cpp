// A step announces each piece of memory before it writes there, so that the state can be copied
// while the step computes. Method: a guard compares every piece that it is told of with a copy that
// was made before the step.
#include <rota/step_guard.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <rota/replica.h>
#include <rota/safetensors.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

// A tensor that a step announces before it writes there.
struct Guarded {
  StateWriter writer = StateWriter::kStep;
  std::size_t index = 0;
  Values values = std::span<float>();
  std::vector<std::byte> copy;

  bool is_unchanged() const { return std::memcmp(copy.data(), values.data(), copy.size()) == 0; }
};

class Collector : public StateVisitor {
 public:
  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t&) override {}
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t>, Values values) override {
    if (piece.writer == StateWriter::kStep) return;
    pieces[piece.name] = {
        piece.writer, piece.index, values, {values.data(), values.data() + values.bytes()}};
  }
  std::map<std::string, Guarded> pieces;
};

class Watcher : public StepGuard {
 public:
  explicit Watcher(std::map<std::string, Guarded> pieces) : pieces_(std::move(pieces)) {}
  void before_update(std::size_t parameter) override { look(StateWriter::kUpdate, parameter); }
  void before_send(std::size_t bucket) override { look(StateWriter::kSend, bucket); }

  std::set<std::string> announced;

 private:
  void look(StateWriter writer, std::size_t index) {
    for (const auto& [name, piece] : pieces_) {
      if (piece.writer != writer || piece.index != index) continue;
      EXPECT_TRUE(piece.is_unchanged()) << name << " was written before it was announced";
      announced.insert(name);
    }
  }

  std::map<std::string, Guarded> pieces_;
};

// The first layer is large enough for a codec.
Model<float> model_to_guard() { return Model<float>({6, 6, 1}, {dense(512), relu(), dense(4)}); }

void expect_announcements(const ReplicaOptions& options, const std::vector<std::string>& expected) {
  const Dataset data = testing::small_dataset(10);
  testing::on_every_rank(2, [&](Communicator& communicator) {
    Replica<float> replica(communicator, model_to_guard(), options);
    BatchBuffer<float> buffer(data, 10);
    const std::vector<std::uint64_t> samples = {1, 2, 3, 5, 8};
    replica.step(buffer.gather(samples), {});
    Collector before;
    replica.visit_state(before);
    Watcher watcher(before.pieces);
    replica.set_guard(&watcher);
    replica.step(buffer.gather(samples), {});
    for (const auto& [name, piece] : before.pieces) {
      EXPECT_FALSE(piece.is_unchanged()) << name;
    }
    EXPECT_THAT(watcher.announced, ::testing::UnorderedElementsAreArray(expected));

    replica.set_guard(nullptr);
    watcher.announced.clear();
    replica.step(buffer.gather(samples), {});
    EXPECT_TRUE(watcher.announced.empty());
  });
}

TEST(StepGuard, IsToldOfEveryUpdateAndOfEverySendingThatLoses) {
  expect_announcements(
      {.optimizer = Adam{}, .buckets = {.codec = Codec::kInt8}},
      {"model/0.dense.weights", "model/0.dense.biases", "model/2.dense.weights",
       "model/2.dense.biases", "optimizer/0.dense.weights/mean",
       "optimizer/0.dense.weights/mean of squares", "optimizer/0.dense.biases/mean",
       "optimizer/0.dense.biases/mean of squares", "optimizer/2.dense.weights/mean",
       "optimizer/2.dense.weights/mean of squares", "optimizer/2.dense.biases/mean",
       "optimizer/2.dense.biases/mean of squares", "codec/gradient 0/lost"});
}

TEST(StepGuard, IsToldOfNoSendingWithoutFeedback) {
  expect_announcements({.optimizer = Sgd{.momentum = 0.9}},
                       {"model/0.dense.weights", "model/0.dense.biases", "model/2.dense.weights",
                        "model/2.dense.biases", "optimizer/0.dense.weights/velocity",
                        "optimizer/0.dense.biases/velocity", "optimizer/2.dense.weights/velocity",
                        "optimizer/2.dense.biases/velocity"});
}

// Between two steps, a save in the background may still copy.
TEST(StepGuard, IsToldBeforeValuesAreReplaced) {
  const Dataset data = testing::small_dataset(10);
  const testing::TemporaryFolder folder;
  testing::on_every_rank(2, [&](Communicator& communicator) {
    Replica<float> replica(communicator, model_to_guard(),
                           {.optimizer = Sgd{.momentum = 0.9}, .buckets = {.codec = Codec::kInt8}});
    const auto path = folder.path() / std::to_string(communicator.rank());
    write_safetensors(path, replica.tensors());
    const SafetensorsFile file(path);
    const State state = replica.state();
    BatchBuffer<float> buffer(data, 10);
    const std::vector<std::uint64_t> samples = {1, 2, 3, 5, 8};
    replica.step(buffer.gather(samples), {});
    const auto expect_told = [&](const std::string& changed, const auto& replace) {
      Collector before;
      replica.visit_state(before);
      Watcher watcher(before.pieces);
      replica.set_guard(&watcher);
      replace();
      replica.set_guard(nullptr);
      EXPECT_FALSE(before.pieces.at(changed).is_unchanged()) << changed;
      EXPECT_EQ(watcher.announced.size(), before.pieces.size());
    };
    expect_told("model/0.dense.weights", [&] { replica.load(file); });
    expect_told("optimizer/0.dense.weights/velocity", [&] { replica.give_state(state); });
  });
}

}  // namespace
}  // namespace rota

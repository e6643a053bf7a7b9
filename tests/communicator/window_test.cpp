// Tests the rule by which an operation of any kind may start while earlier ones are under way.
// Method: toy operations, and plans without a step.
#include "communicator/window.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "collectives/plan_run.h"
#include "communicator/silent_transport.h"
#include "communicator/toy_method.h"
#include "kernels/codings.h"
#include "kernels/reductions.h"

namespace rota {
namespace {

using collectives::PlannedCollective;
using Turn = Window::Turn;

// A window asks a transport only whether some rank has begun to abort.
class BreakableTransport final : public testing::SilentTransport {
 public:
  bool is_broken = false;

  bool broken() const noexcept override { return is_broken; }
};

// The properties of a toy operation.
struct Toy {
  std::size_t steps = 1;
  std::uint32_t stream = 0;
  std::span<float> written{};
  std::span<const float> read{};
  std::span<float> feedback{};
};

class WindowTest : public ::testing::Test {
 protected:
  WindowTest() {
    methods_.push_back(std::make_unique<collectives::Plans>(kNoChannels));
    methods_.push_back(std::make_unique<testing::Toys>(toys_));
    window_ = std::make_unique<Window>(queue_, methods_, &transport_);
  }

  std::uint64_t push(const Toy& toy) {
    PlannedCollective& planned =
        planned_.emplace_back(PlannedCollective{.reducer = reducer_, .coder = coder_});
    planned.call = {.count = toy.steps, .root = toy.stream};
    planned.method = 1;
    planned.value_bytes = toy.written.size_bytes();
    planned.input_bytes = toy.read.size_bytes();
    planned.feedback_bytes = toy.feedback.size_bytes();
    QueuedOperation& operation = queue_.next_slot();
    operation = {};
    operation.planned = &planned;
    operation.buffers = {reinterpret_cast<std::byte*>(toy.written.data()),
                         reinterpret_cast<std::byte*>(const_cast<float*>(toy.read.data())), nullptr,
                         reinterpret_cast<std::byte*>(toy.feedback.data())};
    return queue_.push();
  }
  std::uint64_t push_plan() {
    const PlannedCollective& planned =
        planned_.emplace_back(PlannedCollective{.reducer = reducer_, .coder = coder_});
    QueuedOperation& operation = queue_.next_slot();
    operation = {};
    operation.planned = &planned;
    return queue_.push();
  }
  // Returns the number of turns until the operation is done. An operation that starts in a turn
  // also makes a step in this turn.
  int turns_until_done(std::uint64_t number) {
    int turns = 0;
    for (; !queue_.is_done(number) && turns < 1000; ++turns) window_->turn();
    return turns;
  }

  static constexpr std::array<transport::Channel*, 1> kNoChannels{};
  std::deque<PlannedCollective> planned_;
  collectives::Reducer reducer_{kernels::reference<kernels::Reductions>(), DataType::kFloat32,
                                ReduceOp::kSum, 1};
  const collectives::Coder coder_{
      kernels::reference<kernels::Codings>(), Codec::kIdentity, ReduceOp::kSum, 0, 1, 0};
  OperationQueue queue_;
  testing::ToyManner toys_;
  std::vector<std::unique_ptr<collectives::Method>> methods_;
  BreakableTransport transport_;
  std::unique_ptr<Window> window_;
  std::array<float, 8> values_{};
};

TEST_F(WindowTest, FinishesOperationsAsTheyAreDone) {
  const auto slow = push({.steps = 5, .stream = 0});
  const auto quick = push({.steps = 2, .stream = 1});
  const auto plan = push_plan();
  EXPECT_EQ(turns_until_done(quick), 2);
  EXPECT_FALSE(queue_.is_done(slow));
  EXPECT_TRUE(queue_.is_done(plan));
  EXPECT_EQ(queue_.finished(), 0U) << "the first operation is not done";
  EXPECT_EQ(turns_until_done(slow), 3);
  EXPECT_EQ(queue_.finished(), 3U);
  EXPECT_EQ(window_->turn(), Turn::kNothing);
}

TEST_F(WindowTest, KeepsTheOrderOfAStream) {
  push({.steps = 3, .stream = 2});
  EXPECT_EQ(turns_until_done(push({.steps = 1, .stream = 2})), 3);
}

TEST_F(WindowTest, StartsWhatIsBehindAnOperationThatHasToWait) {
  const auto first = push({.steps = 3, .stream = 0});
  const auto second = push({.steps = 1, .stream = 0});
  const auto third = push({.steps = 1, .stream = 1});
  EXPECT_EQ(turns_until_done(third), 1);
  EXPECT_FALSE(queue_.is_done(first));
  EXPECT_FALSE(queue_.is_done(second));
}

TEST_F(WindowTest, StartsNothingThatMeetsAnOperationThatHasToWait) {
  const std::span<float> all(values_);
  push({.steps = 3, .stream = 0});
  push({.steps = 1, .stream = 0, .written = all});
  EXPECT_EQ(turns_until_done(push({.steps = 1, .stream = 1, .read = all})), 3);
}

TEST_F(WindowTest, StartsInOrderWhereAMethodHasOne) {
  toys_.in_order = true;
  window_ = std::make_unique<Window>(queue_, methods_, &transport_);
  push({.steps = 3, .stream = 0});
  push({.steps = 1, .stream = 0});
  EXPECT_EQ(turns_until_done(push({.steps = 1, .stream = 1})), 3);
}

TEST_F(WindowTest, KeepsTheOrderOfMemoryThatIsWritten) {
  const std::span<float> all(values_);
  const std::pair<Toy, Toy> conflicts[] = {
      {{.written = all.first(5)}, {.written = all.last(4)}},
      {{.written = all.first(5)}, {.read = all.last(4)}},
      {{.read = all.first(5)}, {.written = all.last(4)}},
      {{.written = all.first(2), .read = all.last(2)}, {.written = all.last(1)}},
      {{.feedback = all.first(5)}, {.written = all.last(4)}},
      {{.feedback = all.first(5)}, {.read = all.last(4)}},
      {{.read = all.first(5)}, {.feedback = all.last(4)}},
      {{.written = all.first(2), .feedback = all.last(2)}, {.feedback = all.last(1)}},
  };
  for (auto [first, second] : conflicts) {
    first.steps = 3;
    second.stream = 1;
    push(first);
    EXPECT_EQ(turns_until_done(push(second)), 3);
  }
}

TEST_F(WindowTest, LetsReadersAndOthersMemoryGoSideBySide) {
  const std::span<float> all(values_);
  const std::pair<Toy, Toy> pairs[] = {
      {{.read = all}, {.read = all}},
      {{.written = all.first(4)}, {.written = all.last(4)}},
      {{.written = all.first(4), .read = all.last(4)}, {.read = all.last(4)}},
      {{.written = all.subspan(2, 2)}, {.written = all.first(2), .read = all.last(4)}},
      {{.feedback = all.first(4)}, {.written = all.last(4)}},
  };
  for (auto [first, second] : pairs) {
    first.steps = 3;
    second.stream = 1;
    const auto slow = push(first);
    EXPECT_EQ(turns_until_done(push(second)), 1);
    turns_until_done(slow);
  }
}

TEST_F(WindowTest, HasSoManyPlaces) {
  // If all operations were in one stream, no other operation could begin before this one ends. Each
  // of the others is a plan without steps, and one turn finishes it.
  push({.steps = 100, .stream = 0});
  for (std::uint64_t i = 1; i < collectives::kMostRunning; ++i) push_plan();
  const auto one_more = push_plan();
  for (int i = 0; i < 50; ++i) window_->turn();
  EXPECT_FALSE(queue_.is_done(one_more));
  EXPECT_EQ(window_->count(), collectives::kMostRunning);
  EXPECT_EQ(turns_until_done(one_more), 50);
}

TEST_F(WindowTest, FinishesNothingOnceARankHasBegunToAbort) {
  const auto slow = push({.steps = 3, .stream = 0});
  const auto quick = push({.steps = 1, .stream = 1});
  transport_.is_broken = true;
  EXPECT_EQ(window_->turn(), Turn::kBroken);
  EXPECT_EQ(window_->turn(), Turn::kBroken);
  EXPECT_FALSE(queue_.is_done(quick));
  EXPECT_FALSE(queue_.is_done(slow));
  EXPECT_EQ(&window_->oldest(), &queue_.at(slow));
}

// Equal calls share the scratch memory of their plan. In a world of one, they share no stream.
TEST_F(WindowTest, KeepsEqualPlansWithScratchMemoryApart) {
  const Reduction halves = Reduction::pre_scaled_sum(0.5);
  const collectives::Reducer reducer(kernels::reference<kernels::Reductions>(), DataType::kFloat32,
                                     halves, 1);
  PlannedCollective& planned =
      planned_.emplace_back(PlannedCollective{.reducer = reducer, .coder = coder_});
  collectives::PlanRequest request;
  request.algorithm = collectives::Algorithm::kDirect;
  request.count = 2;
  request.in_place = false;
  request.reduction = halves;
  request.pre_scales = true;
  planned.plan = collectives::make_plan(request);
  std::array<float, 2> scratch{};
  ASSERT_EQ(planned.plan.scratch_count, scratch.size());
  std::array<std::array<float, 2>, 2> inputs{{{2, 4}, {20, 40}}};
  std::array<std::array<float, 2>, 2> outputs{};
  const auto bytes_of = [](std::array<float, 2>& values) {
    return reinterpret_cast<std::byte*>(values.data());
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    QueuedOperation& operation = queue_.next_slot();
    operation = {};
    operation.planned = &planned;
    operation.buffers = {bytes_of(outputs[i]), bytes_of(inputs[i]), bytes_of(scratch)};
    queue_.push();
  }
  turns_until_done(queue_.submitted());
  EXPECT_EQ(outputs[0], (std::array<float, 2>{1, 2}));
  EXPECT_EQ(outputs[1], (std::array<float, 2>{10, 20}));
}

TEST_F(WindowTest, NamesWhatWaitsForMemory) {
  const std::span<float> all(values_);
  push({.steps = 9, .stream = 0, .written = all});
  window_->turn();
  EXPECT_EQ(window_->held_up_by_memory(), nullptr);
  const auto same_stream = push({.stream = 0});
  window_->turn();
  EXPECT_EQ(window_->held_up_by_memory(), nullptr)
      << "the operation waits for a stream, not for memory";
  turns_until_done(same_stream);
  push({.steps = 9, .stream = 0, .written = all});
  const auto reader = push({.stream = 1, .read = all});
  window_->turn();
  EXPECT_EQ(window_->held_up_by_memory(), &queue_.at(reader));
}

}  // namespace
}  // namespace rota

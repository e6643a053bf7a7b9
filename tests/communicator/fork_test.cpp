// The child of a fork has copies of the parent's communicators: their calls are refused, and their
// ends change nothing. Method: a child uses and destroys all that the parent has. Then the parent
// and the other ranks go on, as if there had been no child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/agreed_steps.h>
#include <rota/shared_allocator.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "communicator/by_hand_world.h"
#include "communicator/giving_up.h"
#include "os/host.h"
#include "testing/on_every_rank.h"
#include "testing/said_by_child.h"
#include "testing/tcp_world.h"

namespace rota {
namespace {

using std::chrono::seconds;
using testing::all_are;
using testing::floats_of;
using testing::said_by_child;

constexpr std::size_t kForkedCount = 10'000;

// What a rank has before it forks. Its request is pending, so that its progress thread works.
struct Owned {
  explicit Owned(Communicator& comm)
      : steps(std::make_unique<AgreedSteps>(comm)),
        allocator(comm),
        shared(kForkedCount, 2.0F, allocator),
        block(comm.allocate(kForkedCount * sizeof(float))) {
    std::ranges::fill(floats_of(block), 1.0F);
    if (comm.world_size() > 1) request = comm.receive_async(received, 1);
  }

  std::unique_ptr<AgreedSteps> steps;
  SharedAllocator<float> allocator;
  std::vector<float, SharedAllocator<float>> shared;
  Block block;
  std::vector<float> received = std::vector<float>(10);
  Request request;
};

// Returns the calls that the child must not make.
std::vector<testing::NamedCall> calls_of(Communicator& comm, Owned& owned) {
  static std::vector<float> values(10);
  std::vector<testing::NamedCall> calls = {
      {"all_reduce", [&] { comm.all_reduce(values, ReduceOp::kSum); }},
      {"a grouped call",
       [&] {
         comm.all_reduce({values, owned.received}, ReduceOp::kSum);
       }},
      {"all_reduce_async", [&] { comm.all_reduce_async(values, ReduceOp::kSum).wait(); }},
      {"barrier", [&] { comm.barrier(); }},
      {"broadcast", [&] { comm.broadcast(values, 0); }},
      {"split", [&] { comm.split(0); }},
      {"allocate", [&] { comm.allocate(64); }},
      {"a shared allocator", [&] { owned.allocator.allocate(16); }},
      {"a new shared allocator", [&] { SharedAllocator<float>{comm}; }},
      {"begin", [&] { owned.steps->begin(); }},
      {"a new AgreedSteps", [&] { AgreedSteps{comm}; }},
  };
  if (comm.world_size() == 1) return calls;
  calls.push_back({"send", [&] { comm.send(values, 1); }});
  calls.push_back({"wait", [&] { owned.request.wait(); }});
  calls.push_back({"wait_for", [&] { owned.request.wait_for(std::chrono::nanoseconds(0)); }});
  calls.push_back({"test", [&] { owned.request.test(); }});
  calls.push_back({"wait_on", [&] { owned.request.wait_on(nullptr); }});
  return calls;
}

using MakeWorld = std::function<std::vector<Communicator>()>;

struct Forked {
  const char* name;
  MakeWorld make;
};

void PrintTo(const Forked& forked, std::ostream* out) { *out << forked.name; }

class ForkTest : public ::testing::TestWithParam<Forked> {
 protected:
  std::vector<Communicator> world_ = GetParam().make();
  std::unique_ptr<Owned> owned_ = std::make_unique<Owned>(world_.front());

  // Expects that all ranks go on, with the values that they had.
  void expect_untouched() {
    EXPECT_TRUE(all_are(floats_of(owned_->block), 1.0F));
    EXPECT_TRUE(all_are(owned_->shared, 2.0F));
    EXPECT_TRUE(owned_->steps->begin());
    if (world_.size() > 1) {
      world_[1].send(std::vector<float>(10, 3.0F), 0);
      owned_->request.wait();
      EXPECT_TRUE(all_are(owned_->received, 3.0F));
    }
    testing::on_every_rank(world_, sum_of_ranks);
  }
};

TEST_P(ForkTest, RefusesEveryCallInTheChild) {
  const std::string what = "the communicator of rank 0 (" + os::host_name() + ")";
  const auto said =
      said_by_child([&] { return testing::not_refused(what, calls_of(world_.front(), *owned_)); });
  EXPECT_EQ(said, "");
  expect_untouched();
}

TEST_P(ForkTest, ChangesNothingWhereTheChildDestroysAll) {
  const auto said = said_by_child([&] {
    world_.front().abort("the child gives up");
    owned_.reset();
    world_.clear();
    return "destroyed";
  });
  EXPECT_EQ(said, "destroyed");
  expect_untouched();
}

TEST_P(ForkTest, ChangesNothingWhereTheChildAssignsAnotherCommunicator) {
  const auto said = said_by_child([&] {
    world_.front() = Communicator{CommunicatorOptions{}};
    std::vector<float> values(10, 4.0F);
    world_.front().all_reduce(values, ReduceOp::kSum);
    return all_are(values, 4.0F) ? "its own works" : "its own does not work";
  });
  EXPECT_EQ(said, "its own works");
  expect_untouched();
}

INSTANTIATE_TEST_SUITE_P(
    Worlds, ForkTest,
    ::testing::Values(
        Forked{"alone", [] { return Communicator::for_threads(1, CommunicatorOptions{}); }},
        Forked{"in_memory", [] { return testing::world_in_memory(3, seconds(20)); }},
        Forked{"over_tcp", [] { return testing::tcp_world_of(3, {.deadline = seconds(20)}); }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rota

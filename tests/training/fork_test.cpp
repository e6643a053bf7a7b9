// The child of a fork has copies of what the parent trains with: their calls are refused, and their
// ends change nothing. Method: a child uses and destroys them. Then the parent goes on, as if there
// had been no child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/gradient_buckets.h>
#include <rota/prefetch.h>
#include <rota/session.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/error_of.h"
#include "testing/said_by_child.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::not_refused;
using testing::said_by_child;

const std::vector<std::size_t> kForkedCounts = {3, 100};

// Finds nothing: a visit of buckets that keep no feedback has facts and counters only.
class IdleVisitor final : public StateVisitor {
 public:
  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t&) override {}
  void visit_tensor(const StatePiece&, std::span<const std::size_t>, Values) override {}
};

std::vector<testing::NamedCall> calls_of_buckets(GradientBuckets<float>& buckets) {
  return {{"attach", [&] { buckets.attach(1, {}); }},
          {"begin_step", [&] { buckets.begin_step(100); }},
          {"send_sums", [&] { buckets.send_sums(); }},
          {"ready", [&] { buckets.ready(0); }},
          {"world_sample_count", [&] { buckets.world_sample_count(); }},
          {"world_sums", [&] { buckets.world_sums(); }},
          {"wait for one", [&] { buckets.wait(0); }},
          {"wait for all", [&] { buckets.wait(); }},
          {"visit_state", [&] {
             IdleVisitor visitor;
             buckets.visit_state(visitor);
           }}};
}

// Buckets and the count of samples are in memory that the child shares with its parent: a step of
// the child would change the sums of the ranks.
TEST(Fork, LeavesTheGradientsOfAStepToTheParent) {
  testing::on_every_rank(2, [](Communicator& comm) {
    auto buckets = std::make_unique<GradientBuckets<float>>(comm, kForkedCounts);
    buckets->begin_step(5);
    for (std::size_t index : {0, 1}) std::ranges::fill(buckets->gradient(index), 1.0F);
    buckets->ready(1);
    if (comm.rank() == 0) {
      const auto said = said_by_child([&] {
        std::string text = not_refused("this set of gradient buckets", calls_of_buckets(*buckets));
        buckets.reset();
        return text;
      });
      EXPECT_EQ(said, "");
    }
    buckets->ready(0);
    buckets->wait();
    EXPECT_EQ(buckets->world_sample_count(), 10U);
    EXPECT_THAT(buckets->gradient(0), ElementsAre(2, 2, 2));
  });
}

// Method: the thread gathers a batch when the process forks, or sleeps because all are gathered. A
// child that waited for the thread, or that destroyed the condition variable on which it sleeps,
// would hang.
TEST(Fork, LeavesTheThreadThatGathersToTheParent) {
  for (const bool is_gathering : {true, false}) {
    std::latch has_begun(1);
    std::atomic<bool> may_end = !is_gathering;
    const auto gather = [&](const SampleRun& run) {
      if (run.step == 1) has_begun.count_down();
      while (!may_end) std::this_thread::yield();
      return std::vector<std::uint64_t>(1000, run.step);
    };
    auto prefetch = std::make_unique<Prefetch<std::vector<std::uint64_t>>>(
        SampleSource<std::vector<std::uint64_t>>{100, "", gather}, 2);
    prefetch->ask({.samples = {}, .step = 1});
    has_begun.wait();
    const auto said = said_by_child([&] {
      std::string text = not_refused("this Prefetch", {{"ask", [&] { prefetch->ask({}); }},
                                                       {"next", [&] { prefetch->next(); }}});
      prefetch->forget();
      prefetch.reset();
      return text;
    });
    EXPECT_EQ(said, "") << is_gathering;
    may_end = true;
    EXPECT_EQ(prefetch->next().front(), 1U);
    prefetch->ask({.samples = {}, .step = 2});
    EXPECT_EQ(prefetch->next().front(), 2U);
  }
}

// A Session has a Checkpointer, whose thread writes.
TEST(Fork, LeavesTheCheckpointsOfASessionToTheParent) {
  const testing::TemporaryFolder folder;
  Communicator comm{CommunicatorOptions{}};
  std::vector<float> weights(100);
  SessionOptions options;
  options.checkpoints.folder = folder.path() / "run";
  auto session = std::make_unique<Session>(comm, options);
  session->track("weights", weights);
  session->restore();
  ASSERT_TRUE(session->begin_step());
  session->before_update();
  std::ranges::fill(weights, 1.0F);
  session->ask_for_checkpoint();
  session->end_step();
  const auto said = said_by_child([&] {
    session->before_update();  // Waits for nothing.
    std::string text = not_refused("this Checkpointer", {{"end", [&] { session->end(); }}});
    const auto error = testing::error_of([&] { session->begin_step(); });
    if (!error || error->code() != ErrorCode::kInvalidArgument) text += "begin_step: accepted\n";
    session.reset();
    return text;
  });
  EXPECT_EQ(said, "");
  session->end();
  session.reset();

  Session next(comm, options);
  std::vector<float> restored(100);
  next.track("weights", restored);
  EXPECT_EQ(next.restore().step, 1U);
  EXPECT_EQ(restored, weights);
}

}  // namespace
}  // namespace rota

// Tests a collective over shared memory step by step. After a rank has failed, no rank writes any
// further. Ranks reduce in the order of their posts. A rank does not follow a wrong scatter list of
// a peer. Method: the ranks take turns in one thread, over plain memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include <rota/error.h>

#include "collectives/shared/run.h"
#include "kernels/reductions.h"

namespace rota::collectives {
namespace {

constexpr std::size_t kCount = 400'000;  // Floats; a slice takes several pieces.

constexpr std::array<transport::Channel*, 2> kNoChannels{};

// A rank with plain memory in place of an arena.
struct Rank {
  explicit Rank(std::size_t count)
      : memory(std::make_unique<float[]>(count)),
        bytes(reinterpret_cast<std::byte*>(memory.get()), count * sizeof(float)) {}

  std::unique_ptr<float[]> memory;
  std::span<std::byte> bytes;
  transport::SharedPage page{};
  transport::SharedMemory shared;
  std::unique_ptr<Flags> flags;
  std::unique_ptr<SharedRun> run;
  PlannedCollective planned{.reducer = {kernels::reference<kernels::Reductions>(),
                                        DataType::kFloat32, ReduceOp::kSum, 2}};
  Operation operation;

  void plan(std::size_t count) {
    planned.call = {.algorithm = Algorithm::kShared, .count = count};
    planned.signature = {planned.call, shared.rank};
  }
};

class SharedRunTest : public ::testing::Test {
 protected:
  SharedRunTest() {
    for (int i = 0; i < 2; ++i) ranks_.push_back(std::make_unique<Rank>(kCount));
    std::vector<transport::SharedMemory::OfRank> all;
    for (const auto& rank : ranks_) all.push_back({&rank->page, rank->bytes});
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = *ranks_[i];
      std::fill_n(rank.memory.get(), kCount, static_cast<float>(i + 1));
      rank.shared.rank = i;
      rank.shared.ranks = all;
      rank.shared.abort_word = &abort_word_;
      rank.flags = std::make_unique<Flags>(rank.shared);
      rank.run = std::make_unique<SharedRun>(*rank.flags, kNoChannels, 0, 0);
      rank.plan(kCount);
      rank.operation = {.planned = &rank.planned,
                        .sequence = 1,
                        .buffers = {rank.bytes.data(), nullptr, nullptr}};
    }
  }

  void start_all() {
    for (const auto& rank : ranks_) rank->run->start(rank->operation);
  }
  std::ptrdiff_t sums() const {
    return std::count(ranks_[0]->memory.get(), ranks_[0]->memory.get() + kCount, 3.0F);
  }

  // Writes a scatter list at the front of a rank's memory, and makes the rank's operation use this
  // list. The parts of the list lie behind it.
  ScatterList& list_of(Rank& rank) {
    auto& list = *reinterpret_cast<ScatterList*>(rank.bytes.data());
    list.count = 2;
    list.parts[0] = {8192, 40000};
    list.parts[1] = {80000, 40000};
    rank.operation.parts = &list;
    rank.operation.buffers[0] = nullptr;
    return list;
  }
  void expect_that_rank_1_is_blamed() {
    start_all();
    try {
      while (ranks_[0]->run->step() != Turn::kNothing) continue;
      FAIL() << "rank 0 accepted the scatter list of rank 1";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kPeerLost) << error.what();
      EXPECT_EQ(error.blamed_rank(), 1U);
    }
  }

  std::atomic<std::uint32_t> abort_word_{0};
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_F(SharedRunTest, WritesNoFurtherOnceARankHasFailed) {
  start_all();
  ASSERT_EQ(ranks_[0]->run->step(), Turn::kMoved);
  const std::ptrdiff_t so_far = sums();
  EXPECT_GT(so_far, 0);
  EXPECT_LT(so_far, std::ptrdiff_t{kCount / 2});
  abort_word_ = 1;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ranks_[0]->run->step(), Turn::kNothing);
    EXPECT_EQ(ranks_[1]->run->step(), Turn::kNothing);
  }
  EXPECT_EQ(sums(), so_far);
  EXPECT_FALSE(ranks_[0]->run->waiting()) << "rank 0 waits for another rank";
}

TEST_F(SharedRunTest, TakesTurnsInTheOrderOfPosts) {
  std::vector<std::unique_ptr<SharedRun>> second;
  std::vector<Operation> operations;
  for (const auto& rank : ranks_) {
    operations.push_back(rank->operation);
    rank->plan(kCount / 2);
    operations.back().buffers[0] += kCount / 2 * sizeof(float);
    operations.back().sequence = 2;
    second.push_back(std::make_unique<SharedRun>(*rank->flags, kNoChannels, 1, 0));
  }
  start_all();
  for (std::size_t i = 0; i < 2; ++i) second[i]->start(operations[i]);
  EXPECT_EQ(second[0]->step(), Turn::kNothing) << "it moved before the first operation";
  while (ranks_[0]->run->step() != Turn::kNothing) continue;
  while (second[0]->step() != Turn::kNothing) continue;  // Rank 1 has made no step yet.
  EXPECT_GT(sums(), 0);
  EXPECT_LT(sums(), std::ptrdiff_t{kCount}) << "rank 1 has done nothing";
  while (ranks_[1]->run->step() != Turn::kDone) continue;
  while (second[1]->step() != Turn::kDone) continue;
  EXPECT_EQ(ranks_[0]->run->step(), Turn::kDone);
  EXPECT_EQ(second[0]->step(), Turn::kDone);
  EXPECT_EQ(sums(), std::ptrdiff_t{kCount});
}

TEST_F(SharedRunTest, BelievesNoListThatLeavesTheArena) {
  for (const auto& rank : ranks_) rank->plan(20000);
  list_of(*ranks_[1]).parts[0] = {kCount * sizeof(float) - 4, 40000};
  expect_that_rank_1_is_blamed();
}

TEST_F(SharedRunTest, BelievesNoListThatEndsTooEarly) {
  for (const auto& rank : ranks_) rank->plan(20000);
  list_of(*ranks_[1]).parts[0].bytes = 4000;
  list_of(*ranks_[1]).count = 1;
  expect_that_rank_1_is_blamed();
}

TEST_F(SharedRunTest, BelievesNoListOfHalfElements) {
  for (const auto& rank : ranks_) rank->plan(20000);
  list_of(*ranks_[1]).parts[0].bytes = 39998;
  expect_that_rank_1_is_blamed();
}

}  // namespace
}  // namespace rota::collectives

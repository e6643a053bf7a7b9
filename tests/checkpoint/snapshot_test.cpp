// A snapshot has the values from before the step, whatever the step does meanwhile.
#include "checkpoint/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <thread>
#include <vector>

namespace rota::checkpoint {
namespace {

std::vector<std::byte> filled(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

bool all_are(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes,
                             [&](std::byte b) { return b == static_cast<std::byte>(value); });
}

TEST(Snapshot, BorrowsWhatNoStepWrites) {
  const auto memory = filled(100, 1);
  Snapshot snapshot;
  snapshot.begin({{.memory = memory}});
  snapshot.copy();
  EXPECT_EQ(snapshot.values().front().data(), memory.data());
}

TEST(Snapshot, BorrowsWithoutACopy) {
  const auto memory = filled(100, 1);
  Snapshot snapshot;
  snapshot.borrow({{.memory = memory, .writer = StateWriter::kUpdate}});
  EXPECT_EQ(snapshot.wait_before(StateWriter::kUpdate, 0).count(), 0);
  snapshot.copy();
  EXPECT_EQ(snapshot.values().front().data(), memory.data());
}

TEST(Snapshot, NobodyWaitsWhileNoneIsUnderWay) {
  Snapshot snapshot;
  EXPECT_EQ(snapshot.wait_before(StateWriter::kUpdate, 0).count(), 0);
  EXPECT_EQ(snapshot.wait_before(StateWriter::kSend, 7).count(), 0);
}

// Method: the copy of a parameter takes long, and the last bucket is copied before it.
TEST(Snapshot, TheLargestBucketWaitsForAllBucketsAndForNoParameter) {
  const auto parameter = filled(std::size_t{64} << 20, 1);
  auto bucket = filled(1000, 1);
  Snapshot snapshot;
  snapshot.begin({{parameter, StateWriter::kUpdate, 0}, {bucket, StateWriter::kSend, 3}});
  std::thread writer([&] { snapshot.copy(); });
  snapshot.wait_before(StateWriter::kSend, std::numeric_limits<std::size_t>::max());
  std::ranges::fill(bucket, std::byte{2});
  writer.join();
  EXPECT_TRUE(all_are(snapshot.values()[1], 1));
}

// No writer's thread has begun yet, so a wait would never end.
TEST(Snapshot, NobodyWaitsForBucketsIfThereAreNone) {
  const auto parameter = filled(100, 1);
  Snapshot snapshot;
  snapshot.begin({{parameter, StateWriter::kUpdate, 0}});
  EXPECT_EQ(snapshot.wait_before(StateWriter::kSend, 0).count(), 0);
  snapshot.copy();
}

// Another rank may have the shares of the last parameters, which a step updates first. Method: the
// copy begins only after the waits.
TEST(Snapshot, NobodyWaitsForWhatIsNotCopied) {
  const auto memory = filled(100, 1);
  Snapshot snapshot;
  snapshot.begin({{memory, StateWriter::kUpdate, 1}, {memory, StateWriter::kSend, 2}});
  const auto waiting_for = [&](StateWriter writer, std::size_t index) {
    return std::async(std::launch::async, [&snapshot, writer, index] {
      return snapshot.wait_before(writer, index).count();
    });
  };
  auto later_parameter = waiting_for(StateWriter::kUpdate, 2);
  auto earlier_bucket = waiting_for(StateWriter::kSend, 1);
  const auto enough = std::chrono::seconds(10);
  EXPECT_EQ(later_parameter.wait_for(enough), std::future_status::ready);
  EXPECT_EQ(earlier_bucket.wait_for(enough), std::future_status::ready);
  auto parameter = waiting_for(StateWriter::kUpdate, 1);
  auto bucket = waiting_for(StateWriter::kSend, 2);
  const auto short_while = std::chrono::milliseconds(20);
  EXPECT_EQ(parameter.wait_for(short_while), std::future_status::timeout);
  EXPECT_EQ(bucket.wait_for(short_while), std::future_status::timeout);
  snapshot.copy();
  EXPECT_GT(parameter.get(), 0);
  EXPECT_GT(bucket.get(), 0);
}

// A rank may have no share at all.
TEST(Snapshot, NobodyWaitsForTheCopyOfNothing) {
  Snapshot snapshot;
  snapshot.begin({});
  auto waiting = std::async(std::launch::async,
                            [&] { return snapshot.wait_before(StateWriter::kUpdate, 0).count(); });
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  snapshot.copy();
}

// A training thread writes each share as soon as it may, and a writer copies: 200 times, with
// shares of different sizes.
TEST(Snapshot, EachChangeWaitsForItsOwnCopy) {
  constexpr std::size_t kShares = 12;
  std::vector<std::vector<std::byte>> buckets;
  std::vector<std::vector<std::byte>> parameters;
  for (std::size_t i = 0; i < kShares; ++i) {
    buckets.push_back(filled(1000 * (i + 1), 0));
    parameters.push_back(filled(100'000 / (i + 1), 0));
  }
  Snapshot snapshot;
  for (int round = 1; round <= 200; ++round) {
    std::vector<Share> shares;
    for (std::size_t i = 0; i < kShares; ++i) {
      shares.push_back({parameters[i], StateWriter::kUpdate, i});
      shares.push_back({buckets[i], StateWriter::kSend, i});
    }
    snapshot.begin(shares);
    std::thread writer([&] { snapshot.copy(); });
    for (std::size_t i = 0; i < kShares; ++i) {
      snapshot.wait_before(StateWriter::kSend, i);
      std::ranges::fill(buckets[i], static_cast<std::byte>(round));
    }
    for (std::size_t i = kShares; i-- > 0;) {
      snapshot.wait_before(StateWriter::kUpdate, i);
      std::ranges::fill(parameters[i], static_cast<std::byte>(round));
    }
    writer.join();
    for (const auto& values : snapshot.values()) {
      ASSERT_TRUE(all_are(values, (round - 1) & 0xff)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace rota::checkpoint

// A full queue drops the oldest summaries, and counts them.
#include "exports/summary_queue.h"

#include <gtest/gtest.h>

#include <limits>

namespace rota::exports {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max() / 2;

formats::Event scalar_at(std::int64_t step) {
  return {0, step, "tag", formats::ScalarSummary{static_cast<float>(step)}};
}

formats::Event text_at(std::int64_t step, std::size_t bytes) {
  return {0, step, "tag", formats::TextSummary{std::string(bytes, 'x')}};
}

TEST(SummaryQueue, KeepsTheOrder) {
  SummaryQueue queue(10, kUnlimited);
  for (std::int64_t step = 5; step < 8; ++step) queue.push(scalar_at(step));
  const auto events = queue.take();
  ASSERT_EQ(events.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(events[i].step, static_cast<std::int64_t>(5 + i));
  EXPECT_TRUE(queue.take().empty());
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(SummaryQueue, DropsTheOldestWhenItHasTooMany) {
  SummaryQueue queue(3, kUnlimited);
  for (std::int64_t step = 0; step < 7; ++step) queue.push(scalar_at(step));
  EXPECT_EQ(queue.dropped(), 4U);
  const auto events = queue.take();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events.front().step, 4);
}

TEST(SummaryQueue, DropsTheOldestWhenItHasTooManyBytes) {
  SummaryQueue queue(100, 10'000);
  for (std::int64_t step = 0; step < 5; ++step) queue.push(text_at(step, 4'000));
  EXPECT_EQ(queue.dropped(), 3U);
  EXPECT_EQ(queue.take().front().step, 3);
  queue.push(text_at(9, 4'000));  // The room of what was taken is free again.
  queue.push(text_at(10, 4'000));
  EXPECT_EQ(queue.dropped(), 3U);
}

TEST(SummaryQueue, KeepsTheNewestEvenIfItIsTooLarge) {
  SummaryQueue queue(100, 1'000);
  queue.push(scalar_at(1));
  queue.push(text_at(2, 5'000));
  EXPECT_EQ(queue.dropped(), 1U);
  EXPECT_EQ(queue.take().size(), 1U);
}

TEST(SummaryQueue, SaysWhenHalfOfItIsFull) {
  SummaryQueue by_count(4, kUnlimited);
  by_count.push(scalar_at(1));
  by_count.push(scalar_at(2));
  EXPECT_FALSE(by_count.is_half_full());
  by_count.push(scalar_at(3));
  EXPECT_TRUE(by_count.is_half_full());
  SummaryQueue by_bytes(100, 10'000);
  by_bytes.push(text_at(1, 4'000));
  EXPECT_FALSE(by_bytes.is_half_full());
  by_bytes.push(text_at(2, 4'000));
  EXPECT_TRUE(by_bytes.is_half_full());
}

// Readers forget what earlier files have from the first step on, even if its summary was dropped.
TEST(SummaryQueue, RemembersTheFirstStep) {
  SummaryQueue queue(1, kUnlimited);
  EXPECT_FALSE(queue.first_step());
  queue.push(scalar_at(7));
  queue.push(scalar_at(8));
  EXPECT_EQ(queue.first_step(), 7);
  EXPECT_EQ(queue.last_step(), 8);
}

}  // namespace
}  // namespace rota::exports

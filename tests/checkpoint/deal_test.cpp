// Each row of each tensor is written by one rank, and the ranks write about the same number of
// bytes.
#include "checkpoint/deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace rota::checkpoint {
namespace {

TensorInfo bytes_tensor(std::vector<std::size_t> shape) {
  return {.name = "t", .type = DataType::kUint8, .shape = std::move(shape)};
}

using Deal = std::vector<std::vector<DealtRows>>;

std::vector<std::size_t> loads_of(const std::vector<TensorInfo>& tensors, const Deal& dealt) {
  std::vector<std::size_t> loads;
  for (const auto& share : dealt) {
    loads.push_back(std::accumulate(share.begin(), share.end(), std::size_t{0},
                                    [&](std::size_t sum, const DealtRows& run) {
                                      return sum + bytes_of(tensors[run.tensor], run.rows);
                                    }));
  }
  return loads;
}

// Counts how often each row is dealt. A tensor without rows counts as one row.
void expect_each_row_once(const std::vector<TensorInfo>& tensors, const Deal& dealt) {
  std::vector<std::vector<int>> counts;
  for (const TensorInfo& tensor : tensors) {
    counts.emplace_back(std::max<std::size_t>(all_rows_of(tensor).count, 1), 0);
  }
  for (const auto& share : dealt) {
    EXPECT_TRUE(std::ranges::is_sorted(share, {}, &DealtRows::tensor));
    for (std::size_t i = 0; i < share.size(); ++i) {
      const auto& [tensor, rows] = share[i];
      EXPECT_TRUE(i == 0 || share[i - 1].tensor != tensor) << "two runs of rows of one tensor";
      for (std::size_t row = 0; row < std::max<std::size_t>(rows.count, 1); ++row) {
        ++counts[tensor].at(rows.first + row);
      }
    }
  }
  for (const auto& rows : counts) {
    for (const int count : rows) EXPECT_EQ(count, 1);
  }
}

TEST(Deal, GivesTheLargestFirstToTheRankWithTheFewestBytes) {
  const std::vector<TensorInfo> tensors = {bytes_tensor({3}), bytes_tensor({7}), bytes_tensor({5}),
                                           bytes_tensor({4})};
  const Deal dealt = deal(tensors, 2);
  EXPECT_EQ(dealt[0], (std::vector<DealtRows>{{0, {0, 3}}, {1, {0, 7}}}));  // 7, then 3.
  EXPECT_EQ(dealt[1], (std::vector<DealtRows>{{2, {0, 5}}, {3, {0, 4}}}));  // 5, then 4.
}

TEST(Deal, BreaksTiesByTheOrder) {
  const std::vector<TensorInfo> tensors(4, bytes_tensor({8}));
  const Deal dealt = deal(tensors, 3);
  EXPECT_EQ(dealt[0], (std::vector<DealtRows>{{0, {0, 8}}, {3, {0, 8}}}));
  EXPECT_EQ(dealt[1], (std::vector<DealtRows>{{1, {0, 8}}}));
  EXPECT_EQ(dealt[2], (std::vector<DealtRows>{{2, {0, 8}}}));
}

TEST(Deal, CutsATensorAbove64MiBByRows) {
  constexpr std::size_t kRow = std::size_t{1} << 20;
  const Deal whole = deal(std::vector{bytes_tensor({64, kRow})}, 4);
  EXPECT_EQ(whole[0], (std::vector<DealtRows>{{0, {0, 64}}}));
  const Deal cut = deal(std::vector{bytes_tensor({65, kRow})}, 4);
  EXPECT_EQ(cut[0], (std::vector<DealtRows>{{0, {0, 33}}}));
  EXPECT_EQ(cut[1], (std::vector<DealtRows>{{0, {33, 32}}}));
  EXPECT_TRUE(cut[2].empty());
}

TEST(Deal, CutsNoTensorForARankAlone) {
  const std::vector<TensorInfo> tensors = {bytes_tensor({1000, std::size_t{1} << 20})};
  EXPECT_EQ(deal(tensors, 1)[0], (std::vector<DealtRows>{{0, {0, 1000}}}));
}

TEST(Deal, LeavesARowWhole) {
  const std::vector<TensorInfo> tensors = {bytes_tensor({2, std::size_t{1} << 30})};
  const Deal dealt = deal(tensors, 5);
  EXPECT_EQ(dealt[0], (std::vector<DealtRows>{{0, {0, 1}}}));
  EXPECT_EQ(dealt[1], (std::vector<DealtRows>{{0, {1, 1}}}));
}

TEST(Deal, HasEachRowOnceAndBalancedLoads) {
  std::vector<TensorInfo> tensors = {bytes_tensor({}), bytes_tensor({0, 7})};
  std::size_t largest = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    // From 1 KiB to about 150 MiB.
    tensors.push_back(bytes_tensor({17 + i * 7 % 100, 64 + i * i * i * 3}));
    largest = std::max(largest, std::min(kMostUncutBytes, bytes_of(tensors.back())));
  }
  for (const std::size_t ranks : {1U, 2U, 3U, 5U, 8U, 31U}) {
    const Deal dealt = deal(tensors, ranks);
    ASSERT_EQ(dealt.size(), ranks);
    expect_each_row_once(tensors, dealt);
    const auto loads = loads_of(tensors, dealt);
    const auto [least, most] = std::ranges::minmax(loads);
    EXPECT_LE(most - least, largest) << ranks << " ranks";
    EXPECT_EQ(deal(tensors, ranks), dealt);
  }
}

TEST(Deal, OfNothingGivesNoRankAnything) {
  for (const auto& share : deal({}, 3)) EXPECT_TRUE(share.empty());
}

}  // namespace
}  // namespace rota::checkpoint

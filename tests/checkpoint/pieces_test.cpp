// Each piece of work is done once, and of several failures the same one is reported every time.
#include "checkpoint/pieces.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace rota::checkpoint {
namespace {

TEST(Pieces, AreAllDoneOnce) {
  for (const std::size_t count : {0, 1, 3, 4, 7, 8, 100}) {
    std::vector<std::atomic<int>> calls(count);
    for_each_piece(count, [&](std::size_t piece) { ++calls[piece]; });
    for (std::size_t piece = 0; piece < count; ++piece) EXPECT_EQ(calls[piece], 1) << piece;
  }
}

// Waits until `happened`, but not for ever. Returns whether it has.
bool wait_for(const std::atomic<bool>& happened) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!happened && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return happened;
}

TEST(Pieces, AreDoneBySeveralThreads) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "takes two cores";
  std::atomic<bool> has_second = false;
  bool was_seen = false;
  for_each_piece(8, [&](std::size_t piece) {
    if (piece == 0) was_seen = wait_for(has_second);
    if (piece == 1) has_second = true;
  });
  EXPECT_TRUE(was_seen);
}

TEST(Pieces, OfAShortListAreDoneHere) {
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<bool> is_elsewhere = false;
  for_each_piece(7, [&](std::size_t) {
    if (std::this_thread::get_id() != here) is_elsewhere = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // A second thread would get some.
  });
  EXPECT_FALSE(is_elsewhere);
}

// The later failure comes first, since the earlier piece waits for it.
TEST(Pieces, ReportTheFirstFailureInTheirOrder) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "takes two cores";
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::atomic<bool> has_failed = false;
    bool was_seen = false;
    std::string what;
    try {
      for_each_piece(40, [&](std::size_t piece) {
        if (piece == 0) {
          was_seen = wait_for(has_failed);
        } else {
          has_failed = true;
        }
        throw std::runtime_error(std::to_string(piece));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    ASSERT_TRUE(was_seen);
    EXPECT_EQ(what, "0");
  }
}

}  // namespace
}  // namespace rota::checkpoint

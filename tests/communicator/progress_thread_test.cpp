// Tests the thread that drives requests for which no caller waits: when this thread works, and that
// it ends.
#include "communicator/progress_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace rota {
namespace {

using Work = ProgressThread::Work;

// Method: many threads, one after the other. The time between waking a thread and asking it to end
// grows from thread to thread. So the request to end arrives at every point between waking up,
// working and sleeping again.
TEST(ProgressThread, EndsWheneverItIsToldTo) {
  for (int i = 0; i < 10000; ++i) {
    std::atomic<int> turns = 0;
    ProgressThread thread([&] {
      ++turns;
      return Work::kNone;
    });
    thread.start();
    while (turns.load() == 0) std::this_thread::yield();
    thread.wake();
    for (int looks = 0; looks < i % 500; ++looks) turns.load();
  }
}

TEST(ProgressThread, WorksUntilThereIsNothingLeft) {
  for (const bool polls : {false, true}) {
    std::atomic<int> left = 0;
    std::atomic<int> turns = 0;
    ProgressThread thread(
        [&] {
          if (left.load() == 0) return Work::kNone;
          ++turns;
          return --left > 0 ? Work::kMoves : Work::kStands;
        },
        polls);
    EXPECT_FALSE(thread.has_started());
    thread.start();
    for (int round = 1; round <= 3; ++round) {
      left = 5;
      thread.wake();
      while (left.load() > 0) std::this_thread::yield();
      EXPECT_EQ(turns.load(), 5 * round);
    }
    EXPECT_TRUE(thread.has_started());
  }
}

}  // namespace
}  // namespace rota

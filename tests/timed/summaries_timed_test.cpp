// Measures how long a training thread spends on a scalar, as promised in <rota/summaries.h>: while
// the other thread waits, and while it writes.
#include <gtest/gtest.h>
#include <rota/summaries.h>

#include "timed/promised.h"
#include "training/temporary_folder.h"

namespace rota::testing {
namespace {

constexpr std::chrono::microseconds kScalar{2};

void expect_quick_scalars(SummaryWriter& writer, int count) {
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i) writer.scalar("loss/of/the/training/set", i, i);
  expect_promise(begin, count * kScalar, std::to_string(count) + " scalars");
}

TEST(AScalarIsShort, WhileTheThreadWaits) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), {.flush_interval = seconds(100)});
  expect_quick_scalars(writer, 4'000);
}

TEST(AScalarIsShort, WhileTheThreadWrites) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), {.queue_summaries = 1'000'000});
  writer.histogram("many", std::vector<float>(4'000'000, 1), 0);
  expect_quick_scalars(writer, 400'000);
}

}  // namespace
}  // namespace rota::testing

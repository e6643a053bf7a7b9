// Tests the store of a PMIx server: a word passes from rank 0 to the others, answers that make no
// sense are refused, and every wait ends.
// Method: a fake libpmix in this process.
#include "stores/pmix_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <rota/error.h>

#include "testing/error_of.h"
#include "testing/fake_pmix.h"

namespace rota::stores {
namespace {

using testing::fake_pmix;
using ::testing::HasSubstr;

constexpr const char* kWord = "rota.rank0";  // The name of rank 0's word.

base::TimePoint within(base::Duration time) { return base::Clock::now() + time; }

// Returns what `use` throws when it gets a store of the server.
template <class Use>
std::optional<Error> error_with_store(Use use) {
  PmixStore store(within(std::chrono::seconds(20)));
  return testing::error_of([&] { use(store); });
}

TEST(PmixStore, KnowsTheJobAndGivesRankZerosWordToAll) {
  fake_pmix() = {
      .values = {{pmix::kJobSize, std::uint32_t{3}}, {pmix::kLocalSize, std::uint32_t{2}}}};
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    fake_pmix().rank = rank;
    PmixStore store(within(std::chrono::seconds(20)));
    EXPECT_EQ(store.rank(), rank);
    EXPECT_EQ(store.world_size(), 3U);
    EXPECT_EQ(store.local_world_size(), 2U);
    const std::string own = rank == 0 ? "rota1;m;k;p" : "not used";
    EXPECT_EQ(store.share(own, within(std::chrono::seconds(20))), "rota1;m;k;p");
  }
  EXPECT_EQ(fake_pmix().connections, 0) << "a store has not closed its connection";
}

TEST(PmixStore, RefusesASizeThatIsNoNumber) {
  fake_pmix() = {.values = {{pmix::kJobSize, "three"}}};
  const auto error = error_with_store([](PmixStore& store) { (void)store.world_size(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kBadData);
  EXPECT_STREQ(error->what(),
               "the launcher's PMIx server: pmix.job.size is not a number of 32 bits");
}

TEST(PmixStore, RefusesAWordThatIsNoText) {
  fake_pmix() = {.rank = 1, .values = {{kWord, std::uint32_t{7}}}};
  const auto error = error_with_store(
      [](PmixStore& store) { (void)store.share({}, within(std::chrono::seconds(20))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kBadData);
  EXPECT_STREQ(error->what(), "the launcher's PMIx server: rank 0's value is not a text");
}

TEST(PmixStore, SaysWhatTheServerDoesNotKnow) {
  fake_pmix() = {.rank = 1};
  const auto of_size = error_with_store([](PmixStore& store) { (void)store.world_size(); });
  ASSERT_TRUE(of_size);
  EXPECT_EQ(of_size->code(), ErrorCode::kSystem);
  EXPECT_THAT(of_size->what(), HasSubstr("reading pmix.job.size failed: NOT-FOUND (-46)"));
  const auto of_word = error_with_store(
      [](PmixStore& store) { (void)store.share({}, within(std::chrono::seconds(20))); });
  ASSERT_TRUE(of_word);
  EXPECT_EQ(of_word->code(), ErrorCode::kSystem);
  EXPECT_THAT(of_word->what(), HasSubstr("reading the value of rank 0 failed: NOT-FOUND (-46)"));
}

// Method: the answer comes after the store has gone. It must touch nothing of the store.
TEST(PmixStore, WaitsForOtherRanksNoLongerThanItMay) {
  fake_pmix() = {.rank = 1, .ends_fences = false};
  const auto error = error_with_store(
      [](PmixStore& store) { (void)store.share({}, within(std::chrono::milliseconds(50))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kTimeout);
  EXPECT_STREQ(error->what(), "the launcher's PMIx server: not all ranks have reached the fence");
  testing::end_late_fence();
}

}  // namespace
}  // namespace rota::stores

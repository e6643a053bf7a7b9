// Tests how ranks find rank 0 through a store, and what they learn if rank 0 cannot listen.
// Method: the store is a text.
#include "communicator/find_rank_zero.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rota/error.h>

#include "testing/error_of.h"
#include "testing/few_descriptors.h"

namespace rota {
namespace {

using ::testing::HasSubstr;

class TextStore : public stores::Store {
 public:
  std::string share(const std::string& word, base::TimePoint) override {
    if (!word.empty()) text_ = word;
    return text_;
  }

 private:
  std::string text_;
};

JobByHand job_of(std::size_t rank) {
  JobByHand job{.rank = rank, .meeting = "pmix"};
  job.table.rows.resize(2);
  return job;
}

TEST(FindRankZero, BringsTheKeyAndAPlace) {
  TextStore store;
  const FoundRankZero own = find_rank_zero(job_of(0), store, base::Clock::now());
  const FoundRankZero found = find_rank_zero(job_of(1), store, base::Clock::now());
  EXPECT_TRUE(own.listener);
  EXPECT_EQ(found.key, own.key);
  EXPECT_THAT(found.places, ::testing::ElementsAre(HasSubstr("127.0.0.1:")));
}

// Without this word, the other ranks would wait for rank 0 until their deadline.
TEST(FindRankZero, TellsTheOthersThatRankZeroCannotListen) {
  TextStore store;
  const auto own = testing::with_descriptor_limit(0, [&] {
    return testing::error_of([&] { (void)find_rank_zero(job_of(0), store, base::Clock::now()); });
  });
  ASSERT_TRUE(own);
  const auto error =
      testing::error_of([&] { (void)find_rank_zero(job_of(1), store, base::Clock::now()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kPeerLost);
  EXPECT_EQ(error->blamed_rank(), std::size_t{0});
  EXPECT_STREQ(error->what(),
               "rank 0 could not listen for the other ranks: its own error says why");
}

}  // namespace
}  // namespace rota

// The launcher's description of the job reaches a rank whole. Between hosts it is sent without the
// key.
#include "rendezvous/job.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::rendezvous {
namespace {

Job job_of_two() {
  Job job;
  job.rank = 1;
  job.key = auth::random_key();
  job.deadline = std::chrono::seconds(60);
  job.may_spin = true;
  job.encrypts = true;
  job.table.epoch = 3;
  job.table.source = "TF_CONFIG";
  job.table.transport = "tcp";
  job.table.tuned = "/world.tuned";
  job.table.rows = {{0, "a", "10.0.0.1:7701", "0-3"}, {0, "b", "10.0.0.2:7701", ""}};
  return job;
}

std::string_view text_of(const auth::Key& key) {
  return {reinterpret_cast<const char*>(key.bytes().data()), auth::kKeyBytes};
}

TableMark mark_of_table(const Job& job) { return mark_of(encode_table(job.table, job.domains)); }

std::string text_of(const Job& job) { return encode(job, mark_of_table(job)); }

TEST(Job, TravelsWithoutItsKey) {
  const Job job = job_of_two();
  const std::string text = without_key(text_of(job));
  EXPECT_EQ(text.find(text_of(job.key)), std::string::npos);
  const auto decoded = decode_job(text);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->job.key, auth::Key());
  EXPECT_EQ(decoded->job.rank, 1U);
  EXPECT_EQ(decoded->job.deadline, job.deadline);
  EXPECT_TRUE(decoded->job.encrypts);
  EXPECT_EQ(decoded->table, mark_of_table(job));
}

// The length of a description does not depend on the world's size, because the table is sent
// separately. No other part of a job grows with the world.
TEST(Job, IsAsLongInEveryWorld) {
  Job job = job_of_two();
  const std::size_t bytes = text_of(job).size();
  job.table.rows.resize(kMaxWorldSize);
  EXPECT_EQ(text_of(job).size(), bytes);
}

TEST(Job, IsTheSameOnceItHasItsKeyAgain) {
  const Job job = job_of_two();
  EXPECT_TRUE(with_key(without_key(text_of(job)), job.key) == text_of(job));
}

TEST(Job, TakesAnotherKeyInPlaceOfItsOwn) {
  const Job job = job_of_two();
  const auth::Key other = auth::random_key();
  const std::string text = with_key(text_of(job), other);
  EXPECT_EQ(text.find(text_of(job.key)), std::string::npos);
  const auto decoded = decode_job(text);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->job.key, other);
}

TEST(Job, IsGivenItsTable) {
  Job job;
  job.rank = 1;
  ASSERT_TRUE(add_table(encode_table(job_of_two().table, {}), job));
  EXPECT_EQ(job.table.tuned, "/world.tuned");
  ASSERT_EQ(job.table.rows.size(), 2U);
  EXPECT_EQ(job.table.rows[1].address, "10.0.0.2:7701");
}

TEST(Job, IsRefusedATableWithoutItsRank) {
  Job job;
  job.rank = 2;
  EXPECT_FALSE(add_table(encode_table(job_of_two().table, {}), job));
  EXPECT_FALSE(add_table("no table", job));
}

TEST(Job, SendsWhatItsTransportTakes) {
  Job job = job_of_two();
  job.table.rows.push_back({1, "b", "10.0.0.2:7702", ""});
  EXPECT_EQ(descriptor_count(job), 1U);
  job.table.transport = "shm+tcp";
  job.domains = {0, 1, 1};
  EXPECT_EQ(descriptor_count(job), 3U);  // A listening socket and two arenas.
  job.rank = 0;
  EXPECT_EQ(descriptor_count(job), 1U);
  job.hands_descriptors = false;
  EXPECT_EQ(descriptor_count(job), 0U);
}

TEST(Job, IsRefusedWhenCutShortAnywhereOrTooLong) {
  const std::string text = text_of(job_of_two());
  for (std::size_t count = 0; count < text.size(); ++count) {
    EXPECT_FALSE(decode_job(std::string_view(text).substr(0, count))) << count << " bytes";
  }
  EXPECT_FALSE(decode_job(text + "x"));
}

TEST(Job, IsRefusedWithATableThatNobodyCouldSend) {
  EXPECT_TRUE(decode_job(encode(job_of_two(), {.bytes = kMaxTableBytes})));
  EXPECT_FALSE(decode_job(encode(job_of_two(), {.bytes = kMaxTableBytes + 1})));
}

// A welcome message that only carries more descriptors has an empty text.
TEST(Job, IsLeftAloneWhereItIsTooShortToHaveAKey) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, auth::kKeyBytes - 1}) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(with_key(text, auth::random_key()), text);
    EXPECT_EQ(without_key(text), text);
  }
}

}  // namespace
}  // namespace rota::rendezvous

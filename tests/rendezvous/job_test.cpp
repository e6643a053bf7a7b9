// What the launcher tells a rank travels whole, and between hosts without the key.
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

TEST(Job, TravelsWithoutItsKey) {
  const Job job = job_of_two();
  const std::string text = without_key(encode(job));
  EXPECT_EQ(text.find(text_of(job.key)), std::string::npos);
  const auto decoded = decode_job(text);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->key, auth::Key());
  EXPECT_EQ(decoded->rank, 1U);
  EXPECT_EQ(decoded->deadline, job.deadline);
  EXPECT_TRUE(decoded->encrypts);
  EXPECT_EQ(decoded->table.tuned, "/world.tuned");
  ASSERT_EQ(decoded->table.rows.size(), 2U);
  EXPECT_EQ(decoded->table.rows[1].address, "10.0.0.2:7701");
}

TEST(Job, IsTheSameOnceItHasItsKeyAgain) {
  const Job job = job_of_two();
  EXPECT_TRUE(with_key(without_key(encode(job)), job.key) == encode(job));
}

TEST(Job, TakesAnotherKeyInPlaceOfItsOwn) {
  const Job job = job_of_two();
  const auth::Key other = auth::random_key();
  const std::string text = with_key(encode(job), other);
  EXPECT_EQ(text.find(text_of(job.key)), std::string::npos);
  const auto decoded = decode_job(text);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->key, other);
}

TEST(Job, SaysWhoSharesMemoryWhereSomeDo) {
  Job job = job_of_two();
  job.table.rows.push_back({1, "b", "10.0.0.2:7702", ""});
  job.table.transport = "shm+tcp";
  job.islands = {0, 1, 1};
  EXPECT_EQ(lent_count(job), 3U);  // A listening socket and two arenas.
  job.rank = 0;
  EXPECT_EQ(lent_count(job), 1U);
  const auto decoded = decode_job(encode(job));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->islands, job.islands);
  for (const base::Islands& wrong : {base::Islands{0, 1}, {0, 0, 0}, {0, 1, 2}}) {
    job.islands = wrong;
    EXPECT_FALSE(decode_job(encode(job)));
  }
}

// A welcome that only brings further descriptors has no text.
TEST(Job, IsLeftAloneWhereItIsTooShortToHaveAKey) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, auth::kKeyBytes - 1}) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(with_key(text, auth::random_key()), text);
    EXPECT_EQ(without_key(text), text);
  }
}

}  // namespace
}  // namespace rota::rendezvous

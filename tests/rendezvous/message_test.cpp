// Messages and jobs survive the wire, and nothing damaged passes for one.
#include <gtest/gtest.h>

#include "rendezvous/job.h"
#include "rendezvous/message.h"

namespace rota::rendezvous {
namespace {

Message full_message() {
  return {.type = MessageType::kReply,
          .id = 0xdeadbeef,
          .error = ErrorCode::kTimeout,
          .blamed = 3,
          .timeout = std::chrono::nanoseconds(123456789012345),
          .step = 0x123456789abcdef0,
          .key = std::string("k\0y", 3),
          .text = "why it failed"};
}

TEST(Message, SurvivesTheWire) {
  EXPECT_EQ(decode(encode(full_message())), full_message());
  EXPECT_EQ(decode(encode(Message{})), Message{});
}

TEST(Message, IsRefusedWhenCutShortAnywhereOrTooLong) {
  auto bytes = encode(full_message());
  for (std::size_t count = 0; count < bytes.size(); ++count) {
    EXPECT_FALSE(decode(std::span(bytes).first(count))) << count << " bytes";
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes));
}

TEST(Message, IsRefusedWithAVersionTypeOrErrorThatDoesNotExist) {
  for (const std::size_t position : {0U, 1U, 6U}) {
    auto bytes = encode(full_message());
    bytes[position] = std::byte{200};
    EXPECT_FALSE(decode(bytes)) << "byte " << position;
  }
  auto bytes = encode(full_message());
  bytes[1] = std::byte{0};
  EXPECT_FALSE(decode(bytes));
}

Job full_job() {
  Job job;
  job.rank = 1;
  job.key.bytes().front() = std::byte{1};
  job.key.bytes().back() = std::byte{255};
  job.deadline = std::chrono::seconds(60);
  job.may_spin = true;
  job.table.epoch = 4;
  job.table.source = "rotarun -np 2";
  job.table.transport = "tcp";
  job.table.rows = {{0, "a", "127.0.0.1:1", "0-3"}, {1, "a", "127.0.0.1:2", ""}};
  return job;
}

TEST(Job, SurvivesTheWire) {
  const auto job = decode_job(encode(full_job()));
  ASSERT_TRUE(job);
  EXPECT_EQ(encode(*job), encode(full_job()));
  EXPECT_EQ(job->table.rows[1].address, "127.0.0.1:2");
  EXPECT_EQ(job->key, full_job().key);
  EXPECT_TRUE(job->may_spin);
  EXPECT_FALSE(job->verbose);
  Job verbose_job = full_job();
  verbose_job.may_spin = false;
  verbose_job.verbose = true;
  const auto other = decode_job(encode(verbose_job));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->may_spin);
  EXPECT_TRUE(other->verbose);
}

TEST(Job, IsRefusedWhenCutShortAnywhereOrTooLong) {
  const std::string text = encode(full_job());
  for (std::size_t count = 0; count < text.size(); ++count) {
    EXPECT_FALSE(decode_job(std::string_view(text).substr(0, count))) << count << " bytes";
  }
  EXPECT_FALSE(decode_job(text + "x"));
}

TEST(Job, IsRefusedWithARankOutsideItsWorld) {
  Job job = full_job();
  job.rank = 2;
  EXPECT_FALSE(decode_job(encode(job)));
}

}  // namespace
}  // namespace rota::rendezvous

// rotarun and its PMIx server understand each other's messages, and refuse bytes that are none.
#include "launcher/pmix/wire/pmix_message.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

PmixJob job_of_five() {
  return {.name = "rota-1f",
          .nodes = {{.name = "alpha", .ranks = {0, 3}}, {.name = "beta", .ranks = {4, 1, 2}}},
          .own_node = 1,
          .programs = {0, 2, 2},
          .folder = "/tmp/folder",
          .memory_folder = "/dev/shm/folder",
          .user = 1000,
          .group = 100};
}

// Cuts off the end of `text` at each place, and adds to it: nothing of that decodes.
template <class Decode>
void expect_whole(const std::string& text, const Decode& decode) {
  ASSERT_TRUE(decode(text));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(decode(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(decode(text + "x"));
}

std::optional<PmixMessage> decode_bytes(const std::string& text) {
  return decode_pmix_message(std::as_bytes(std::span(text)));
}

TEST(PmixMessage, ArrivesAsItWasSent) {
  const PmixMessage message{
      .type = PmixMessageType::kAborted, .rank = 7, .value = -42, .text = std::string("a\0b", 3)};
  const auto bytes = encode(message);
  EXPECT_EQ(decode_pmix_message(bytes), message);
  expect_whole({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, decode_bytes);
}

TEST(PmixMessage, HasAKnownType) {
  auto bytes = encode(PmixMessage{});
  for (const int type : {0, 13, 255}) {
    bytes[0] = static_cast<std::byte>(type);
    EXPECT_FALSE(decode_pmix_message(bytes)) << type;
  }
}

TEST(PmixJobText, SaysWhereEachRankIs) {
  const std::string text = encode(job_of_five());
  EXPECT_EQ(decode_pmix_job(text), job_of_five());
  expect_whole(text, decode_pmix_job);
}

TEST(PmixJobText, HasEachRankOnceAndAHostForEach) {
  const auto refuses = [](auto change) {
    PmixJob job = job_of_five();
    change(job);
    return !decode_pmix_job(encode(job));
  };
  EXPECT_FALSE(refuses([](PmixJob& job) {
    job.own_node = 0;
    job.programs = {0, 1};
  }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.programs = {0, 2}; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.own_node = 2; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes[0].ranks = {0, 2}; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes[0].ranks = {0, 5}; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes[0].ranks.clear(); }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes[0].name = "beta"; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes[0].name = "al,pha"; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes[0].name = ""; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.nodes.clear(); }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.name = ""; }));
  EXPECT_TRUE(refuses([](PmixJob& job) { job.name = std::string(kMaxPmixNameLength + 1, 'n'); }));
}

TEST(PmixFenceText, NamesItsRanksInOrder) {
  const PmixFence fence{.ranks = {1, 4, 9}, .number = 2, .data = std::string(100'000, '\0')};
  EXPECT_EQ(decode_pmix_fence(encode(fence)), fence);
  expect_whole(encode(PmixFence{.ranks = {1, 4}, .number = 3, .data = "ab"}), decode_pmix_fence);
  EXPECT_FALSE(decode_pmix_fence(encode(PmixFence{.ranks = {4, 1}})));
  EXPECT_FALSE(decode_pmix_fence(encode(PmixFence{.ranks = {4, 4}})));
}

TEST(PmixVariables, EachHasANameAndAValue) {
  const std::vector<std::string> variables = {"A=1", "B=", "C=x=y"};
  EXPECT_EQ(decode_variables(encode_variables(variables)), variables);
  expect_whole(encode_variables(variables), decode_variables);
  EXPECT_FALSE(decode_variables(encode_variables({"A"})));
  EXPECT_FALSE(decode_variables(encode_variables({"=1"})));
}

}  // namespace
}  // namespace rota::launcher

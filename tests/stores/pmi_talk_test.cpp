// Tests a rank's lines to a server of PMI-1, and what the rank makes of the server's lines.
#include "stores/pmi_talk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rota/error.h>

#include "testing/error_of.h"

namespace rota::stores {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

const std::string kInit = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
const std::string kMaxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n";
const std::string kName = "cmd=my_kvsname kvsname=kvs_7_0\n";

TEST(PmiTalk, OfRankZeroPutsItsWord) {
  PmiTalk talk("word");
  EXPECT_EQ(talk.take_output(), "cmd=init pmi_version=1 pmi_subversion=1\n");
  EXPECT_EQ(talk.take_output(), "");
  talk.receive(kInit);
  EXPECT_EQ(talk.take_output(), "cmd=get_maxes\n");
  talk.receive(kMaxes);
  EXPECT_EQ(talk.take_output(), "cmd=get_my_kvsname\n");
  talk.receive(kName);
  EXPECT_EQ(talk.take_output(), "cmd=put kvsname=kvs_7_0 key=rota.rank0 value=word\n");
  talk.receive("cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(talk.take_output(), "cmd=barrier_in\n");
  EXPECT_THAT(talk.awaited(), HasSubstr("the other ranks"));
  talk.receive("cmd=barrier_out\n");
  EXPECT_EQ(talk.take_output(), "cmd=finalize\n");
  EXPECT_FALSE(talk.is_done());
  talk.receive("cmd=finalize_ack\n");
  EXPECT_TRUE(talk.is_done());
  EXPECT_EQ(talk.take_output(), "");
  EXPECT_EQ(talk.word(), "word");
}

// Method: the server's lines arrive byte by byte, or all at once.
TEST(PmiTalk, OfAnotherRankGetsTheWord) {
  const std::string all = kInit + kMaxes + kName +
                          "cmd=barrier_out\n"
                          "cmd=get_result rc=0 msg=success value=a;b=c,[::1]:7\n"
                          "cmd=finalize_ack\n";
  PmiTalk slow(std::nullopt);
  for (const char c : all) slow.receive({&c, 1});
  EXPECT_TRUE(slow.is_done());
  EXPECT_EQ(slow.word(), "a;b=c,[::1]:7");
  EXPECT_THAT(slow.take_output(), HasSubstr("cmd=get kvsname=kvs_7_0 key=rota.rank0\n"));
  PmiTalk fast(std::nullopt);
  fast.receive(all);
  EXPECT_TRUE(fast.is_done());
  EXPECT_EQ(fast.word(), slow.word());
}

struct Bad {
  std::string lines;
  ErrorCode code;
  std::string text;
};

TEST(PmiTalk, RefusesLinesThatMakeNoSense) {
  const std::vector<Bad> cases = {
      {"hello\n", ErrorCode::kBadData, "sends 'hello', where an answer to cmd=init is expected"},
      {"\n", ErrorCode::kBadData, "sends ''"},
      {kMaxes, ErrorCode::kBadData, "an answer to cmd=init is expected"},
      {std::string("\0\x01\xff\n", 4), ErrorCode::kBadData, "sends '\?\?\?'"},
      {"cmd=response_to_init rc=-1\n", ErrorCode::kSystem,
       "refuses cmd=init: 'cmd=response_to_init"},
      {kInit + kInit, ErrorCode::kBadData, "an answer to cmd=get_maxes is expected"},
      {kInit + "cmd=maxes vallen_max=4\n", ErrorCode::kSystem, "fewer than 4 bytes"},
      {kInit + "cmd=maxes vallen_max=\n", ErrorCode::kSystem, "fewer than 0 bytes"},
      {kInit + kMaxes + kName + "cmd=barrier_out\n", ErrorCode::kBadData, "answer to cmd=put"},
      {kInit + kMaxes + kName + "cmd=put_result rc=17 msg=full\n", ErrorCode::kSystem, "msg=full"},
      {std::string(5000, 'x'), ErrorCode::kBadData, "a line of more than 4096 bytes: 'xxx"},
      {std::string(9000, 'x') + "\n", ErrorCode::kBadData, "xxx…'"},
  };
  for (const Bad& bad : cases) {
    PmiTalk talk("word");
    const auto error = error_of([&] { talk.receive(bad.lines); });
    ASSERT_TRUE(error) << bad.lines;
    EXPECT_EQ(error->code(), bad.code) << error->what();
    EXPECT_THAT(error->what(), HasSubstr(bad.text));
  }
}

// Rank 0's word may have the job's key, and errors go to logs.
TEST(PmiTalk, TellsNobodyAValue) {
  const std::string answer = "cmd=get_result rc=0 value=c0ffee";
  const std::vector<std::string> cases = {answer + "\n", answer + std::string(9000, 'x')};
  for (const std::string& lines : cases) {
    PmiTalk talk(std::nullopt);
    const auto error = error_of([&] { talk.receive(lines); });
    ASSERT_TRUE(error);
    EXPECT_THAT(error->what(), AllOf(HasSubstr("'cmd=get_result rc=0' and a value"),
                                     ::testing::Not(HasSubstr("c0ffee"))));
  }
}

// Method: the line comes in pieces, and its end comes with the last one, or not at all.
TEST(PmiTalk, RefusesLinesThatAreTooLong) {
  const std::string longest = kMaxes.substr(0, kMaxes.size() - 1) + " x=";
  for (const std::size_t bytes :
       {PmiTalk::kMostLineBytes, PmiTalk::kMostLineBytes + 1, 2 * PmiTalk::kMostLineBytes}) {
    PmiTalk talk("word");
    talk.receive(kInit);
    const std::string line = longest + std::string(bytes - longest.size(), 'x') + "\n";
    talk.receive(line.substr(0, PmiTalk::kMostLineBytes));
    const auto error = error_of([&] { talk.receive(line.substr(PmiTalk::kMostLineBytes)); });
    EXPECT_EQ(error.has_value(), bytes > PmiTalk::kMostLineBytes) << bytes;
    if (error) {
      EXPECT_EQ(error->code(), ErrorCode::kBadData);
    }
  }
}

TEST(PmiTalk, RefusesLinesAfterItsEnd) {
  PmiTalk talk(std::nullopt);
  const auto error = error_of([&] {
    talk.receive(kInit + kMaxes + kName +
                 "cmd=barrier_out\ncmd=get_result rc=0 value=x\ncmd=finalize_ack\ncmd=more\n");
  });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), AllOf(HasSubstr("'cmd=more'"), HasSubstr("no line is expected")));
}

TEST(PmiTalk, SaysWhereRankZeroHasPutNothing) {
  PmiTalk talk(std::nullopt);
  talk.receive(kInit + kMaxes + kName + "cmd=barrier_out\n");
  const auto error = error_of([&] { talk.receive("cmd=get_result rc=-1 msg=key_not_found\n"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("key_not_found"));
}

}  // namespace
}  // namespace rota::stores

// Tests the conversation of MPICH with the PMI-1 engine, as MPICH 4.0.2 has it, and conversations
// that no MPI has.
#include "launcher/mpi/pmi/pmi_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using Kind = MpiEvent::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Ranks 0, 1 and 2 of a job are here. Rank 1 is not in the MPI world, and rank 3 is on another
// host.
class PmiEngineTest : public ::testing::Test {
 protected:
  static MpiPlan plan() {
    return {.kind = MpiKind::kPmi, .name = "rota-1", .world = {{0, 0}, {2, 0}, {3, 1}}};
  }
  static HostAssignment assignment() {
    return {.ranks = {0, 1, 2}, .groups = {0, 1, 2}, .world_size = 4, .host_count = 2};
  }

  // Returns the answers to `line`.
  std::string ask(std::size_t local_rank, const std::string& line) {
    engine_.on_bytes(local_rank, line + "\n");
    std::string answers;
    for (const auto& answer : engine_.take_answers()) {
      EXPECT_EQ(answer.local_rank, local_rank);
      answers += answer.bytes;
    }
    return answers;
  }
  void init(std::size_t local_rank) { ask(local_rank, kInit); }
  void init_both() {
    init(0);
    init(2);
    engine_.take_events();
  }

  // Expects that the rank has failed, and that nothing it says is answered any more.
  void expect_failure(std::size_t local_rank, const std::string& text) {
    const auto events = engine_.take_events();
    ASSERT_EQ(events.size(), 1U) << text;
    EXPECT_EQ(events[0].kind, Kind::kAborted);
    EXPECT_EQ(events[0].local_rank, local_rank);
    EXPECT_EQ(events[0].code, 1);
    EXPECT_THAT(events[0].text, HasSubstr(text));
    EXPECT_EQ(ask(local_rank, "cmd=get_maxes"), "");
    EXPECT_THAT(engine_.take_events(), IsEmpty()) << "it fails once";
  }

  const std::string kInit = "cmd=init pmi_version=1 pmi_subversion=1";
  PmiEngine engine_{plan(), assignment()};
};

TEST_F(PmiEngineTest, AnswersWhatMpiInitAsks) {
  EXPECT_EQ(ask(2, kInit), "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n");
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Kind::kConnected);
  EXPECT_EQ(events[0].local_rank, 2U);
  EXPECT_EQ(ask(2, "cmd=get_maxes"),
            "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(ask(2, "cmd=get_appnum"), "cmd=appnum rc=0 appnum=2\n");
  EXPECT_EQ(ask(2, "cmd=get_my_kvsname"), "cmd=my_kvsname rc=0 kvsname=rota-1\n");
  EXPECT_EQ(ask(2, "cmd=get_universe_size"), "cmd=universe_size rc=0 size=3\n");
  EXPECT_EQ(ask(2, "cmd=get kvsname=rota-1 key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,2),(1,1,1))\n");
}

// MPICH then compares the names of hosts.
TEST_F(PmiEngineTest, LeavesOutAMappingThatIsTooLong) {
  MpiPlan plan{.kind = MpiKind::kPmi};
  HostAssignment assignment{.ranks = {0}, .groups = {0}, .world_size = 1000};
  for (std::uint32_t rank = 0; rank < 1000; ++rank) plan.world.push_back({rank, rank * rank % 997});
  PmiEngine engine(plan, assignment);
  engine.on_bytes(0, kInit + "\ncmd=get kvsname=rota-1 key=PMI_process_mapping\n");
  EXPECT_THAT(engine.take_answers().at(1).bytes, HasSubstr("rc=-1"));
}

TEST_F(PmiEngineTest, KeepsValues) {
  init(0);
  EXPECT_EQ(ask(0, "cmd=get kvsname=rota-1 key=a"),
            "cmd=get_result rc=-1 msg=not_found value=unknown\n");
  EXPECT_EQ(ask(0, "cmd=put kvsname=rota-1 key=a value=x=$#y"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask(0, "cmd=get kvsname=rota-1 key=a"),
            "cmd=get_result rc=0 msg=success value=x=$#y\n");
  EXPECT_THAT(ask(0, "cmd=get kvsname=other key=a"), HasSubstr("rc=-1"));
  EXPECT_THAT(ask(0, "cmd=put kvsname=other key=a value=b"), HasSubstr("rc=-1"));
  EXPECT_THAT(ask(0, "cmd=put kvsname=rota-1 value=b"), HasSubstr("rc=-1"));
  const std::string longest = "cmd=put kvsname=rota-1 key=" + std::string(64, 'k') + " value=";
  EXPECT_THAT(ask(0, longest + std::string(1023, 'v')), HasSubstr("rc=0"));
  EXPECT_THAT(ask(0, longest + std::string(1024, 'v')), HasSubstr("rc=-1"));
}

// The ranks of this host give one share, and go on once all hosts have given theirs.
TEST_F(PmiEngineTest, EndsABarrierWithTheValuesOfAllHosts) {
  init_both();
  ask(0, "cmd=put kvsname=rota-1 key=a value=1");
  EXPECT_EQ(engine_.incomplete_fence(), std::nullopt);
  EXPECT_EQ(ask(0, "cmd=barrier_in"), "");
  EXPECT_THAT(engine_.take_events(), IsEmpty());
  EXPECT_EQ(engine_.incomplete_fence(),
            (FenceShare{.key = "0", .arrived = {0}, .is_whole = false}));
  ask(2, "cmd=put kvsname=rota-1 key=b value=2");
  EXPECT_EQ(ask(2, "cmd=barrier_in"), "");
  EXPECT_EQ(engine_.incomplete_fence(), std::nullopt);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1U);
  const FenceShare& share = events[0].share;
  EXPECT_EQ(events[0].kind, Kind::kFenced);
  EXPECT_EQ(share.key, "0");
  EXPECT_THAT(share.arrived, ElementsAre(0, 2));
  EXPECT_TRUE(share.is_whole);

  // The other host is an engine with rank 3.
  HostAssignment there{.ranks = {3}, .groups = {2}, .world_size = 4, .host_index = 1};
  PmiEngine other(plan(), there);
  other.on_bytes(0, kInit + "\ncmd=put kvsname=rota-1 key=c value=3\ncmd=barrier_in\n");
  other.take_answers();
  const FenceShare of_other = other.take_events().at(1).share;
  EXPECT_THAT(of_other.arrived, ElementsAre(3));

  engine_.end_fence({.key = "7", .data = ""});
  EXPECT_THAT(engine_.take_answers(), IsEmpty()) << "another fence";
  for (PmiEngine* engine : {&engine_, &other}) {
    engine->end_fence({.key = "0", .data = share.data + of_other.data});
    for (const auto& answer : engine->take_answers())
      EXPECT_EQ(answer.bytes, "cmd=barrier_out rc=0\n");
  }
  EXPECT_THAT(ask(0, "cmd=get kvsname=rota-1 key=c"), HasSubstr("value=3"));
  other.on_bytes(0, "cmd=get kvsname=rota-1 key=b\n");
  EXPECT_THAT(other.take_answers().at(0).bytes, HasSubstr("value=2"));
  ask(0, "cmd=barrier_in");
  ask(2, "cmd=barrier_in");
  EXPECT_EQ(engine_.take_events().at(0).share,
            (FenceShare{.key = "1", .arrived = {0, 2}, .data = ""}))
      << "values travel once";
}

TEST_F(PmiEngineTest, EndsAConversation) {
  init(0);
  engine_.take_events();
  EXPECT_EQ(ask(0, "cmd=finalize"), "cmd=finalize_ack rc=0\n");
  EXPECT_EQ(engine_.take_events().at(0).kind, Kind::kFinalized);
  EXPECT_EQ(ask(0, "cmd=finalize"), "");
  expect_failure(0, "\"cmd=finalize\" out of turn");
}

TEST_F(PmiEngineTest, HearsAnAbort) {
  for (const auto& [line, code] : std::initializer_list<std::pair<std::string, int>>{
           {"cmd=abort exitcode=42", 42},
           {"cmd=abort exitcode=806968335", 806968335 % 256},
           {"cmd=abort exitcode=-1", 255},
           {"cmd=abort", 1}}) {
    PmiEngine engine(plan(), assignment());
    engine.on_bytes(2, kInit + "\n" + line + "\n");
    const MpiEvent event = engine.take_events().at(1);
    EXPECT_EQ(event.kind, Kind::kAborted);
    EXPECT_EQ(event.local_rank, 2U);
    EXPECT_EQ(event.code, code) << line;
  }
}

TEST_F(PmiEngineTest, HearsAnAbortInABarrier) {
  init(0);
  ask(0, "cmd=barrier_in");
  engine_.take_events();
  ask(0, "cmd=abort exitcode=3");
  EXPECT_EQ(engine_.take_events().at(0).code, 3);
}

TEST_F(PmiEngineTest, RefusesWhatItDoesNotServe) {
  init(0);
  engine_.take_events();
  EXPECT_THAT(ask(0, "cmd=publish_name service=a port=b"), HasSubstr("cmd=publish_result rc=-1"));
  EXPECT_THAT(ask(0, "cmd=lookup_name service=a"), HasSubstr("cmd=lookup_result rc=-1"));
  EXPECT_EQ(ask(0, "mcmd=spawn"), "");
  EXPECT_EQ(ask(0, "nprocs=1"), "");
  EXPECT_EQ(ask(0, "arg1=any text at all"), "");
  EXPECT_THAT(ask(0, "endcmd"), HasSubstr("cmd=spawn_result rc=-1"));
  EXPECT_THAT(engine_.take_events(), IsEmpty()) << "the program hears of it, and goes on";
  EXPECT_THAT(ask(0, "cmd=get_maxes"), HasSubstr("cmd=maxes"));
}

TEST_F(PmiEngineTest, FailsARankThatSendsNonsense) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hello", "\"hello\" to PMI_FD"},
      {"", "\"\" to PMI_FD"},
      {"cmd=get\tkey=a", "\"cmd=get?key=a\""},
      {"key=a value=b", "\"key=a value=b\""},
      {"cmd=dance", "cmd=\"dance\""},
      {"mcmd=dance\nstep=1\nendcmd", "mcmd=\"dance\""},
      {"cmd=init pmi_version=1", "cmd=init twice"},
      {std::string(kMostPmiLineBytes + 1, 'a'), "a line of more than 4096 bytes, \"aaaa"}};
  for (const auto& [line, text] : cases) {
    engine_ = PmiEngine(plan(), assignment());
    init(0);
    engine_.take_events();
    EXPECT_EQ(ask(0, line), "");
    expect_failure(0, text);
  }
}

TEST_F(PmiEngineTest, FailsARankThatSpeaksOutOfTurn) {
  ask(0, "cmd=get_maxes");
  expect_failure(0, "\"cmd=get_maxes\" out of turn");
  init(2);
  engine_.take_events();
  ask(2, "cmd=barrier_in");
  ask(2, "cmd=get_maxes");
  expect_failure(2, "\"cmd=get_maxes\" out of turn");
}

TEST_F(PmiEngineTest, FailsARankOfAnotherPmi) {
  ask(0, "cmd=init pmi_version=2 pmi_subversion=0");
  expect_failure(0, "PMI version \"2\"");
}

TEST_F(PmiEngineTest, BoundsItsStore) {
  init(0);
  engine_.take_events();
  const std::string value(1000, 'v');
  std::size_t count = 0;
  while (ask(0, "cmd=put kvsname=rota-1 key=" + std::to_string(count) + " value=" + value) != "")
    ASSERT_LT(++count, kMostFenceBytes / value.size() + 1);
  EXPECT_GE(count, kMostFenceBytes / (value.size() + 8));
  expect_failure(0, "more than the 4194304 bytes");
}

}  // namespace
}  // namespace rota::launcher

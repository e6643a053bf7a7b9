// The messages between launchers have the same bytes on every machine: a job may have hosts of
// different processors.
#include <gtest/gtest.h>

#include <string>

#include "auth/bytes.h"
#include "launcher/hosts/agents/start_request.h"
#include "launcher/hosts/wire/control_message.h"
#include "launcher/mpi/fence.h"
#include "launcher/mpi/mpi_letter.h"
#include "launcher/mpi/mpi_plan.h"
#include "launcher/pmix/wire/pmix_message.h"
#include "launcher/ranks/job_event.h"
#include "wire/digits.h"

namespace rota::launcher {
namespace {

using testing::digits_of;
using testing::joined;
using testing::text;

TEST(LauncherMessages, AControlMessageHasATypeARankAValueAndAText) {
  EXPECT_EQ(
      digits_of(encode(ControlMessage{
          .type = ControlMessageType::kToRank, .rank = 0x01020304, .value = -2, .text = "x"})),
      joined({"09", "04030201", "feffffff", text("x")}));
}

TEST(LauncherMessages, ASignalForTheRanksIsAValue) {
  EXPECT_EQ(digits_of(encode(ControlMessage{.type = ControlMessageType::kSignal, .value = 10})),
            joined({"10", "00000000", "0a000000", text("")}));
}

TEST(LauncherMessages, TextsOfHostsAreCounted) {
  EXPECT_EQ(digits_of(encode(std::vector<HostText>{{.host = 1, .text = "a"}, {.host = 258}})),
            joined({"02000000", "01000000", text("a"), "02010000", text("")}));
}

TEST(LauncherMessages, AHelloSaysWhatIsUnknown) {
  EXPECT_EQ(digits_of(encode(Hello{.version = "1.2",
                                   .host = "a",
                                   .cluster = "b",
                                   .slot_count = 4,
                                   .local_rank = 2,
                                   .program = "p",
                                   .obstacle_code = 127,
                                   .obstacle = "no"})),
            joined({text("1.2"), text("a"), text("b"), "04000000", "02000000", "ffffffff",
                    text("p"), "7f000000", text("no")}));
}

TEST(LauncherMessages, AnAssignmentHasItsRanksAndArenas) {
  EXPECT_EQ(digits_of(encode(HostAssignment{.world = 7,
                                            .ranks = {1, 3},
                                            .groups = {0, 1},
                                            .world_size = 4,
                                            .transport = "tcp",
                                            .host_index = 1,
                                            .host_count = 2,
                                            .earlier_count = 5,
                                            .other_count = 6,
                                            .arenas = {"/a"},
                                            .evaluators = {8},
                                            .sends_output = true})),
            joined({"07000000", "04000000", "01000000", "02000000", "05000000", "06000000",
                    "02000000", text("tcp"), "01000000", "00000000", "03000000", "01000000",
                    "01000000", text("/a"), "01000000", "08000000", "01"}));
}

TEST(LauncherMessages, EndpointsHaveThreeTextsForEachRank) {
  EXPECT_EQ(digits_of(encode(HostEndpoints{.addresses = {"10.0.0.1:1"},
                                           .cores = {"0-1"},
                                           .devices = {"0"},
                                           .may_spin = true,
                                           .free = {.address = "10.0.0.1", .ports = {0x0102}}})),
            joined({"01", "01000000", text("10.0.0.1:1"), text("0-1"), text("0"), text("10.0.0.1"),
                    "01000000", "0201"}));
}

TEST(LauncherMessages, StartInformationEndsWithThePlanForMpi) {
  StartInfo start{.salt = "s", .table = "t"};
  start.peers.first = Endpoint{.host = "a", .port = 0x0102};
  start.peers.list = "l";
  start.mpi = {
      .kind = MpiKind::kPmix, .name = "n", .world = {{.rank = 1, .node = 0}}, .node_names = {"a"}};
  const std::string plan =
      joined({"02", text("n"), "01000000", "01000000", "00000000", "01000000", text("a")});
  EXPECT_EQ(digits_of(encode(start.mpi)), plan);
  EXPECT_EQ(digits_of(encode(start)), joined({text("s"), text("t"), "01", text("a"), "0201",
                                              text("l"), text(encode(start.mpi))}));
}

TEST(LauncherMessages, AnEventHasTheLastWordsOfItsRank) {
  EXPECT_EQ(digits_of(encode(JobEvent{.kind = JobEvent::Kind::kRankKilled,
                                      .world = 1,
                                      .rank = 2,
                                      .value = 9,
                                      .text = "why",
                                      .last_words = {"a", "b"}})),
            joined({"04", "01000000", "02000000", "09000000", text("why"), "02000000", text("a"),
                    text("b")}));
}

TEST(LauncherMessages, AStartRequestEndsWithTheKey) {
  StartRequest request{.arguments = {"-np", "2"},
                       .variables = {{"A=1"}},
                       .working_directories = {"/w"},
                       .output_directory = "/o",
                       .hosts = "a,b",
                       .most_slots = {0, 3},
                       .version = "1.2",
                       .leader = "10.0.0.1:7700",
                       .job_id = "j",
                       .own_host = 1,
                       .leader_host = std::nullopt,
                       .key = auth::some_key(0x40)};
  EXPECT_EQ(digits_of(encode_own(request, 256)),
            joined({"1c010000", text("1.2"), "01000000", text("10.0.0.1:7700")}));
  EXPECT_EQ(digits_of(encode_common(request)),
            joined({"02000000", text("-np"), text("2"), "01000000", text("/w"), "01000000",
                    text("A=1"), text("/o"), text("a,b"), "02000000", "00000000", "03000000",
                    text("j"), "ffffffff", digits_of(auth::counting(auth::kKeyBytes, 0x40))}));
}

TEST(LauncherMessages, OfMpiHaveNumbersOfFourBytes) {
  EXPECT_EQ(digits_of(encode(MpiLetter{.from = 1, .to = 258, .text = "x"})),
            joined({"01000000", "02010000", text("x")}));
  EXPECT_EQ(digits_of(encode(FenceShare{.key = "k",
                                        .members = {1, 2},
                                        .arrived = {2},
                                        .is_whole = false,
                                        .data = "d",
                                        .excess = 3})),
            joined({text("k"), "02000000", "01000000", "02000000", "01000000", "02000000", "00",
                    text("d"), "03000000"}));
  EXPECT_EQ(digits_of(encode(FenceResult{.key = "k", .data = "d"})),
            joined({text("k"), text("d")}));
}

TEST(LauncherMessages, OfThePmixServerHaveNumbersOfFourBytes) {
  EXPECT_EQ(digits_of(encode(
                PmixMessage{.type = PmixMessageType::kFence, .rank = 2, .value = -1, .text = "x"})),
            joined({"06", "02000000", "ffffffff", text("x")}));
  EXPECT_EQ(
      digits_of(encode(PmixJob{.name = "n",
                               .nodes = {{.name = "a", .ranks = {0, 1}}},
                               .own_node = 0,
                               .programs = {5, 6},
                               .folder = "/f",
                               .memory_folder = "/m",
                               .user = 1000,
                               .group = 100})),
      joined({text("n"), "01000000", text("a"), "02000000", "00000000", "01000000", "00000000",
              "02000000", "05000000", "06000000", text("/f"), text("/m"), "e8030000", "64000000"}));
  EXPECT_EQ(digits_of(encode(PmixFence{.ranks = {1}, .number = 2, .data = "d"})),
            joined({"01000000", "01000000", "02000000", text("d")}));
  EXPECT_EQ(digits_of(encode_variables({"A=1"})), joined({"01000000", text("A=1")}));
}

}  // namespace
}  // namespace rota::launcher

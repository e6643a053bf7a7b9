// Control messages between launchers decode to what was encoded, and all other bytes are rejected.
#include "launcher/hosts/wire/control_message.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "launcher/ranks/job_event.h"
#include "rendezvous/job.h"
#include "rendezvous/remote_connection.h"

namespace rota::launcher {
namespace {

using rendezvous::kMaxWorldSize;

TEST(ControlMessage, ComesOutAsItWentIn) {
  const std::string any_bytes("\0\xff\n", 3);
  for (unsigned type = 1; type <= static_cast<unsigned>(ControlMessageType::kBeat); ++type) {
    for (const int value : {0, 1, -1, 143, std::numeric_limits<int>::min()}) {
      const ControlMessage message{.type = static_cast<ControlMessageType>(type),
                                   .rank = 0xfffffffe,
                                   .value = value,
                                   .text = any_bytes};
      EXPECT_EQ(decode_control_message(encode(message)), message) << type << ", " << value;
    }
  }
}

TEST(ControlMessage, IsOfAKnownType) {
  std::vector<std::byte> bytes = encode(ControlMessage{});
  for (unsigned type = 0; type <= 255; ++type) {
    bytes[0] = static_cast<std::byte>(type);
    const bool is_known = type >= 1 && type <= static_cast<unsigned>(ControlMessageType::kBeat);
    EXPECT_EQ(decode_control_message(bytes).has_value(), is_known) << type;
  }
}

TEST(ControlMessage, HoldsTheLongestMessageOfARankInAFrame) {
  const ControlMessage message{.type = ControlMessageType::kSaid,
                               .text = std::string(os::kMaxMessageBytes, 'x')};
  EXPECT_LT(encode(message).size(), rendezvous::kMaxFrameBytes);
}

TEST(Hello, ComesOutAsItWentIn) {
  const Hello hello{.version = "1.2.3",
                    .host = "b",
                    .cluster = "2 hosts that meet at a:7700",
                    .slot_count = 64,
                    .local_rank = 3,
                    .local_count = 4,
                    .program = "4711 bytes, 0123456789ab",
                    .obstacle_code = 127,
                    .obstacle = "there is no train"};
  EXPECT_EQ(decode_hello(encode(hello)), hello);
  EXPECT_EQ(decode_hello(encode(Hello{})), Hello{});
}

TEST(HostTexts, ComeOutAsTheyWentIn) {
  const std::vector<HostText> by_host{{3, "three"}, {0, ""}, {70000, std::string("\0\xff", 2)}};
  EXPECT_EQ(decode_host_texts(encode(by_host)), by_host);
  EXPECT_EQ(decode_host_texts(encode(std::vector<HostText>())), std::vector<HostText>());
}

TEST(Hello, HasNoMoreSlotsThanAJobHasRanks) {
  EXPECT_TRUE(decode_hello(encode(Hello{.slot_count = kMaxWorldSize})));
  EXPECT_FALSE(decode_hello(encode(Hello{.slot_count = kMaxWorldSize + 1})));
  EXPECT_FALSE(decode_hello(encode(Hello{.local_rank = kMaxWorldSize + 1})));
  EXPECT_FALSE(decode_hello(encode(Hello{.local_count = kMaxWorldSize + 1})));
}

// HostAssignment::places has the CPUs of each rank. Each host chooses these CPUs itself, so the
// encoding leaves them out.
TEST(EncodedShare, ComesOutWithoutPlaces) {
  const HostAssignment assignment{.world = 3,
                                  .ranks = {1, 4, 7},
                                  .groups = {0, 0, 2},
                                  .places = {{0}, {1}, {2, 3}},
                                  .world_size = 8,
                                  .transport = "shm+tcp",
                                  .host_index = 1,
                                  .host_count = 3,
                                  .earlier_count = 2,
                                  .other_count = 5,
                                  .evaluators = {1, 1, 3}};
  const auto decoded = decode_assignment(encode(assignment));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->world, 3U);
  EXPECT_EQ(decoded->ranks, assignment.ranks);
  EXPECT_EQ(decoded->groups, assignment.groups);
  EXPECT_EQ(decoded->evaluators, assignment.evaluators);
  EXPECT_TRUE(decoded->places.empty());
  EXPECT_EQ(decoded->world_size, 8U);
  EXPECT_EQ(decoded->transport, "shm+tcp");
  EXPECT_EQ(decoded->host_index, 1U);
  EXPECT_EQ(decoded->host_count, 3U);
  EXPECT_EQ(decoded->earlier_count, 2U);
  EXPECT_EQ(decoded->other_count, 5U);
  EXPECT_FALSE(decode_assignment(encode(HostAssignment{.earlier_count = 2, .other_count = 1})));
  EXPECT_FALSE(decode_assignment(encode(HostAssignment{.world = 0})));
  EXPECT_FALSE(decode_assignment(encode(HostAssignment{.other_count = kMaxWorldSize + 1})));
}

TEST(EncodedShare, HasTheArenasOfAllRanksOrNone) {
  const HostAssignment assignment{
      .ranks = {1}, .groups = {0}, .world_size = 3, .arenas = {"a", "b", "c"}};
  const auto decoded = decode_assignment(encode(assignment));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->arenas, assignment.arenas);
  EXPECT_FALSE(decode_assignment(encode(HostAssignment{.world_size = 3, .arenas = {"a", "b"}})));
}

TEST(EncodedShare, MayHaveNoRanks) {
  const auto decoded = decode_assignment(encode(HostAssignment{.ranks = {}, .world_size = 8}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->ranks.empty());
  EXPECT_EQ(decoded->world_size, 8U);
}

TEST(EncodedShare, HasRanksOfItsWorldOnly) {
  struct Case {
    std::vector<std::size_t> ranks;
    std::size_t world_size;
    bool is_good;
  };
  const std::vector<Case> cases = {
      {{0}, 1, true},
      {{7}, 8, true},
      {{8}, 8, false},
      {{0, 8}, 8, false},
      {{0}, 0, false},
      {{kMaxWorldSize - 1}, kMaxWorldSize, true},
      {{0}, kMaxWorldSize + 1, false},
      {{}, kMaxWorldSize + 1, false},
  };
  for (const Case& example : cases) {
    const HostAssignment assignment{.ranks = example.ranks,
                                    .groups = std::vector<std::size_t>(example.ranks.size()),
                                    .world_size = example.world_size};
    EXPECT_EQ(decode_assignment(encode(assignment)).has_value(), example.is_good)
        << example.ranks.size() << " ranks of " << example.world_size;
  }
}

TEST(EncodedShare, HoldsAWholeWorld) {
  HostAssignment assignment{.ranks = {}, .world_size = kMaxWorldSize};
  for (std::size_t rank = 0; rank < kMaxWorldSize; ++rank) assignment.ranks.push_back(rank);
  assignment.groups.resize(kMaxWorldSize);
  const auto decoded = decode_assignment(encode(assignment));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->ranks, assignment.ranks);
}

TEST(HostEndpoints, ComeOutAsTheyWentIn) {
  const HostEndpoints endpoints{.addresses = {"10.0.0.1:7701", "[fd00::1]:7702"},
                                .cores = {"0-3", ""},
                                .devices = {"0", "3,GPU-5"},
                                .may_spin = true,
                                .free = {.address = "fd00::1", .ports = {7703, 65535, 0}}};
  const auto decoded = decode_endpoints(encode(endpoints));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->addresses, endpoints.addresses);
  EXPECT_EQ(decoded->cores, endpoints.cores);
  EXPECT_EQ(decoded->devices, endpoints.devices);
  EXPECT_TRUE(decoded->may_spin);
  EXPECT_EQ(decoded->free.address, "fd00::1");
  EXPECT_EQ(decoded->free.ports, endpoints.free.ports);
}

TEST(HostEndpoints, MayBeNone) {
  const auto decoded = decode_endpoints(encode(HostEndpoints{}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->addresses.empty());
  EXPECT_TRUE(decoded->cores.empty());
  EXPECT_FALSE(decoded->may_spin);
  EXPECT_TRUE(decoded->free.ports.empty());
}

TEST(StartInfo, ComesOutAsItWentIn) {
  const StartInfo start_info{
      .salt = std::string(32, '\0'),
      .table = "a table",
      .peers = {.first = Endpoint{"10.0.0.1", 7703}, .list = R"(["10.0.0.1:7703"])"}};
  const auto decoded = decode_start_info(encode(start_info));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->salt, start_info.salt);
  EXPECT_EQ(decoded->table, "a table");
  ASSERT_TRUE(decoded->peers.first);
  EXPECT_EQ(decoded->peers.first->host, "10.0.0.1");
  EXPECT_EQ(decoded->peers.first->port, 7703);
  EXPECT_EQ(decoded->peers.list, start_info.peers.list);
}

TEST(StartInfo, MayKnowNoPorts) {
  const auto decoded = decode_start_info(encode(StartInfo{.salt = "s"}));
  ASSERT_TRUE(decoded);
  EXPECT_FALSE(decoded->peers.first);
  EXPECT_TRUE(decoded->peers.list.empty());
}

TEST(EncodedJobEvent, ComesOutAsItWentIn) {
  for (const JobEvent::Kind kind :
       {JobEvent::Kind::kRankStarted, JobEvent::Kind::kRankStopped, JobEvent::Kind::kRankContinued,
        JobEvent::Kind::kRankExited, JobEvent::Kind::kRankKilled, JobEvent::Kind::kNotStarted,
        JobEvent::Kind::kSignal, JobEvent::Kind::kHostEnded}) {
    const JobEvent event{.kind = kind,
                         .world = is_of_job(kind) ? 0U : 3U,
                         .rank = 7,
                         .value = -9,
                         .text = "why",
                         .last_words = {"Traceback:", "", std::string("\0\xff", 2)}};
    EXPECT_EQ(decode_job_event(encode(event), 8), event) << static_cast<int>(kind);
  }
}

TEST(EncodedJobEvent, IsOfAKindThatTravels) {
  EXPECT_FALSE(
      decode_job_event(encode(JobEvent{.kind = JobEvent::Kind::kRankSpoke, .world = 1}), 1));
  std::string bytes = encode(JobEvent{.world = 1});
  for (int kind = static_cast<int>(JobEvent::Kind::kHostLost) + 1; kind <= 255; ++kind) {
    bytes[0] = static_cast<char>(kind);
    EXPECT_FALSE(decode_job_event(bytes, 1)) << kind;
  }
}

TEST(EncodedJobEvent, IsOfARankOfTheWorld) {
  const std::string bytes = encode(JobEvent{.world = 1, .rank = 3});
  EXPECT_TRUE(decode_job_event(bytes, 4));
  EXPECT_FALSE(decode_job_event(bytes, 3));
  EXPECT_FALSE(decode_job_event(bytes, 0));
}

// Events of the job itself carry no world number; all other events do.
TEST(EncodedJobEvent, IsOfOneWorldOrOfTheJob) {
  for (const JobEvent::Kind kind : {JobEvent::Kind::kRankExited, JobEvent::Kind::kNotStarted,
                                    JobEvent::Kind::kEvaluatorStarted}) {
    EXPECT_TRUE(decode_job_event(encode(JobEvent{.kind = kind, .world = 1}), 1));
    EXPECT_FALSE(decode_job_event(encode(JobEvent{.kind = kind}), 1));
  }
  for (const JobEvent::Kind kind :
       {JobEvent::Kind::kSignal, JobEvent::Kind::kHostEnded, JobEvent::Kind::kHostLost}) {
    EXPECT_TRUE(decode_job_event(encode(JobEvent{.kind = kind}), 1));
    EXPECT_FALSE(decode_job_event(encode(JobEvent{.kind = kind, .world = 1}), 1));
  }
}

}  // namespace
}  // namespace rota::launcher

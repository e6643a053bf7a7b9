// Ranks without a launcher meet at rank 0, and share memory where they can.
// Method: each rank is a thread with a communicator of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>

#include "base/time.h"
#include "communicator/by_hand.h"
#include "communicator/by_hand_world.h"
#include "os/listener.h"
#include "rendezvous/table_text.h"
#include "testing/own_ports.h"

namespace rota {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Meeting, RanksUseTcpWhereTheyAreToldTo) {
  const auto addresses = testing::free_addresses(3);
  std::vector<CommunicatorOptions> ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(options_for(rank, addresses, kKey));
    ranks.back().by_hand->table.transport = "tcp";
  }
  expect_no_errors(run_ranks(ranks, [](Communicator& comm) {
    EXPECT_EQ(comm.rank_table().transport, "tcp");
    sum_of_ranks(comm);
    Communicator all = comm.split(0);
    sum_of_ranks(all);
  }));
}

// Returns the options of a rank that knows only where rank 0 listens.
CommunicatorOptions options_to_meet(std::size_t rank, std::size_t world_size,
                                    const std::string& meeting, const std::string& key = {}) {
  CommunicatorOptions options;
  options.by_hand = {.table = {}, .rank = rank, .meeting = meeting, .key = key};
  options.by_hand->table.rows.resize(world_size);
  options.join_timeout = seconds(20);
  options.deadline = seconds(20);
  return options;
}

TEST(Meeting, RanksMeetAtRankZero) {
  const std::string local = "@rota-test-" + std::to_string(::getpid()) + ":0";
  for (const std::string& meeting : {local, testing::free_addresses(1).front()}) {
    for (const std::string transport : {"", "tcp"}) {
      std::vector<CommunicatorOptions> ranks;
      for (std::size_t rank = 0; rank < 4; ++rank) {
        ranks.push_back(options_to_meet(rank, 4, meeting));
        ranks.back().by_hand->table.transport = transport;
      }
      expect_no_errors(run_ranks(ranks, [&](Communicator& comm) {
        const RankTable& table = comm.rank_table();
        EXPECT_EQ(table.transport, transport.empty() ? "shm" : "tcp");
        EXPECT_EQ(table.rows[3].local_rank, 3U);
        EXPECT_EQ(table.rows[3].host, table.rows[0].host);
        EXPECT_EQ(table.rows[3].address.starts_with("127.0.0.1:"), transport == "tcp");
        sum_of_ranks(comm);
        Communicator half = comm.split(comm.rank() % 2);
        sum_of_ranks(half);
      }));
    }
  }
}

// Method: a process of another user listens at the name where the ranks meet.
TEST(Meeting, RanksTakeNoOtherUserForRankZero) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const std::string meeting = "@rota-taken-" + std::to_string(::getpid()) + ":0";
  ASSERT_EQ(::seteuid(12345), 0);
  const os::Listener foreign = os::listen_at(meeting);
  ASSERT_EQ(::seteuid(0), 0);
  CommunicatorOptions second = options_to_meet(1, 2, meeting);
  second.join_timeout = std::chrono::milliseconds(200);
  expect_error(run_rank(second, sum_of_ranks), ErrorCode::kTimeout,
               AllOf(HasSubstr("rank 1 did not reach rank 0"),
                     HasSubstr("a process of another user listens there")));
  CommunicatorOptions first = options_to_meet(0, 2, meeting);
  first.join_timeout = std::chrono::milliseconds(200);
  expect_error(run_rank(first, sum_of_ranks), ErrorCode::kSystem,
               AllOf(HasSubstr("Address already in use (tried for "),
                     HasSubstr("; end the process that has this name")));
}

// The first port of the range is where the rank 0 of a job waits. No rank takes it for other
// connections, although it is free here.
TEST(Meeting, RanksListenAtThePortsThatAreGiven) {
  const testing::OwnPorts own;
  const std::string meeting = testing::free_addresses(1).front();
  std::vector<CommunicatorOptions> ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(options_to_meet(rank, 3, meeting));
    ranks.back().by_hand->table.transport = "tcp";
    ranks.back().ports = own.port(1) + "-" + own.port(4);
  }
  expect_no_errors(run_ranks(ranks, [&](Communicator& comm) {
    std::vector<std::string> addresses;
    for (const RankRow& row : comm.rank_table().rows) addresses.push_back(row.address);
    EXPECT_THAT(addresses, ::testing::UnorderedElementsAre("127.0.0.1:" + own.port(2),
                                                           "127.0.0.1:" + own.port(3),
                                                           "127.0.0.1:" + own.port(4)));
    sum_of_ranks(comm);
  }));
}

// Method: rank 1 joins, and then does nothing more.
TEST(Meeting, RanksGetNoHintAboutContainersOnceAllHaveJoined) {
  const std::string meeting = "@rota-joined-" + std::to_string(::getpid()) + ":0";
  const auto deadline = base::Clock::now() + seconds(20);
  std::optional<Error> error;
  std::jthread first([&] {
    CommunicatorOptions options = options_to_meet(0, 2, meeting);
    options.join_timeout = seconds(3);
    error = run_rank(options, sum_of_ranks);
  });
  const CommunicatorOptions options = options_to_meet(1, 2, meeting);
  const RankTable table = complete_table(*options.by_hand);
  Arrival second = arrive_by_hand(options, table, deadline);
  (void)second.client.join(deadline, rendezvous::encode_table(table, {}));
  second.client.barrier("arrived", seconds(20));
  first.join();
  expect_error(error, ErrorCode::kTimeout,
               AllOf(HasSubstr("1 of 2 ranks is absent: rank 1"), Not(HasSubstr("local name"))));
}

TEST(Meeting, RanksThatMeetNeedAKeyBetweenHosts) {
  expect_error(run_rank(options_to_meet(0, 2, "10.0.0.1:7700"), sum_of_ranks),
               ErrorCode::kInvalidArgument,
               AllOf(HasSubstr("its ranks meet at 10.0.0.1:7700"), HasSubstr("they need a key")));
  expect_error(run_rank(options_to_meet(0, 2, "pmi:x"), sum_of_ranks), ErrorCode::kInvalidArgument,
               HasSubstr("PMI_FD is 'x'"));
}

}  // namespace
}  // namespace rota

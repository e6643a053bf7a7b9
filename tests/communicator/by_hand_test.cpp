// Jobs without a launcher: each rank joins by a table of addresses.
// Method: each rank is a thread with a communicator of its own, over real sockets on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "communicator/by_hand_world.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "testing/error_of.h"
#include "testing/own_ports.h"
#include "testing/said_by_child.h"

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ByHand, RanksFindEachOtherByTheirTable) {
  for (const std::size_t world_size : {1, 2, 3, 5}) {
    for (const std::string& key : {std::string(), kKey}) {
      expect_no_errors(run_world(
          world_size,
          [&](Communicator& comm) {
            EXPECT_EQ(comm.world_size(), world_size);
            EXPECT_EQ(comm.rank_table().transport, world_size == 1 ? "none" : "shm");
            EXPECT_EQ(comm.rank_table().rows[comm.rank()].host, "127.0.0.1");
            EXPECT_EQ(comm.rank_table().rows[comm.rank()].local_rank, comm.rank());
            sum_of_ranks(comm);
          },
          key));
    }
  }
}

TEST(ByHand, NamesStandForAddresses) {
  auto addresses = testing::free_addresses(2);
  for (std::string& address : addresses) {
    address = "localhost" + address.substr(address.rfind(':'));
  }
  expect_no_errors(run_ranks({options_for(0, addresses), options_for(1, addresses)}, sum_of_ranks));
}

TEST(ByHand, AddressesMayBeOfTheOtherFamily) {
  std::vector<std::string> addresses;
  try {
    const os::Listener first = os::listen_on(os::parse_address("[::1]:0"));
    const os::Listener second = os::listen_on(os::parse_address("[::1]:0"));
    addresses = {first.address, second.address};
  } catch (const Error& error) {
    GTEST_SKIP() << "no IPv6 here: " << error.what();
  }
  EXPECT_TRUE(addresses[0].starts_with("[::1]:"));
  expect_no_errors(
      run_ranks({options_for(0, addresses), options_for(1, addresses)}, [](Communicator& comm) {
        EXPECT_EQ(comm.rank_table().rows[0].host, "::1");
        Communicator all = comm.split(0);
        sum_of_ranks(all);
      }));
}

TEST(ByHand, RanksMayStartInAnyOrder) {
  const auto addresses = testing::free_addresses(3);
  Outcomes outcomes(3);
  std::vector<std::thread> threads;
  for (const std::size_t rank : {2, 1, 0}) {
    threads.emplace_back(
        [&, rank] { outcomes[rank] = run_rank(options_for(rank, addresses), sum_of_ranks); });
    std::this_thread::sleep_for(milliseconds(150));
  }
  for (std::thread& thread : threads) thread.join();
  expect_no_errors(outcomes);
}

TEST(ByHand, CommunicatorsSplitAndThreadsHaveTheirOwn) {
  expect_no_errors(run_world(
      4,
      [](Communicator& comm) {
        Communicator half = comm.split(comm.rank() % 2);
        EXPECT_EQ(half.world_size(), 2U);
        sum_of_ranks(half);
        sum_of_ranks(comm);
      },
      kKey));

  const auto addresses = testing::free_addresses(2);
  std::vector<std::thread> processes;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    processes.emplace_back([&, rank] {
      auto mine = Communicator::for_threads(2, options_for(rank, addresses));
      EXPECT_EQ(mine[1].rank(), 2 * rank + 1);
      std::thread other([&] { sum_of_ranks(mine[1]); });
      sum_of_ranks(mine[0]);
      other.join();
    });
  }
  for (std::thread& process : processes) process.join();
}

// Each number alone is possible. Every rank sees which one is too many, and none waits.
TEST(ByHand, MoreThreadsInAllThanAWorldHasAreRefusedOnAllRanks) {
  const auto addresses = testing::free_addresses(2);
  std::vector<std::thread> processes;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    processes.emplace_back([&, rank] {
      const auto error = testing::error_of(
          [&] { Communicator::for_threads(rank + 2048, options_for(rank, addresses)); });
      ASSERT_TRUE(error) << rank;
      EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
      EXPECT_STREQ(error->what(),
                   "rank 1 asks for 2049 threads, but after the ranks before it there is room for "
                   "2048: a world has at most 4096 ranks");
    });
  }
  for (std::thread& process : processes) process.join();
}

// Method: the range has no port but its first, at which no group listens. In a group of one host,
// the system picks the ports.
TEST(ByHand, TwoNamesOfLoopbackAreOneHost) {
  auto addresses = testing::free_addresses(2);
  addresses[0] = "localhost" + addresses[0].substr(addresses[0].rfind(':'));
  std::vector<CommunicatorOptions> ranks = {options_for(0, addresses), options_for(1, addresses)};
  for (CommunicatorOptions& options : ranks) {
    options.by_hand->table.transport = "tcp";
    options.ports = "7700-7700";
  }
  expect_no_errors(run_ranks(ranks, [](Communicator& comm) {
    EXPECT_NE(comm.rank_table().rows[0].host, comm.rank_table().rows[1].host);
    Communicator all = comm.split(0);
    sum_of_ranks(all);
  }));
}

std::vector<CommunicatorOptions> two_ranks(bool first_encrypts, bool second_encrypts) {
  const auto addresses = testing::free_addresses(2);
  std::vector<CommunicatorOptions> ranks = {options_for(0, addresses, kKey),
                                            options_for(1, addresses, kKey)};
  ranks[0].encrypt = first_encrypts;
  ranks[1].encrypt = second_encrypts;
  return ranks;
}

TEST(ByHand, RanksMayEncrypt) {
  expect_no_errors(run_ranks(two_ranks(true, true), [](Communicator& comm) {
    sum_of_ranks(comm);
    Communicator all = comm.split(0);
    sum_of_ranks(all);
    for (Communicator& thread : Communicator::for_threads(1)) sum_of_ranks(thread);
  }));
}

TEST(ByHand, ARankThatDoesNotEncryptIsRefusedByOneThatDoes) {
  for (const bool first_encrypts : {false, true}) {
    auto ranks = two_ranks(first_encrypts, !first_encrypts);
    for (auto& rank : ranks) rank.join_timeout = seconds(2);
    const auto outcomes = run_ranks(ranks, sum_of_ranks);
    expect_error(outcomes[1], ErrorCode::kMismatch,
                 AllOf(HasSubstr("rank 0 does not let rank 1 in: it "),
                       HasSubstr(first_encrypts ? "it encrypts, and this side does not"
                                                : "it does not encrypt, and this side does"),
                       HasSubstr("ROTA_ENCRYPT=1")));
    ASSERT_TRUE(outcomes[0]);
    EXPECT_THAT(outcomes[0]->what(), HasSubstr("encrypt"));
  }
}

TEST(ByHand, AnAbsentRankZeroIsNamedAtTheTimeout) {
  auto options = options_for(1, testing::free_addresses(2));
  options.join_timeout = milliseconds(300);
  const auto error = run_rank(options, sum_of_ranks);
  expect_error(
      error, ErrorCode::kTimeout,
      AllOf(HasSubstr("rank 1 did not reach rank 0, which hosts the rendezvous, at 127.0.0.1:"),
            HasSubstr("onnection refused")));
  EXPECT_EQ(error->blamed_rank(), 0U);
}

TEST(ByHand, AnAbsentRankIsNamedAtTheTimeout) {
  const auto addresses = testing::free_addresses(3);
  auto first = options_for(0, addresses);
  const auto second = options_for(1, addresses);
  first.join_timeout = milliseconds(500);
  const Outcomes outcomes = run_ranks({first, second}, sum_of_ranks);
  expect_error(outcomes[0], ErrorCode::kTimeout, HasSubstr("rank 2 (has not joined)"));
  expect_error(outcomes[1], ErrorCode::kAborted, HasSubstr("rank 2 (has not joined)"));
}

// When rank 1 gives up, rank 0 still listens, or is gone. In both cases, rank 1 says what rank 0
// has answered, and not that its port refuses connections.
TEST(ByHand, AnotherKeyIsNamed) {
  for (const auto& [first, second] : {std::pair(1500, 500), std::pair(500, 1500)}) {
    const auto addresses = testing::free_addresses(2);
    std::vector<CommunicatorOptions> ranks = {options_for(0, addresses, kKey),
                                              options_for(1, addresses, std::string(32, 'x'))};
    ranks[0].join_timeout = milliseconds(first);
    ranks[1].join_timeout = milliseconds(second);
    const Outcomes outcomes = run_ranks(ranks, sum_of_ranks);
    expect_error(outcomes[0], ErrorCode::kTimeout, HasSubstr("rank 1 (has not joined)"));
    expect_error(outcomes[1], ErrorCode::kTimeout, HasSubstr("another key"));
  }
}

TEST(ByHand, TablesMaySpellTheNamesOfHostsInTwoWays) {
  auto of_rank_0 = testing::free_addresses(2);
  auto of_rank_1 = of_rank_0;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::string port = of_rank_0[rank].substr(of_rank_0[rank].rfind(':'));
    of_rank_0[rank] = "localhost" + port;
    of_rank_1[rank] = "LocalHost." + port;
  }
  expect_no_errors(run_ranks({options_for(0, of_rank_0), options_for(1, of_rank_1)}, sum_of_ranks));
}

TEST(ByHand, TablesThatDifferAreNoJob) {
  const auto addresses = testing::free_addresses(3);
  auto others = addresses;
  others[2] = "127.0.0.1:9";
  const Outcomes outcomes = run_ranks(
      {options_for(0, addresses), options_for(1, others), options_for(2, addresses)}, sum_of_ranks);
  expect_error(
      outcomes[1], ErrorCode::kMismatch,
      HasSubstr("the tables differ for rank 2: rank 1 has '127.0.0.1:9', but rank 0 has '"));
  for (const std::size_t rank : {0, 2}) {
    expect_error(outcomes[rank], ErrorCode::kMismatch, HasSubstr("the tables differ for rank 2"));
  }
}

// Rank 0's table decides the names of hosts. A name may have any length.
TEST(ByHand, TablesMayNameHostsDifferently) {
  const auto addresses = testing::free_addresses(2);
  auto first = options_for(0, addresses);
  first.by_hand->table.rows[1].host = std::string(100'000, 'b');
  const Outcomes outcomes =
      run_ranks({first, options_for(1, addresses)}, [](Communicator& communicator) {
        EXPECT_EQ(communicator.rank_table().rows[1].host, std::string(100'000, 'b'));
        sum_of_ranks(communicator);
      });
  expect_no_errors(outcomes);
}

TEST(ByHand, ARankIsTakenOnce) {
  const auto addresses = testing::free_addresses(2);
  const Outcomes outcomes =
      run_ranks({options_for(0, addresses), options_for(1, addresses)}, [&](Communicator& comm) {
        sum_of_ranks(comm);
        if (comm.rank() == 0) {
          // The second process listens at another address, but takes the same rank.
          auto table = addresses;
          table[1] = testing::free_addresses(1).front();
          auto options = options_for(1, table);
          options.join_timeout = milliseconds(300);
          expect_error(run_rank(options, sum_of_ranks), ErrorCode::kMismatch,
                       HasSubstr("that rank has joined already"));
        }
        comm.barrier();
      });
  expect_no_errors(outcomes);
}

// The child of a rank would otherwise wait until its timeout for its parent to leave.
TEST(ByHand, AChildOfARankIsNoFurtherRank) {
  const auto addresses = testing::free_addresses(2);
  const std::vector<CommunicatorOptions> ranks = {options_for(0, addresses),
                                                  options_for(1, addresses)};
  const Outcomes outcomes = run_ranks(ranks, [&](Communicator& comm) {
    sum_of_ranks(comm);
    if (comm.rank() == 1) {
      const auto said = testing::said_by_child([&] {
        const Error none(ErrorCode::kSystem, "no error");
        const auto one = testing::error_of([&] { Communicator{ranks[1]}; });
        const auto two = testing::error_of([&] { Communicator::for_threads(2, ranks[1]); });
        return one.value_or(none).what() + std::string("\n") + two.value_or(none).what();
      });
      const std::string refusal =
          "the communicator of rank 1 (127.0.0.1) was made before the fork of this process, and "
          "works only in the process that made it: use it there";
      EXPECT_EQ(said, refusal + "\n" + refusal);
    }
    sum_of_ranks(comm);
  });
  expect_no_errors(outcomes);
}

TEST(ByHand, ARankBeyondTheTableOfRankZeroIsRefused) {
  const auto addresses = testing::free_addresses(3);
  const std::vector<std::string> two(addresses.begin(), addresses.begin() + 2);
  auto first = options_for(0, two);
  first.join_timeout = milliseconds(500);
  const Outcomes outcomes = run_ranks({first, options_for(2, addresses)}, sum_of_ranks);
  expect_error(outcomes[1], ErrorCode::kMismatch, HasSubstr("this job has 2 ranks"));
  ASSERT_TRUE(outcomes[0]);
}

// A rank may start again before the others have left.
TEST(ByHand, TheSameTableMayMeetAgainAndAgain) {
  const auto addresses = testing::free_addresses(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
        auto options = options_for(rank, addresses, kKey);
        options.by_hand->table.epoch = epoch / 2;
        const auto error = run_rank(options, [&](Communicator& comm) {
          sum_of_ranks(comm);
          std::this_thread::sleep_for(milliseconds(60 * (2 - rank)));
        });
        EXPECT_FALSE(error) << "rank " << rank << ", " << epoch << ": " << error->what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ByHand, ATableOfOneHasThreads) {
  auto world = Communicator::for_threads(3, options_for(0, {"10.0.0.1:7001"}));
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  for (Communicator& comm : world) threads.emplace_back([&] { sum_of_ranks(comm); });
  for (std::thread& thread : threads) thread.join();
}

// rota finds a process's communicator by the process's place in the table, so this test process can
// play both processes.
TEST(ByHand, AProcessThatHasJoinedHasThreads) {
  const auto addresses = testing::free_addresses(2);
  std::vector<std::thread> processes;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    processes.emplace_back([&, rank] {
      Communicator held(options_for(rank, addresses));
      for (int time = 0; time < 2; ++time) {
        auto mine = Communicator::for_threads(2, options_for(rank, addresses));
        EXPECT_EQ(mine[1].rank(), 2 * rank + 1);
        std::thread other([&] { sum_of_ranks(mine[1]); });
        sum_of_ranks(mine[0]);
        other.join();
      }
      sum_of_ranks(held);
    });
  }
  for (std::thread& process : processes) process.join();
}

TEST(ByHand, AMismatchIsNamedOnEveryRank) {
  const Outcomes outcomes = run_world(3, [](Communicator& comm) {
    sum_of_ranks(comm);
    std::vector<float> values(comm.rank() == 2 ? 7 : 70000);
    comm.all_reduce(values, ReduceOp::kSum);
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    expect_error(outcomes[rank], ErrorCode::kMismatch, HasSubstr("70000"));
  }
}

TEST(ByHand, ARankThatLeavesEarlyIsNamed) {
  const Outcomes outcomes = run_world(3, [](Communicator& comm) {
    sum_of_ranks(comm);
    if (comm.rank() != 1) sum_of_ranks(comm);
  });
  EXPECT_FALSE(outcomes[1]);
  for (const std::size_t rank : {0, 2}) {
    ASSERT_TRUE(outcomes[rank]);
    EXPECT_THAT(outcomes[rank]->what(), HasSubstr("rank 1 (127.0.0.1)")) << rank;
    EXPECT_EQ(outcomes[rank]->blamed_rank(), 1U);
  }
}

// Method: the first rank that notices the loss tells the other one, so the codes may differ.
TEST(ByHand, OthersGoOnWithoutRankZeroWhereTheyDoNotNeedIt) {
  const Outcomes outcomes = run_world(3, [](Communicator& comm) {
    Communicator others = comm.split(comm.rank() == 0 ? 0 : 1);
    if (comm.rank() == 0) return;
    std::this_thread::sleep_for(milliseconds(300));
    for (int i = 0; i < 20; ++i) {
      sum_of_ranks(others);
      std::this_thread::sleep_for(milliseconds(10));
    }
    sum_of_ranks(comm);
  });
  EXPECT_FALSE(outcomes[0]);
  for (const std::size_t rank : {1, 2}) {
    ASSERT_TRUE(outcomes[rank]);
    EXPECT_THAT(outcomes[rank]->what(), HasSubstr("rank 0"));
    EXPECT_EQ(outcomes[rank]->blamed_rank(), 0U);
  }
}

TEST(ByHand, AnAbortIsHeardByAll) {
  const Outcomes outcomes = run_world(3, [](Communicator& comm) {
    if (comm.rank() == 1) {
      comm.abort("the disk is full");
      return;
    }
    sum_of_ranks(comm);
  });
  for (const std::size_t rank : {0, 2}) {
    expect_error(outcomes[rank], ErrorCode::kAborted, HasSubstr("rank 1: the disk is full"));
  }
}

// Method: strangers connect to rank 0's port before the ranks meet and while they do. Some
// strangers send nothing.
TEST(ByHand, StrangersDoNotDisturb) {
  const auto addresses = testing::free_addresses(2);
  std::vector<os::Fd> strangers;
  Outcomes outcomes(2);
  std::thread first([&] { outcomes[0] = run_rank(options_for(0, addresses, kKey), sum_of_ranks); });
  std::this_thread::sleep_for(milliseconds(200));
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(os::start_connect(os::parse_address(addresses[0])).socket);
    os::PollSet polls;
    polls.add(strangers.back().get(), false, true);
    polls.wait(base::Clock::now() + seconds(5));
    const std::string web = "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n";
    if (i % 2 == 0) os::send_some(strangers.back().get(), std::as_bytes(std::span(web)), {});
  }
  outcomes[1] = run_rank(options_for(1, addresses, kKey), sum_of_ranks);
  first.join();
  expect_no_errors(outcomes);
}

void expect_refused(const JobByHand& job, const std::string& text) {
  CommunicatorOptions options;
  options.by_hand = job;
  expect_error(run_rank(options, sum_of_ranks), ErrorCode::kInvalidArgument, HasSubstr(text));
}

TEST(ByHand, WhatMakesNoSenseIsRefused) {
  expect_refused({}, "its table has no rows");
  expect_refused({.table = table_of({"127.0.0.1:7001"}), .rank = 1},
                 "rank 1 is outside of a table of 1");
  expect_refused({.table = table_of({"10.0.0.1:7001", "10.0.0.2:7001"})},
                 "rank 0's address '10.0.0.1:7001' can be reached from other hosts");
  expect_refused({.table = table_of({"10.0.0.1:7001", "10.0.0.2:7001"}), .key = "secret"},
                 "its key has 6 bytes; it needs at least 32");
  expect_refused({.table = table_of({"127.0.0.1", "127.0.0.1:7002"})},
                 "'127.0.0.1' is not an address and a port");
  expect_refused({.table = table_of({"127.0.0.1:7001", "127.0.0.1:70002"})},
                 "'127.0.0.1:70002' is not an address and a port");
  expect_refused({.table = table_of({"127.0.0.1:0", "127.0.0.1:7002"})},
                 "rank 0's address '127.0.0.1:0' needs a port");
  expect_refused({.table = table_of({"127.0.0.1:7001", "127.0.0.1:00"})},
                 "rank 1's address '127.0.0.1:00' needs a port");
  expect_refused({.table = table_of({"10.0.0.1:7001", "0.0.0.0:7002"}), .key = kKey},
                 "rank 1's address '0.0.0.0:7002' means every address");
  expect_refused({.table = table_of({"[::ffff:0.0.0.0]:7001", "10.0.0.1:7002"}), .key = kKey},
                 "rank 0's address '[::ffff:0.0.0.0]:7001' means every address");
  expect_refused({.table = table_of({"127.0.0.1:7001", "no-such-host.invalid:7002"})},
                 "rank 1's address 'no-such-host.invalid:7002' is unknown");
  expect_refused({.table = table_of(std::vector<std::string>(4097, "127.0.0.1:7001"))},
                 "a table of 4097 ranks takes");
  RankTable shared = table_of({"127.0.0.1:7001", "127.0.0.1:7002"});
  shared.transport = "shm";
  expect_refused({.table = shared}, "told to use the transport tcp, but not 'shm'");
}

TEST(ByHand, APortThatIsTakenIsNamed) {
  const os::Listener taken = os::listen_on_loopback();
  CommunicatorOptions options = options_for(0, {taken.address, testing::free_addresses(1).front()});
  options.join_timeout = std::chrono::milliseconds(200);
  expect_error(run_rank(options, sum_of_ranks), ErrorCode::kSystem,
               AllOf(HasSubstr("rank 0: bind to " + taken.address +
                               ": Address already in use "
                               "(tried for "),
                     HasSubstr(": other ranks must reach this rank there; end the process that has "
                               "this port, or give the ranks another one (MASTER_PORT")));
}

// Method: the port is held for a while, as by a job that was killed and has not ended yet.
TEST(ByHand, APortThatIsStillHeldIsWaitedFor) {
  const std::vector<std::string> addresses = testing::free_addresses(2);
  os::Listener held = os::listen_on(os::parse_address(addresses[0]));
  Outcomes outcomes(2);
  std::thread first([&] { outcomes[0] = run_rank(options_for(0, addresses), sum_of_ranks); });
  std::this_thread::sleep_for(milliseconds(300));
  held = {};
  outcomes[1] = run_rank(options_for(1, addresses), sum_of_ranks);
  first.join();
  expect_no_errors(outcomes);
}

}  // namespace
}  // namespace rota

// Ranks of one machine get the same arenas from the first of them, and nobody else does.
// Method: each rank is a thread with a name of its own.
#include "communicator/local_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "os/address.h"
#include "os/message_socket.h"
#include "testing/error_of.h"
#include "testing/few_descriptors.h"

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::error_of;
using ::testing::HasSubstr;

void look_nowhere() {}

base::TimePoint soon(base::Duration time = seconds(20)) { return base::Clock::now() + time; }

std::vector<ino_t> inodes_of(const std::vector<os::Fd>& arenas) {
  std::vector<ino_t> inodes;
  for (const os::Fd& arena : arenas) {
    struct stat status {};
    EXPECT_EQ(::fstat(arena.get(), &status), 0);
    EXPECT_GT(status.st_size, 0);
    inodes.push_back(status.st_ino);
  }
  return inodes;
}

os::Fd connect_to(const os::Address& name) {
  auto socket = os::connect_for_messages(name);
  return socket ? std::move(*socket) : os::Fd();
}

// Acts as another user while the object lives; only root can.
class OtherUser {
 public:
  OtherUser() { EXPECT_EQ(::seteuid(12345), 0); }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
  ~OtherUser() { EXPECT_EQ(::seteuid(0), 0); }
};

// Method: the first rank hands over in a thread, and this thread plays the others, one after the
// other. 300 arenas need more than one message.
TEST(LocalMemory, IsThatOfTheFirstRankOnAllOthers) {
  for (const std::size_t count : {2U, 300U}) {
    std::vector<std::size_t> local_peers(count);
    std::iota(local_peers.begin(), local_peers.end(), std::size_t{3});
    LocalMeeting first;
    std::vector<ino_t> of_first;
    std::thread giving([&] {
      of_first = inodes_of(first.share_arenas(local_peers, 3, first.name(), look_nowhere, soon()));
    });
    std::set<std::vector<ino_t>> of_others;
    for (std::size_t rank = 4; rank < count + 3; ++rank) {
      of_others.insert(inodes_of(
          LocalMeeting().share_arenas(local_peers, rank, first.name(), look_nowhere, soon())));
    }
    giving.join();
    EXPECT_EQ(of_others, std::set{of_first});
    EXPECT_EQ(std::set(of_first.begin(), of_first.end()).size(), count);
  }
}

TEST(LocalMemory, IsWaitedForUntilTheDeadline) {
  LocalMeeting first;
  LocalMeeting second;
  const auto late = error_of([&] {
    first.share_arenas({0, 1}, 0, first.name(), look_nowhere, soon(milliseconds(120)));
  });
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code(), ErrorCode::kTimeout);
  EXPECT_EQ(late->blamed_rank(), 1U);
  const auto silent = error_of([&] {
    second.share_arenas({0, 1}, 1, first.name(), look_nowhere, soon(milliseconds(120)));
  });
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->code(), ErrorCode::kTimeout);
  EXPECT_THAT(silent->what(), HasSubstr("rank 0 did not hand over the memory"));
}

// The kernel limits how many descriptors are on their way to slow readers, unless root sends them.
// A rank that must wait does not take the place of a rank that comes later.
// Method: 90 ranks connect, and read only after nine more have connected.
void let_slow_readers_come() {
  std::optional<OtherUser> disguise;
  if (::geteuid() == 0) disguise.emplace();
  std::vector<std::size_t> local_peers(100);
  std::iota(local_peers.begin(), local_peers.end(), std::size_t{0});
  LocalMeeting first;
  std::atomic<int> looks{0};
  std::thread giving([&] {
    const auto error = error_of([&] {
      first.share_arenas(
          local_peers, 0, first.name(), [&] { ++looks; }, soon());
    });
    EXPECT_FALSE(error) << error->what();
  });
  std::vector<os::Fd> ranks;
  for (std::uint64_t rank = 1; rank < local_peers.size(); ++rank) {
    if (rank == 91) {
      const int seen = looks;
      while (looks < seen + 3) std::this_thread::sleep_for(milliseconds(1));
    }
    ranks.push_back(connect_to(os::parse_address(first.name())));
    base::ByteWriter out;
    out.write(rank);
    os::send_message(ranks.back().get(), out.take());
  }
  std::vector<std::byte> bytes;
  std::vector<os::Fd> arenas;
  std::size_t served = 0;
  while (!ranks.empty()) {
    std::erase_if(ranks, [&](const os::Fd& rank) {
      const os::Io io = os::receive_message(rank.get(), bytes, arenas);
      served += io == os::Io::kDone && arenas.size() == local_peers.size() ? 1 : 0;
      return io != os::Io::kWouldBlock;
    });
  }
  EXPECT_EQ(served, local_peers.size() - 1);
  giving.join();
}

TEST(LocalMemory, HasRoomForAllRanksHoweverSlowTheyRead) {
  testing::with_descriptor_limit(500, [] {
    let_slow_readers_come();
    return true;
  });
}

// A rank that dies is noticed by the coordinator, which look_around() asks.
TEST(LocalMemory, IsNotWaitedForWhereTheJobHasFailed) {
  LocalMeeting first;
  const auto error = error_of([&] {
    first.share_arenas(
        {0, 1}, 0, first.name(), [] { throw Error(ErrorCode::kPeerLost, "rank 1 ended", 1); },
        soon());
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kPeerLost);
}

// Method: rank 0 is stuck, and more callers wait at its name than the system lets in.
TEST(LocalMemory, IsNotCalledForWhereTheJobHasFailed) {
  const std::string name = random_local_name();
  const os::Address address = os::parse_address(name);
  const os::Fd stuck = os::listen_for_messages(address);
  ASSERT_EQ(::listen(stuck.get(), 0), 0);  // Makes the queue of callers as short as possible.
  constexpr std::size_t kMany = 100;
  std::vector<os::Fd> callers;
  while (callers.size() < kMany) {
    os::Fd caller = connect_to(address);
    if (!caller) break;
    callers.push_back(std::move(caller));
  }
  ASSERT_LT(callers.size(), kMany);
  LocalMeeting rank;
  const auto error = error_of([&] {
    rank.share_arenas(
        {0, 1}, 1, name, [] { throw Error(ErrorCode::kPeerLost, "rank 0 ended", 0); },
        soon(seconds(2)));
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kPeerLost);
}

// Method: processes that are not ranks connect before rank 1 does. One says nothing, one is gone at
// once, one claims to be a rank of another machine, and one sends too little.
TEST(LocalMemory, IsNotGivenToStrangers) {
  LocalMeeting first;
  LocalMeeting second;
  const os::Address name = os::parse_address(first.name());
  const os::Fd silent = connect_to(name);
  connect_to(name).reset();
  const os::Fd other = connect_to(name);
  base::ByteWriter out;
  out.write(std::uint64_t{7});
  os::send_message(other.get(), out.take());
  const os::Fd brief = connect_to(name);
  os::send_message(brief.get(), base::bytes_of("x"));
  std::thread rank([&] {
    EXPECT_EQ(second.share_arenas({0, 1}, 1, first.name(), look_nowhere, soon()).size(), 2U);
  });
  EXPECT_EQ(first.share_arenas({0, 1}, 0, first.name(), look_nowhere, soon()).size(), 2U);
  rank.join();
  for (const auto* stranger : {&silent, &other, &brief}) {
    std::vector<std::byte> bytes;
    std::vector<os::Fd> fds;
    EXPECT_EQ(os::receive_message(stranger->get(), bytes, fds), os::Io::kClosed);
    EXPECT_TRUE(fds.empty());
  }
}

TEST(LocalMemory, IsNeitherGivenToNorTakenFromAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  os::Fd foreign;
  const std::string name = random_local_name();
  LocalMeeting first;
  os::Fd stranger(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  {
    const OtherUser disguise;
    foreign = os::listen_for_messages(os::parse_address(name));
    const os::Address own = os::parse_address(first.name());
    ASSERT_EQ(::connect(stranger.get(), own.get(), own.bytes()), 0);
  }
  const auto taken = error_of([&] {
    LocalMeeting().share_arenas({0, 1}, 1, name, look_nowhere, soon());
  });
  ASSERT_TRUE(taken);
  EXPECT_THAT(taken->what(), HasSubstr("a process of another user listens there"));
  base::ByteWriter out;
  out.write(std::uint64_t{1});
  os::send_message(stranger.get(), out.take());
  const auto given = error_of([&] {
    first.share_arenas({0, 1}, 0, first.name(), look_nowhere, soon(milliseconds(120)));
  });
  ASSERT_TRUE(given);
  EXPECT_EQ(given->code(), ErrorCode::kTimeout) << given->what();
}

}  // namespace
}  // namespace rota

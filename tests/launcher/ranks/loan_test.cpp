// What ranks are lent is kept as long as one of them may still need it, and no longer.
#include "launcher/ranks/loan.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "os/host.h"
#include "os/poll_set.h"
#include "os/shared_memory.h"
#include "os/tcp_socket.h"

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

bool takes_calls(const std::string& address) {
  const os::Connecting calling = os::start_connect(os::parse_address(address));
  if (calling.failure) return false;
  os::PollSet polls;
  polls.add(calling.socket.get(), false, true);
  polls.wait(base::Clock::now() + std::chrono::seconds(10));
  return !os::connect_result(calling.socket.get());
}

TEST(Loan, OfNothingLendsNothing) {
  Loan loan(2);
  EXPECT_THAT(loan.lend(0), IsEmpty());
  loan.release(0);
  loan.release(1);
  EXPECT_THAT(loan.lend(1), IsEmpty());
}

TEST(Loan, LendsEveryRankAllArenas) {
  Loan loan(3);
  loan.add_arenas(4096);
  const std::vector<int> fds = loan.lend(0);
  ASSERT_EQ(fds.size(), 3U);
  EXPECT_THAT(loan.lend(2), ::testing::ElementsAreArray(fds));
  for (const int fd : fds) EXPECT_EQ(::lseek(fd, 0, SEEK_END), 4096);
  EXPECT_NE(fds[0], fds[1]);
  EXPECT_NE(fds[1], fds[2]);
}

TEST(Loan, LendsEveryRankTheTableFirstUntilTheLastHasIt) {
  Loan loan(2);
  loan.add_arenas(4096);
  const std::vector<int> arenas = loan.lend(0);
  os::Fd table(::memfd_create("table", MFD_CLOEXEC));
  const int number = table.get();
  loan.set_table(std::move(table));
  EXPECT_THAT(loan.lend(0), ElementsAre(number, arenas[0], arenas[1]));
  loan.release(0);
  EXPECT_THAT(loan.lend(1), ElementsAre(number, arenas[0], arenas[1]));
  loan.release(1);
  EXPECT_FALSE(is_open(number));
}

// Also where one of them is welcomed twice.
TEST(Loan, KeepsArenasUntilTheLastRankHasThem) {
  Loan loan(3);
  loan.add_arenas(4096);
  const std::vector<int> fds = loan.lend(0);
  for (const std::size_t local_rank : {2U, 0U, 2U, 0U}) {
    loan.release(local_rank);
    EXPECT_THAT(loan.lend(1), ::testing::ElementsAreArray(fds));
    for (const int fd : fds) EXPECT_TRUE(is_open(fd));
  }
  loan.release(1);
  EXPECT_THAT(loan.lend(1), IsEmpty());
  for (const int fd : fds) EXPECT_FALSE(is_open(fd));
}

TEST(Loan, MayHaveArenasOfOtherRotarunsRanks) {
  const os::Fd made = os::make_shared_memory("arena", 4096);
  std::vector<os::Fd> of_all;
  for (int i = 0; i < 3; ++i) {
    of_all.push_back(os::open_shared_memory(os::path_of_shared_memory(made)));
  }
  Loan loan(1);
  loan.add_arenas(std::move(of_all));
  const std::vector<int> fds = loan.lend(0);
  ASSERT_EQ(fds.size(), 3U);
  for (const int fd : fds) EXPECT_TRUE(os::are_same_file(fd, made.get()));
  loan.release(0);
  EXPECT_THAT(loan.lend(0), IsEmpty());
  for (const int fd : fds) EXPECT_FALSE(is_open(fd));
}

TEST(Loan, LendsEachRankItsOwnListener) {
  std::vector<os::Listener> listeners;
  listeners.reserve(2);
  for (int i = 0; i < 2; ++i) listeners.push_back(os::listen_on_loopback());
  const int first = listeners[0].socket.get();
  const int second = listeners[1].socket.get();
  const Loan loan = Loan::of_listeners(std::move(listeners));
  EXPECT_THAT(loan.lend(0), ElementsAre(first));
  EXPECT_THAT(loan.lend(1), ElementsAre(second));
}

TEST(Loan, LendsAListenerBeforeTheArenas) {
  std::vector<os::Listener> listeners;
  listeners.reserve(2);
  for (int i = 0; i < 2; ++i) listeners.push_back(os::listen_on_loopback());
  const int second = listeners[1].socket.get();
  Loan loan = Loan::of_listeners(std::move(listeners));
  loan.add_arenas(4096);
  const std::vector<int> fds = loan.lend(1);
  ASSERT_EQ(fds.size(), 3U);
  EXPECT_EQ(fds[0], second);
  for (const int fd : {fds[1], fds[2]}) EXPECT_EQ(::lseek(fd, 0, SEEK_END), 4096);
  loan.release(1);
  EXPECT_FALSE(is_open(second));
  EXPECT_TRUE(is_open(fds[1]));
  loan.release(0);
  EXPECT_FALSE(is_open(fds[1]));
}

TEST(Loan, ClosesAListenerWhenItsRankHasIt) {
  std::vector<os::Listener> listeners;
  std::vector<std::string> addresses;
  for (int i = 0; i < 2; ++i) {
    listeners.push_back(os::listen_on_loopback());
    addresses.push_back(listeners.back().address);
  }
  Loan loan = Loan::of_listeners(std::move(listeners));
  loan.release(0);
  EXPECT_FALSE(takes_calls(addresses[0]));
  EXPECT_TRUE(takes_calls(addresses[1]));
  loan.release(0);
  EXPECT_TRUE(takes_calls(addresses[1]));
  loan.release(1);
  EXPECT_FALSE(takes_calls(addresses[1]));
}

}  // namespace
}  // namespace rota::launcher

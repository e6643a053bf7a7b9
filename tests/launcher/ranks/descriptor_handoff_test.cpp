// Descriptors that are made for ranks stay open as long as a rank may still need them, and no
// longer.
#include "launcher/ranks/descriptor_handoff.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "os/host.h"
#include "os/poll_set.h"
#include "os/shared_mapping.h"
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

TEST(DescriptorHandoff, OfNothingSendsNothing) {
  DescriptorHandoff handoff(2);
  EXPECT_THAT(handoff.descriptors_of(0), IsEmpty());
  handoff.release(0);
  handoff.release(1);
  EXPECT_THAT(handoff.descriptors_of(1), IsEmpty());
}

TEST(DescriptorHandoff, SendsEveryRankAllArenas) {
  DescriptorHandoff handoff(3);
  handoff.add_arenas(4096);
  const std::vector<int> fds = handoff.descriptors_of(0);
  ASSERT_EQ(fds.size(), 3U);
  EXPECT_THAT(handoff.descriptors_of(2), ::testing::ElementsAreArray(fds));
  for (const int fd : fds) EXPECT_EQ(::lseek(fd, 0, SEEK_END), 4096);
  EXPECT_NE(fds[0], fds[1]);
  EXPECT_NE(fds[1], fds[2]);
}

TEST(DescriptorHandoff, SendsEveryRankTheTableFirstUntilTheLastHasIt) {
  DescriptorHandoff handoff(2);
  handoff.add_arenas(4096);
  const std::vector<int> arenas = handoff.descriptors_of(0);
  os::Fd table(::memfd_create("table", MFD_CLOEXEC));
  const int number = table.get();
  handoff.set_table(std::move(table));
  EXPECT_THAT(handoff.descriptors_of(0), ElementsAre(number, arenas[0], arenas[1]));
  handoff.release(0);
  EXPECT_THAT(handoff.descriptors_of(1), ElementsAre(number, arenas[0], arenas[1]));
  handoff.release(1);
  EXPECT_FALSE(is_open(number));
}

// This must also hold if one of the ranks is welcomed twice.
TEST(DescriptorHandoff, KeepsArenasUntilTheLastRankHasThem) {
  DescriptorHandoff handoff(3);
  handoff.add_arenas(4096);
  const std::vector<int> fds = handoff.descriptors_of(0);
  for (const std::size_t local_rank : {2U, 0U, 2U, 0U}) {
    handoff.release(local_rank);
    EXPECT_THAT(handoff.descriptors_of(1), ::testing::ElementsAreArray(fds));
    for (const int fd : fds) EXPECT_TRUE(is_open(fd));
  }
  handoff.release(1);
  EXPECT_THAT(handoff.descriptors_of(1), IsEmpty());
  for (const int fd : fds) EXPECT_FALSE(is_open(fd));
}

TEST(DescriptorHandoff, MayHaveArenasOfOtherRotarunsRanks) {
  const os::Fd made = os::make_shared_memory("arena", 4096);
  std::vector<os::Fd> of_all;
  of_all.reserve(3);
  for (int i = 0; i < 3; ++i) {
    of_all.push_back(os::open_shared_memory(os::path_of_shared_memory(made)));
  }
  DescriptorHandoff handoff(1);
  handoff.add_arenas(std::move(of_all));
  const std::vector<int> fds = handoff.descriptors_of(0);
  ASSERT_EQ(fds.size(), 3U);
  for (const int fd : fds) EXPECT_TRUE(os::are_same_file(fd, made.get()));
  handoff.release(0);
  EXPECT_THAT(handoff.descriptors_of(0), IsEmpty());
  for (const int fd : fds) EXPECT_FALSE(is_open(fd));
}

TEST(DescriptorHandoff, SendsEachRankItsOwnListener) {
  std::vector<os::Listener> listeners;
  listeners.reserve(2);
  for (int i = 0; i < 2; ++i) listeners.push_back(os::listen_on_loopback());
  const int first = listeners[0].socket.get();
  const int second = listeners[1].socket.get();
  const DescriptorHandoff handoff = DescriptorHandoff::of_listeners(std::move(listeners));
  EXPECT_THAT(handoff.descriptors_of(0), ElementsAre(first));
  EXPECT_THAT(handoff.descriptors_of(1), ElementsAre(second));
}

TEST(DescriptorHandoff, SendsAListenerBeforeTheArenas) {
  std::vector<os::Listener> listeners;
  listeners.reserve(2);
  for (int i = 0; i < 2; ++i) listeners.push_back(os::listen_on_loopback());
  const int second = listeners[1].socket.get();
  DescriptorHandoff handoff = DescriptorHandoff::of_listeners(std::move(listeners));
  handoff.add_arenas(4096);
  const std::vector<int> fds = handoff.descriptors_of(1);
  ASSERT_EQ(fds.size(), 3U);
  EXPECT_EQ(fds[0], second);
  for (const int fd : {fds[1], fds[2]}) EXPECT_EQ(::lseek(fd, 0, SEEK_END), 4096);
  handoff.release(1);
  EXPECT_FALSE(is_open(second));
  EXPECT_TRUE(is_open(fds[1]));
  handoff.release(0);
  EXPECT_FALSE(is_open(fds[1]));
}

TEST(DescriptorHandoff, ClosesAListenerWhenItsRankHasIt) {
  std::vector<os::Listener> listeners;
  std::vector<std::string> addresses;
  for (int i = 0; i < 2; ++i) {
    listeners.push_back(os::listen_on_loopback());
    addresses.push_back(listeners.back().address);
  }
  DescriptorHandoff handoff = DescriptorHandoff::of_listeners(std::move(listeners));
  handoff.release(0);
  EXPECT_FALSE(takes_calls(addresses[0]));
  EXPECT_TRUE(takes_calls(addresses[1]));
  handoff.release(0);
  EXPECT_TRUE(takes_calls(addresses[1]));
  handoff.release(1);
  EXPECT_FALSE(takes_calls(addresses[1]));
}

}  // namespace
}  // namespace rota::launcher

// Runs single turns of a status port's event loop in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <vector>

#include "launcher/status/status_port.h"
#include "testing/few_descriptors.h"

namespace rota::launcher {
namespace {

class StatusTurn : public ::testing::Test {
 protected:
  void turn() {
    os::PollSet polls;
    port_.add_to(polls, base::Clock::now());
    polls.wait(base::Clock::now() + std::chrono::milliseconds(10));
    find_count_ = 0;
    port_.handle(polls, base::Clock::now());
  }

  os::Fd call() const {
    const os::Address target = os::parse_address(port_.address());
    os::Fd socket(::socket(target.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), target.get(), target.bytes()), 0);
    return socket;
  }

  static void ask(const os::Fd& socket) {
    const std::string request = "GET /ranks HTTP/1.0\r\n\r\n";
    EXPECT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }

  static bool is_answered(const os::Fd& socket) {
    char first = 0;
    return ::recv(socket.get(), &first, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
  }

  std::size_t find_count_ = 0;
  StatusPort port_{os::listen_on_loopback(), [this] {
                     ++find_count_;
                     return JobStatus{};
                   }};
};

TEST_F(StatusTurn, AnswersSomeAndFindsOutOnceWhatItTells) {
  std::vector<os::Fd> callers;
  for (int i = 0; i < 40; ++i) callers.push_back(call());
  for (int i = 0; i < 4; ++i) turn();
  for (const os::Fd& caller : callers) ask(caller);
  for (const std::ptrdiff_t answered : {16, 32, 40}) {
    turn();
    EXPECT_EQ(find_count_, 1U);
    EXPECT_EQ(std::ranges::count_if(callers, is_answered), answered);
  }
}

// The limit is one eighth of 256 descriptors.
TEST_F(StatusTurn, KeepsNoMoreCallersThanAShareOfTheDescriptors) {
  port_ = testing::with_descriptor_limit(
      256, [] { return StatusPort(os::listen_on_loopback(), [] { return JobStatus{}; }); });
  std::vector<os::Fd> callers;
  while (callers.size() < 60) callers.push_back(call());
  for (int i = 0; i < 8; ++i) turn();
  EXPECT_EQ(testing::ended_count(callers, 28), 28U);
}

TEST(StatusCrowd, IsTheNetworkOfACallerWhoHasAllOfIt) {
  const auto crowd = [](const std::string& address) {
    return crowd_of(os::parse_address(address));
  };
  EXPECT_EQ(crowd("10.0.0.1:80"), "10.0.0.1");
  EXPECT_NE(crowd("10.0.0.1:80"), crowd("10.0.0.2:80"));
  EXPECT_EQ(crowd("[fd00:1:2:3:4:5:6:7]:80"), "fd00:1:2:3::/64");
  EXPECT_EQ(crowd("[fd00:1:2:3::9]:81"), crowd("[fd00:1:2:3:4:5:6:7]:80"));
  EXPECT_NE(crowd("[fd00:1:2:4::9]:80"), crowd("[fd00:1:2:3::9]:80"));
}

}  // namespace
}  // namespace rota::launcher

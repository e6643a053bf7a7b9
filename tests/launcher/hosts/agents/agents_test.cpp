// Agents that do not take what they are told.
#include "launcher/hosts/agents/agents.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

namespace rota::launcher {
namespace {

// Whoever polled for it on would turn without a pause until the host comes, or never.
TEST(Agents, AreNotWaitedForOnceTheirInputIsClosed) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const os::SignalWatch signals(std::array{SIGCHLD});
  const std::string more_than_a_pipe_holds(200'000, 'x');
  Agents agents({{.host = 1, .command = {"true"}, .orders = "own"}}, more_than_a_pipe_holds,
                {"PATH=/usr/bin:/bin"}, signals);
  while (!os::next_process_event().event) ::usleep(1000);
  agents.send_orders();
  os::PollSet polls;
  agents.add_to(polls);
  const base::TimePoint end = base::Clock::now() + std::chrono::milliseconds(100);
  polls.wait(end);
  EXPECT_GE(base::Clock::now(), end);
  ::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace rota::launcher

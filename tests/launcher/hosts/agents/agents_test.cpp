// Tests the commands of agents, and agents that end without reading their start request.
#include "launcher/hosts/agents/agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

namespace rota::launcher {
namespace {

TEST(Agents, GetTheNameOfTheHostWhereverTheirCommandHasItsPlace) {
  EXPECT_THAT(agent_command("run {host} -t u@{host}.{host}", "a", "/r"),
              ::testing::ElementsAre("run", "a", "-t", "u@a.a", "/r", "--follow"));
  EXPECT_THAT(agent_command("{host}", "{host}", "/r"),
              ::testing::ElementsAre("{host}", "/r", "--follow"));
}

// Without PATH, an agent is found in the usual folders, as a program of ranks is, and not in the
// current folder.
TEST(Agents, AreFoundWithoutPath) {
  const os::SignalWatch signals({}, std::array{SIGCHLD});
  Agents agents({{.host = 1, .command = {"true"}, .request = "own"}}, "all", {}, signals);
  os::ProcessEvents events;
  while (!(events = os::next_process_event()).event) ::usleep(1000);
  EXPECT_EQ(events.event->value, 0);
}

// If a closed input were still polled, poll() would return immediately each time, and the thread
// would spin until the host joins.
TEST(Agents, AreNotWaitedForOnceTheirInputIsClosed) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const os::SignalWatch signals({}, std::array{SIGCHLD});
  const std::string more_than_a_pipe_holds(200'000, 'x');
  Agents agents({{.host = 1, .command = {"true"}, .request = "own"}}, more_than_a_pipe_holds,
                {"PATH=/usr/bin:/bin"}, signals);
  while (!os::next_process_event().event) ::usleep(1000);
  agents.send_requests();
  os::PollSet polls;
  agents.add_to(polls);
  const base::TimePoint end = base::Clock::now() + std::chrono::milliseconds(100);
  polls.wait(end);
  EXPECT_GE(base::Clock::now(), end);
  ::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace rota::launcher

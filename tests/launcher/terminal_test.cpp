// Tests how rotarun behaves on a terminal: lines that it updates in place, Ctrl-C, suspension.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "launcher/launched.h"
#include "testing/own_ports.h"
#include "testing/terminal.h"

namespace rota::launcher {
namespace {

class OnTerminal : public Launched {};

using testing::Terminal;

testing::Command on_terminal(const Terminal& terminal, testing::Command command) {
  command.standard_output = terminal.theirs.get();
  command.standard_error = terminal.theirs.get();
  return command;
}

TEST_F(OnTerminal, TellsRanksTheTerminalsWidth) {
  const Terminal terminal;
  EXPECT_EQ(
      run(on_terminal(terminal, rotarun(script({"-np", "1"}, "echo $ROTA_TERMINAL")))).exit_code,
      0);
  EXPECT_EQ(terminal.read_all(), "120\r\n");
}

TEST_F(OnTerminal, ClearsALiveLineBeforeAnotherRanksLine) {
  const Terminal terminal;
  run(on_terminal(terminal, rotarun(script({"-np", "2"},
                                           "if [ $ROTA_RANK = 0 ]; then printf '50 %%\\r'; sleep "
                                           "0.6; else sleep 0.3; echo warning >&2; fi"))));
  EXPECT_EQ(terminal.read_all(), "50 %\r\x1b[2Kwarning\r\n");
}

TEST_F(OnTerminal, HoldsUpNothingElseWhenTheTerminalStandsStill) {
  const Terminal terminal;
  const int flags = ::fcntl(terminal.theirs.get(), F_GETFL);
  Process process(on_terminal(terminal, rotarun({"-np", "2", "yes", "endless"})));
  std::this_thread::sleep_for(milliseconds(300));
  process.signal(SIGTERM);
  const Result result = process.wait(seconds(10));
  EXPECT_TRUE(result.was_in_time);
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(::fcntl(terminal.theirs.get(), F_GETFL), flags);  // Other programs share these flags.
}

// Method: rotarun leads its own session on the terminal, so Ctrl-C reaches its whole process group.
// The ranks must get the signal once, from the terminal, and not again from rotarun.
TEST_F(OnTerminal, LeavesCtrlCToTheTerminal) {
  const Terminal terminal;
  testing::Command command = on_terminal(
      terminal, rotarun({"-np", "2", "--grace", "10", test_path("member"), "count-interrupts"}));
  command.arguments.insert(command.arguments.begin(), {"/usr/bin/setsid", "--ctty"});
  command.standard_input = terminal.theirs.get();
  Process process(std::move(command));
  terminal.read_until("ready\r\nready\r\n");
  terminal.type("\x03");
  EXPECT_EQ(process.wait().exit_code, 130);
  const std::string screen = terminal.read_all();
  EXPECT_THAT(screen, HasSubstr("rotarun: got SIGINT, so the job ends\r\n"
                                "rotarun: another signal kills the ranks\r\n"));
  EXPECT_THAT(screen, ::testing::EndsWith("typed 1 sent 0\r\ntyped 1 sent 0\r\n"));
}

// When the key is typed, the inner process, which ends the job, does not exist yet. Method: so many
// agents start that there is time to type. If no process noticed the key, the job would end because
// hosts are missing.
TEST_F(OnTerminal, HearsCtrlCWhileAgentsStart) {
  std::string hosts = "198.18.0.0";
  for (int host = 1; host < 1000; ++host) {
    hosts += ",198.18." + std::to_string(host / 256) + "." + std::to_string(host % 256);
  }
  const std::string first = folder_ + "/first";
  const std::string agent = folder_ + "/agent";
  std::ofstream(agent) << "#!/bin/sh\n[ $1 != 198.18.0.0 ] || : >" << first
                       << "; exec cat >/dev/null\n";
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  const testing::OwnPorts ports;
  const Terminal terminal;
  testing::Command command = on_terminal(
      terminal, rotarun({"-H", hosts, "--address", "127.0.0.1", "--ports", ports.range(),
                         "--join-timeout", "10", "--agent", agent + " {host}", "true"}));
  command.arguments.insert(command.arguments.begin(), {"/usr/bin/setsid", "--ctty"});
  command.standard_input = terminal.theirs.get();
  Process process(std::move(command));
  for (int trial = 0; trial < 20000 && !std::filesystem::exists(first); ++trial) ::usleep(1000);
  terminal.type("\x03");
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_THAT(terminal.read_all(), HasSubstr("got SIGINT before the job began"));
}

// People press Ctrl-C again within half a second when nothing ends.
TEST_F(OnTerminal, KillsRanksThatDoNotListenAtTheSecondCtrlC) {
  const Terminal terminal;
  testing::Command command = on_terminal(
      terminal, rotarun(script({"-np", "2", "--grace", "60"},
                               "trap '' INT TERM; echo ready; while :; do sleep 0.1; done")));
  command.arguments.insert(command.arguments.begin(), {"/usr/bin/setsid", "--ctty"});
  command.standard_input = terminal.theirs.get();
  Process process(std::move(command));
  terminal.read_until("ready\r\nready\r\n");
  terminal.type("\x03");
  terminal.read_until("another signal kills the ranks");
  std::this_thread::sleep_for(milliseconds(300));
  terminal.type("\x03");
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_THAT(terminal.read_all(),
              HasSubstr("killed the processes that had not ended: rank 0, rank 1"));
}

// Method: the whole group is suspended, as by Ctrl-Z, for longer than a rank may be silent.
TEST_F(OnTerminal, OutlastsASuspensionOfTheWholeGroup) {
  testing::Command command =
      rotarun(script({"-np", "2", "--deadline", "0.3"}, "echo ready; sleep 1; echo done"));
  command.arguments.insert(command.arguments.begin(), "/usr/bin/setsid");
  Process process(std::move(command));
  ASSERT_TRUE(process.wait_for("ready\nready\n"));
  ::kill(-process.pid(), SIGSTOP);
  std::this_thread::sleep_for(milliseconds(800));
  EXPECT_EQ(testing::state_of(process.pid()), 'T');
  ::kill(-process.pid(), SIGCONT);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("done\ndone\n"));
}

}  // namespace
}  // namespace rota::launcher

// rotarun starts other hosts through any program as the agent. The agent may read its start request
// late, or never. It may also be the ssh of a batch system's job.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "launcher/launched.h"
#include "os/fd.h"
#include "os/host.h"
#include "os/pipe.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

// Returns the kernel's soft limit on pipe pages per user; 0 if there is no limit. A user above the
// limit gets pipes of two pages.
std::size_t most_pipe_pages() {
  std::size_t pages = 0;
  std::ifstream("/proc/sys/fs/pipe-user-pages-soft") >> pages;
  return pages;
}

// Returns pipes that use up all these pages of the user who runs the test.
std::vector<std::pair<os::Fd, os::Fd>> take_pipe_pages() {
  constexpr std::size_t kPagesOfOne = 16;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<std::pair<os::Fd, os::Fd>> pipes(most_pipe_pages() / kPagesOfOne + 1);
  for (auto& pipe : pipes) pipe = os::make_pipe();
  return pipes;
}

// Returns the pipe capacity of a process's standard input; 0 if the input is not a pipe.
std::size_t pipe_bytes_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/0";
  const os::Fd input(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return static_cast<std::size_t>(std::max(0, ::fcntl(input.get(), F_GETPIPE_SZ)));
}

class AgentsStart : public Launched {
 protected:
  // Writes a script that is the agent of one host. In most tests, the host itself never joins.
  std::string agent(const std::string& text, const std::string& name = "agent") const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // Starts rotarun with this agent. The test passes --address, so rotarun need not look for a route
  // to the other host.
  Process start(const std::string& agent, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"-H",      "192.0.2.1", "--address", "127.0.0.1",
                                          "--agent", agent,       "--ports",   ports_.range()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("true");
    return Process(rotarun(std::move(arguments)));
  }

  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Waits until the file exists and has `bytes` bytes.
  bool grows_to(const std::string& name, std::size_t bytes) const {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (text_of(name).size() < bytes) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
  }

  const testing::OwnPorts ports_;
};

// More than a pipe holds: an agent that does not read immediately leaves a part unsent.
const std::string kLong(100 * 1024, 'x');

TEST_F(AgentsStart, MayBeAProgramThatWaitsForItsInput) {
  const std::string script =
      agent("sleep 0.3; cat >" + folder_ + "/orders 2>" + folder_ + "/trouble");
  Process job = start(script, {"-x", "LONG=" + kLong, "-x", "SECOND=" + kLong});
  EXPECT_TRUE(grows_to("orders", 2 * kLong.size()));
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143) << job.err();
  EXPECT_EQ(text_of("trouble"), "");
}

// With 4,096 agents, the first thousand pipes use up all pipe pages of an ordinary user. Method:
// the test's own pipes use up the pages, and rotarun has no more rights than an ordinary user.
TEST_F(AgentsStart, GetTheirOrdersWhateverAPipeHoldsAndWheneverTheyRead) {
  if (most_pipe_pages() == 0) GTEST_SKIP() << "pipes have no limit here";
  constexpr std::size_t kCount = 400;
  std::string hosts;
  for (std::size_t host = 0; host < kCount; ++host) {
    hosts += (host == 0 ? "198.18.0." : ",198.18." + std::to_string(host / 200) + ".") +
             std::to_string(host % 200);
  }
  const std::string script = agent(
      "case $1 in *[02468]) sleep 1 ;; esac\n"
      "bytes=$(head -c 4 | od -An -tu4)\n"
      "[ $(head -c $bytes | wc -c) -eq $bytes ] && echo $bytes >>" +
      folder_ + "/whole\nexec cat");
  const auto pipes = take_pipe_pages();
  testing::Command command =
      rotarun({"-H", hosts, "--address", "127.0.0.1", "--agent", script + " {host}", "--ports",
               ports_.range(), "-x", "LONG=" + kLong, "true"});
  if (::geteuid() == 0) {
    command.arguments.insert(command.arguments.begin(), {"/usr/bin/setpriv", "--bounding-set",
                                                         "-sys_admin,-sys_resource", "--"});
  }
  Process job(std::move(command));
  constexpr std::size_t kLineBytes = 7;  // At least: "102400\n".
  EXPECT_TRUE(grows_to("whole", kCount * kLineBytes));
  std::size_t small_count = 0;
  for (const pid_t pid : testing::live_descendants()) {
    small_count += pipe_bytes_of(pid) == 2 * static_cast<std::size_t>(::getpagesize()) ? 1 : 0;
  }
  EXPECT_GE(small_count, kCount);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143) << job.err();
  EXPECT_EQ(sorted_lines(text_of("whole")).size(), kCount);
}

TEST_F(AgentsStart, HoldUpNoSignalWhereTheyNeverRead) {
  const std::string script =
      agent("touch " + folder_ + "/there; echo x >" + folder_ + "/there; exec sleep 1000");
  Process job = start(script, {"-x", "LONG=" + kLong});
  EXPECT_TRUE(grows_to("there", 1));
  const auto begin = std::chrono::steady_clock::now();
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143) << job.err();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

// PBS, LSF and SGE list this host with two slots, and another with one slot. Method: the agent is a
// script that runs the command of the other host on this machine. The script is called ssh, and is
// the first of its name in PATH.
TEST_F(AgentsStart, ReachTheHostsThatABatchSystemHasReserved) {
  const std::string path = folder_ + ":" + std::string(std::getenv("PATH"));
  const std::string ssh =
      agent("echo \"$1 $2 $3\" >>" + folder_ + "/calls; shift 3; exec \"$@\"", "ssh");
  const std::string here = os::host_name();
  const std::string file = folder_ + "/hosts";
  for (const auto& [variable, text] : std::vector<std::pair<std::string, std::string>>{
           {"PBS_NODEFILE", here + "\n" + here + "\nelsewhere\n"},
           {"LSB_DJOB_HOSTFILE", here + "\n" + here + "\nelsewhere\n"},
           {"PE_HOSTFILE", here + " 2 all.q@x UNDEFINED\nelsewhere 1 all.q@y UNDEFINED\n"}}) {
    std::ofstream(file) << text;
    for (const std::vector<std::string>& agent :
         {std::vector<std::string>(), {"--agent", ssh + " own agent {host}"}}) {
      std::vector<std::string> arguments = {"--address", "127.0.0.1", "--ports", ports_.range()};
      arguments.insert(arguments.end(), agent.begin(), agent.end());
      testing::Command command = rotarun(
          script(std::move(arguments), "echo $ROTA_RANK of $ROTA_WORLD_SIZE on $GROUP_RANK"));
      command.environment = {variable + "=" + file, "PATH=" + path};
      const Result result = run(std::move(command));
      EXPECT_EQ(result.exit_code, 0) << variable << ": " << result.err;
      EXPECT_THAT(sorted_lines(result.out),
                  ::testing::ElementsAre("0 of 3 on 0", "1 of 3 on 0", "2 of 3 on 1"))
          << variable;
      EXPECT_EQ(text_of("calls"),
                agent.empty() ? "-o BatchMode=yes elsewhere\n" : "own agent elsewhere\n");
      std::filesystem::remove(folder_ + "/calls");
    }
  }
}

// The settings of the job are those of the host where the command was given. Method: the agent
// starts the other host, on this machine, with an environment that has other settings.
TEST_F(AgentsStart, GiveOtherHostsTheSettingsOfThisOne) {
  const std::string other =
      agent("shift; ROTA_PORTS=1-2 ROTA_ENCRYPT=1; export ROTA_PORTS ROTA_ENCRYPT; exec \"$@\"");
  testing::Command command = rotarun(script({"-H", os::host_name() + ":1,192.0.2.1:1", "--address",
                                             "127.0.0.1", "--agent", other + " {host}"},
                                            "echo $GROUP_RANK $ROTA_PORTS"));
  command.environment = {"ROTA_PORTS=" + ports_.range()};
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(sorted_lines(result.out),
              ::testing::ElementsAre("0 " + ports_.range(), "1 " + ports_.range()));
}

// A relative folder is that of the host where the command was given. Method: the agent starts the
// other host, on this machine, in another directory.
TEST_F(AgentsStart, PutFilesOfOutputWhereTheCommandWasGiven) {
  const std::string other = agent("shift; cd /; exec \"$@\"");
  const std::string logs = std::filesystem::relative(folder_ + "/logs").string();
  const Result result = run_rotarun(
      script({"-H", os::host_name() + ":1,192.0.2.1:1", "--address", "127.0.0.1", "--ports",
              ports_.range(), "--agent", other + " {host}", "--output-filename", logs},
             "echo $ROTA_RANK"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(text_of("logs/rank.0/stdout"), "0\n");
  EXPECT_EQ(text_of("logs/rank.1/stdout"), "1\n");
}

// Method: both hosts are this machine, and each port is needed: the first is the test's own, one is
// for the launcher, and one for the rank of each host.
TEST_F(AgentsStart, TakeNoPortAwayFromThePreflight) {
  const std::string other = agent("shift; exec \"$@\"");
  const Result result =
      run_rotarun({"--preflight", "-H", os::host_name() + ":1,192.0.2.1:1", "--address",
                   "127.0.0.1", "--ports", ports_.range(4), "--agent", other + " {host}", "true"});
  EXPECT_THAT(result.out, HasSubstr("every host has enough free ports of --ports")) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("are left out")));
}

// The preflight runs on a host that has no file of hosts.
TEST_F(AgentsStart, TellThePreflightTheMostSlotsOfEachHost) {
  std::ofstream(folder_ + "/hosts") << os::host_name() << " slots=1\n"
                                    << "192.0.2.1 slots=1 max_slots=2\n";
  const Result result =
      run_rotarun({"--preflight", "--hostfile", folder_ + "/hosts", "-np", "6", "--oversubscribe",
                   "--address", "127.0.0.1", "--ports", ports_.range(), "--agent",
                   agent("shift; exec \"$@\"") + " {host}", "true"});
  EXPECT_EQ(result.exit_code, 20) << result.err;
  EXPECT_THAT(result.out, HasSubstr("192.0.2.1 would have 3 ranks, but its max_slots is 2"));
}

// Method: no host joins, so the job ends; the agent keeps running.
TEST_F(AgentsStart, AreNotWaitedForByWhoAsksForTheEndMeanwhile) {
  Process job = start(agent("exec sleep 1000"), {"--join-timeout", "0.5"});
  EXPECT_TRUE(job.wait_for("(--join-timeout)"));
  const auto begin = std::chrono::steady_clock::now();
  job.signal(SIGTERM);
  EXPECT_NE(job.wait().exit_code, 0) << job.err();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(4));
}

}  // namespace
}  // namespace rota::launcher

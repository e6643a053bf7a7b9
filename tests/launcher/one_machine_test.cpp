// Several rotaruns that another launcher started on one machine make one world, without a key.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "launcher/launched.h"
#include "os/fd.h"
#include "testing/own_ports.h"
#include "testing/proc.h"

namespace rota::launcher {
namespace {

const std::string kRealMpirun = "/usr/bin/mpirun";

// Returns the lines of a file of /proc/net.
std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Returns the inodes of all sockets that listen for TCP, on any interface.
std::set<std::string> listening_inodes() {
  constexpr const char* kListening = "0A";
  std::set<std::string> inodes;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (const std::string& line : read_lines(path)) {
      std::istringstream in(line);
      std::vector<std::string> fields;
      for (std::string field; in >> field;) fields.push_back(field);
      if (fields.size() > 9 && fields[3] == kListening) inodes.insert("socket:[" + fields[9] + "]");
    }
  }
  return inodes;
}

// Returns the number of ports at which this test's programs listen.
std::size_t port_count() {
  const std::set<std::string> inodes = listening_inodes();
  std::size_t count = 0;
  for (const pid_t pid : testing::live_descendants()) {
    for (const std::string& target : testing::descriptor_targets(pid)) {
      count += inodes.count(target);
    }
  }
  return count;
}

class OneMachine : public Launched {
 protected:
  // Hides the key of the person who runs the tests.
  OneMachine() : environment_{"HOME=" + folder_, "ROTA_KEY_FILE="} {}

  void TearDown() override {
    Launched::TearDown();
    for (const std::string& line : read_lines("/proc/net/unix")) {
      EXPECT_THAT(line, Not(HasSubstr("-" + own_port() + ":"))) << "a name was left behind";
    }
  }

  // Returns a port number that no other test's tasks use.
  static std::string own_port(unsigned number = 0) {
    static const testing::OwnPorts kPorts;
    return kPorts.port(number);
  }

  // Starts rotarun as torchrun does on a single machine. The port distinguishes this job from
  // others.
  std::unique_ptr<Process> start(std::size_t rank, std::size_t world_size,
                                 std::vector<std::string> arguments,
                                 const std::string& port = own_port()) const {
    testing::Command command = rotarun(std::move(arguments));
    command.environment = environment_;
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"RANK", std::to_string(rank)},
             {"WORLD_SIZE", std::to_string(world_size)},
             {"LOCAL_RANK", std::to_string(rank)},
             {"LOCAL_WORLD_SIZE", std::to_string(world_size)},
             {"MASTER_ADDR", "127.0.0.1"},
             {"MASTER_PORT", port}}) {
      command.environment.push_back(name + "=" + value);
    }
    return std::make_unique<Process>(std::move(command));
  }

  // Returns a command of mpirun that may also run as root, and with more ranks than cores.
  testing::Command mpirun(const std::vector<std::string>& arguments) const {
    testing::Command command{.arguments = {kRealMpirun, "--oversubscribe"},
                             .environment = environment_};
    command.environment.insert(command.environment.end(),
                               {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    return command;
  }

  testing::Command rotaruns(const std::string& count, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"-np", count, testing::rotarun_path()});
    return mpirun(arguments);
  }

  const std::vector<std::string> environment_;
};

class OneMachineOfMpirun : public OneMachine {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kRealMpirun)) GTEST_SKIP() << "mpirun is not installed";
  }
  // Processes that mpirun ends may need a moment to end.
  void TearDown() override { EXPECT_TRUE(testing::all_gone_within(seconds(5))); }
};

TEST_F(OneMachineOfMpirun, NeedsNoKeyAndNoFlag) {
  const Result result = run(rotaruns("4", {kSum}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(
      sorted_lines(result.out),
      (std::vector<std::string>{"rank 0 of 4 by Open MPI: 10", "rank 1 of 4 by Open MPI: 10",
                                "rank 2 of 4 by Open MPI: 10", "rank 3 of 4 by Open MPI: 10"}));
}

TEST_F(OneMachineOfMpirun, HasARankForEachTask) {
  const Result result = run(rotaruns("3", {"sh", "-c",
                                           "[ $ROTA_RANK = $OMPI_COMM_WORLD_RANK ] && "
                                           "echo $ROTA_RANK/$ROTA_WORLD_SIZE "
                                           "$ROTA_LOCAL_RANK/$ROTA_LOCAL_WORLD_SIZE"}));
  EXPECT_EQ(sorted_lines(result.out), (std::vector<std::string>{"0/3 0/3", "1/3 1/3", "2/3 2/3"}))
      << result.err;
}

TEST_F(OneMachineOfMpirun, HasRoomForJobsSideBySide) {
  Process first(rotaruns("2", script({}, "echo here; sleep 1000")));
  ASSERT_TRUE(first.wait_for("here\nhere\n")) << first.err();
  const Result second = run(rotaruns("3", {kSum}));
  EXPECT_EQ(second.exit_code, 0) << second.err;
  first.signal(SIGTERM);
  EXPECT_NE(first.wait().exit_code, 0);
}

// Method: each process that mpirun starts runs rotarun twice, so a second job follows the first
// one.
TEST_F(OneMachineOfMpirun, HasRoomForJobsOneAfterTheOther) {
  const std::string twice = testing::rotarun_path() + " " + kSum + "; " + testing::rotarun_path() +
                            " " + test_path("member") + " check; echo $?";
  const Result result = run(mpirun({"-np", "2", "/bin/sh", "-c", twice}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out),
            (std::vector<std::string>{"0", "0", "rank 0 of 2 by Open MPI: 3",
                                      "rank 1 of 2 by Open MPI: 3"}));
}

TEST_F(OneMachineOfMpirun, EndsWithTheCodeOfTheRankThatFails) {
  const Result result = run(rotaruns("3", script({}, "[ $ROTA_RANK != 1 ] || exit 7; sleep 1000")));
  EXPECT_EQ(result.exit_code, 7) << result.err;
  EXPECT_THAT(result.err, HasSubstr("exited with code 7"));
}

TEST_F(OneMachineOfMpirun, EndsAtSignals) {
  for (const int number : {SIGTERM, SIGINT}) {
    Process process(rotaruns("2", script({}, "echo here; sleep 1000")));
    ASSERT_TRUE(process.wait_for("here\nhere\n")) << process.err();
    process.signal(number);
    const Result result = process.wait();
    EXPECT_TRUE(result.was_in_time);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_TRUE(testing::all_gone_within(seconds(5)));
  }
}

TEST_F(OneMachineOfMpirun, WaitsForATaskThatIsNoRotarunUntilTheDeadline) {
  const std::string program = testing::rotarun_path();
  const Result first = run(mpirun({"-np", "1", program, "--join-timeout", "0.3", "echo", "started",
                                   ":", "-np", "1", "sleep", "1000"}));
  EXPECT_EQ(first.exit_code, 200);
  EXPECT_THAT(first.err, HasSubstr("1 of 2 hosts: host 1 did not connect to @rota-"));
  const Result second = run(mpirun({"-np", "1", "sleep", "1000", ":", "-np", "1", program,
                                    "--join-timeout", "0.3", "echo", "started"}));
  EXPECT_EQ(second.exit_code, 200);
  EXPECT_THAT(second.err, HasSubstr("host 0 at @rota-"));
  EXPECT_THAT(second.err, HasSubstr("was not reached within"));
  for (const Result* result : {&first, &second}) {
    EXPECT_THAT(result->err, HasSubstr("if they are in several containers, give all of them "
                                       "--key-file, and the address of rank 0 with MASTER_ADDR"));
  }
  EXPECT_EQ(first.out + second.out, "");
}

// A job whose tasks start slowly would repeat this hint every five seconds.
TEST_F(OneMachine, HasItsHintAboutContainersOnlyInTheErrorThatEndsTheWait) {
  const std::vector<std::string> arguments = {"--join-timeout", "7", "echo", "started"};
  const auto first = start(0, 2, arguments, own_port(2));
  const auto second = start(1, 2, arguments, own_port(3));
  for (const auto& task : {first.get(), second.get()}) {
    const Result result = task->wait();
    EXPECT_EQ(result.exit_code, 200) << result.err;
    const std::size_t waiting = result.err.find("rotarun: waiting ");
    ASSERT_NE(waiting, std::string::npos) << result.err;
    const std::size_t end = result.err.find('\n', waiting);
    EXPECT_THAT(result.err.substr(waiting, end - waiting), Not(HasSubstr("containers")));
    EXPECT_THAT(result.err.substr(end), HasSubstr("if they are in several containers"));
  }
}

// In a shell of srun --pty, each rotarun is task 0, and the other tasks are shells. All tasks are
// on one node, so they may also be in containers.
TEST_F(OneMachine, SaysThatTheOtherTasksOfAStepAreAwaited) {
  testing::Command command = rotarun({"--join-timeout", "0.3", "echo", "started"});
  command.environment = environment_;
  command.environment.insert(
      command.environment.end(),
      {"SLURM_JOB_ID=" + own_port(), "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0",
       "SLURM_NODEID=0", "SLURM_NTASKS=4", "SLURM_STEP_NODELIST=n1", "SLURM_STEP_NUM_NODES=1",
       "SLURM_STEP_TASKS_PER_NODE=4"});
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("; the hosts are the tasks of Slurm step " + own_port() +
                                    ".0, and each of them must run rotarun: in a shell of srun "
                                    "--pty, give --this-host for a job of this host alone; the "
                                    "rotaruns meet at a local name"));
  command.arguments.insert(command.arguments.begin() + 1, "--this-host");
  EXPECT_EQ(run(command).exit_code, 0);
}

TEST_F(OneMachine, NamesWhatStillRunsOnTheHostWhereItRan) {
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    all.push_back(start(rank, 2, script({}, "if [ $ROTA_RANK = 1 ]; then sleep 60 & fi; exit 0")));
  }
  const Result first = all[0]->wait();
  const Result second = all[1]->wait();
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(first.err, Not(HasSubstr("still ran")));
  EXPECT_THAT(second.err, HasSubstr("processes that still ran: sleep (pid "));
  EXPECT_THAT(second.err, HasSubstr(") of rank 1; a rank should wait for its children"));
}

// Method: the signal comes to one rotarun, and then to all of them at about the same time, as a
// batch system sends it.
TEST_F(OneMachine, PassesASignalOnToTheRanksOfAll) {
  const std::vector<std::string> arguments =
      script({},
             "n=0; trap 'n=$((n+1)); echo warned $n' USR1; echo ready; "
             "while [ $n -lt 2 ]; do sleep 0.02; done");
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t rank = 0; rank < 3; ++rank) all.push_back(start(rank, 3, arguments));
  for (const auto& process : all) ASSERT_TRUE(process->wait_for("ready\n")) << process->err();
  all[1]->signal(SIGUSR1);
  for (const auto& process : all) ASSERT_TRUE(process->wait_for("warned 1\n")) << process->err();
  for (const auto& process : all) process->signal(SIGUSR1);
  for (const auto& process : all) {
    const Result result = process->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("warned 2\n"));
  }
}

TEST_F(OneMachine, SharesMemoryUnlessItIsToldNotTo) {
  for (const std::string transport : {"auto", "shm", "tcp"}) {
    const std::vector<std::string> arguments = {"--verbose", "--transport", transport,
                                                test_path("choosing")};
    auto first = start(0, 2, arguments);
    auto second = start(1, 2, arguments);
    EXPECT_EQ(first->wait().exit_code, 0) << first->err();
    EXPECT_EQ(second->wait().exit_code, 0) << second->err();
    const std::string way = transport == "tcp" ? "tcp" : "shm";
    EXPECT_THAT(first->err(), HasSubstr("float32 on 2 ranks over " + way + ": "));
  }
}

TEST_F(OneMachine, OpensNoPort) {
  const auto arguments = script({}, "echo here; sleep 1000");
  auto first = start(0, 2, arguments);
  auto second = start(1, 2, arguments);
  ASSERT_TRUE(first->wait_for("here\n")) << first->err();
  ASSERT_TRUE(second->wait_for("here\n")) << second->err();
  EXPECT_EQ(port_count(), 0U);
  first->signal(SIGTERM);
  EXPECT_EQ(first->wait().exit_code, 143);
  EXPECT_EQ(second->wait().exit_code, 143);
}

TEST_F(OneMachine, EndsWhereATaskIsKilled) {
  for (const std::size_t victim : {0U, 1U}) {
    const auto arguments = script({}, "echo here; sleep 1000");
    const std::unique_ptr<Process> tasks[] = {start(0, 2, arguments), start(1, 2, arguments)};
    for (const auto& task : tasks) ASSERT_TRUE(task->wait_for("here\n")) << task->err();
    tasks[victim]->signal(SIGKILL);
    const Result other = tasks[1 - victim]->wait();
    EXPECT_TRUE(other.was_in_time);
    EXPECT_EQ(other.exit_code, 201) << other.err;
    EXPECT_THAT(other.err, HasSubstr("the outer process of its rotarun ended"));
    EXPECT_TRUE(testing::all_gone_within(seconds(5)));
  }
}

// Method: a process of another user listens at the name where rank 1 looks for rank 0.
TEST_F(OneMachine, TakesNoOtherUserForRankZero) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const std::string name = "rota-0-" + own_port(1) + ":7700";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(::seteuid(12345), 0);
  ASSERT_EQ(::listen(socket.get(), 8), 0);
  ASSERT_EQ(::seteuid(0), 0);
  const std::vector<std::string> arguments = {"--join-timeout", "0.3", "echo", "started"};
  const Result second = start(1, 2, arguments, own_port(1))->wait();
  EXPECT_EQ(second.exit_code, 200);
  EXPECT_THAT(second.err, HasSubstr("a process of another user listens there"));
  const Result first = start(0, 2, arguments, own_port(1))->wait();
  EXPECT_NE(first.exit_code, 0);
  EXPECT_THAT(first.err, HasSubstr("bind to @" + name + ": Address already in use"));
  EXPECT_EQ(first.out + second.out, "");
}

}  // namespace
}  // namespace rota::launcher

// When the kernel kills a rank for lack of memory, rotarun names this cause. Method: a control
// group has little memory, if this process may make one. `tail` reads a device without line ends,
// and so keeps all that it reads.
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "launcher/launched.h"
#include "os/cgroup.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A control group with 64 MiB for the processes that enter it. Removed at the end.
class SmallGroup {
 public:
  SmallGroup() {
    const auto place =
        os::find_cgroup("memory", read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
    if (!place) return;
    for (const std::string& folder : place->folders) {
      std::error_code error;
      if (!std::filesystem::exists(folder, error)) continue;
      folder_ = folder + "/rota_test_" + std::to_string(::getpid());
      if (!std::filesystem::create_directory(folder_, error)) folder_.clear();
      if (!is_there()) return;
      const char* limit = place->is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
      std::ofstream(folder_ + limit) << (64 << 20) << std::flush;
      if (read(folder_ + limit) == std::to_string(64 << 20) + "\n") return;
      remove();
    }
  }
  ~SmallGroup() { remove(); }

  bool is_there() const { return !folder_.empty(); }
  std::string path_of_processes() const { return folder_ + "/cgroup.procs"; }

 private:
  void remove() {
    std::error_code ignored;
    if (is_there()) std::filesystem::remove(folder_, ignored);
    folder_.clear();
  }

  std::string folder_;
};

// Returns the command, to be run in the control group.
testing::Command inside(const SmallGroup& group, testing::Command command) {
  command.arguments.insert(
      command.arguments.begin(),
      {"/bin/sh", "-c", "echo $$ > " + group.path_of_processes() + " && exec \"$@\"", "sh"});
  return command;
}

class OutOfMemory : public Launched {
 protected:
  // Returns the command of one of two tasks that another launcher has started on this machine, as
  // host 0 or host 1.
  testing::Command task(std::size_t host, const std::string& text) const {
    testing::Command command = rotarun(script({}, text));
    command.environment = {"HOME=" + folder_,
                           "ROTA_KEY_FILE=",
                           "RANK=" + std::to_string(host),
                           "LOCAL_RANK=" + std::to_string(host),
                           "WORLD_SIZE=2",
                           "LOCAL_WORLD_SIZE=2",
                           "MASTER_ADDR=127.0.0.1",
                           "MASTER_PORT=" + ports_.first()};
    return command;
  }

  const testing::OwnPorts ports_;
};

TEST_F(OutOfMemory, IsNamedAsWhatEndedARank) {
  const SmallGroup group;
  if (!group.is_there()) GTEST_SKIP() << "no memory control group can be made here";
  const Result result = run(inside(
      group,
      rotarun(script({"-np", "2"}, "[ $ROTA_RANK = 1 ] && exec tail /dev/zero; exec sleep 1000"))));
  EXPECT_EQ(result.exit_code, 137) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err,
              HasSubstr("was killed by SIGKILL: out of memory (the limit of its control "
                        "group is 64 MiB)\n"));
}

// Method: the outer process of one host is the first candidate of the kernel, and a rank there
// takes memory until the kernel has killed that process.
TEST_F(OutOfMemory, IsNamedAsWhatEndedTheOuterProcess) {
  for (const std::size_t victim : {0U, 1U}) {
    const SmallGroup group;
    if (!group.is_there()) GTEST_SKIP() << "no memory control group can be made here";
    const std::string go = folder_ + "/go" + std::to_string(victim);
    Process host(inside(
        group, task(victim, "echo here; while ! [ -e " + go + " ]; do sleep 0.01; done; exec " +
                                test_path("member") + " fill-memory")));
    Process other(task(1 - victim, "echo here; exec sleep 1000"));
    ASSERT_TRUE(host.wait_for("here\n")) << host.err();
    ASSERT_TRUE(other.wait_for("here\n")) << other.err();
    std::ofstream("/proc/" + std::to_string(host.pid()) + "/oom_score_adj") << 1000 << std::flush;
    std::ofstream(go) << "\n";
    const Result result = other.wait();
    EXPECT_EQ(result.exit_code, 201) << result.err;
    EXPECT_THAT(
        result.err,
        HasSubstr(": the outer process of its rotarun ended: out of memory (the limit of its "
                  "control group is 64 MiB)\n"));
    EXPECT_EQ(host.wait().signal, SIGKILL) << host.err();
    EXPECT_TRUE(testing::all_gone_within(seconds(5)));
  }
}

// Method: the inner process is the first candidate of the kernel.
TEST_F(OutOfMemory, IsNamedAsWhatEndedTheInnerProcess) {
  const SmallGroup group;
  if (!group.is_there()) GTEST_SKIP() << "no memory control group can be made here";
  const std::string go = folder_ + "/go";
  Process job(inside(group, rotarun(script({"-np", "1"},
                                           "read -r _ _ _ inner _ < /proc/$PPID/stat; echo inner "
                                           "$inner; while ! [ -e " +
                                               go + " ]; do sleep 0.01; done; exec " +
                                               test_path("member") + " fill-memory"))));
  ASSERT_TRUE(job.wait_for("inner ")) << job.err();
  ASSERT_TRUE(job.wait_for("\n")) << job.err();
  const std::string inner = job.out().substr(6, job.out().find('\n') - 6);
  std::ofstream("/proc/" + inner + "/oom_score_adj") << 1000 << std::flush;
  std::ofstream(go) << "\n";
  EXPECT_EQ(job.wait().exit_code, 137) << job.err();
  EXPECT_THAT(job.err(), HasSubstr("rotarun: its own process " + inner +
                                   " was killed by SIGKILL: out of memory (the limit of its "
                                   "control group is 64 MiB); the job was ended\n"));
}

// Method: the kernel has killed rank 1, and rank 0 does not end, when somebody kills the inner
// process.
TEST_F(OutOfMemory, OfARankIsNotSaidOfTheInnerProcess) {
  const SmallGroup group;
  if (!group.is_there()) GTEST_SKIP() << "no memory control group can be made here";
  const std::string go = folder_ + "/go";
  Process job(inside(group, rotarun(script({"-np", "2", "--grace", "60"},
                                           "if [ $ROTA_RANK = 1 ]; then while ! [ -e " + go +
                                               " ]; do sleep 0.01; done; exec tail /dev/zero; fi; "
                                               "trap '' TERM; read -r _ _ _ inner _ < "
                                               "/proc/$PPID/stat; echo inner $inner; "
                                               "while :; do sleep 1; done"))));
  ASSERT_TRUE(job.wait_for("inner ")) << job.err();
  ASSERT_TRUE(job.wait_for("\n")) << job.err();
  const std::string inner = job.out().substr(6, job.out().find('\n') - 6);
  std::ofstream(go) << "\n";
  ASSERT_TRUE(job.wait_for("out of memory")) << job.err();
  ASSERT_EQ(::kill(std::stoi(inner), SIGKILL), 0);
  EXPECT_EQ(job.wait().exit_code, 137) << job.err();
  EXPECT_THAT(job.err(), HasSubstr("rotarun: its own process " + inner +
                                   " was killed by SIGKILL; the job was ended\n"));
}

TEST_F(OutOfMemory, IsNotSaidOfARankThatWasKilled) {
  const Result result =
      run_rotarun(script({"-np", "2"}, "[ $ROTA_RANK = 1 ] && kill -9 $$; exec sleep 1000"));
  EXPECT_EQ(result.exit_code, 137);
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL\n"));
}

}  // namespace
}  // namespace rota::launcher

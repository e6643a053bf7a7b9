// A rank that the kernel ends for want of memory is named so.
// Method: a control group with little memory, where this process may make one; `tail` of a device
// without lines keeps all that it reads.
#include <fstream>

#include "launcher/launched.h"
#include "os/cgroup.h"

namespace rota::launcher {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// 64 MiB for whoever enters it. Removed at the end.
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

class OutOfMemory : public Launched {};

TEST_F(OutOfMemory, IsNamedAsWhatEndedARank) {
  const SmallGroup group;
  if (!group.is_there()) GTEST_SKIP() << "no memory control group can be made here";
  const testing::Command in_rotarun =
      rotarun(script({"-np", "2"}, "[ $ROTA_RANK = 1 ] && exec tail /dev/zero; exec sleep 1000"));
  testing::Command command{
      {"/bin/sh", "-c", "echo $$ > " + group.path_of_processes() + " && exec \"$@\"", "sh"}};
  for (const std::string& word : in_rotarun.arguments) command.arguments.push_back(word);
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 137) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err,
              HasSubstr("was killed by SIGKILL: out of memory (the limit of its control "
                        "group is 64 MiB)\n"));
}

TEST_F(OutOfMemory, IsNotSaidOfARankThatWasKilled) {
  const Result result =
      run_rotarun(script({"-np", "2"}, "[ $ROTA_RANK = 1 ] && kill -9 $$; exec sleep 1000"));
  EXPECT_EQ(result.exit_code, 137);
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL\n"));
}

}  // namespace
}  // namespace rota::launcher

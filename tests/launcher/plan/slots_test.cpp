// Tests how many slots and how much memory a process may use. The tests read sample files of both
// versions of control groups.
#include "launcher/plan/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/cgroup.h"

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;

TEST(Slots, AreTheAllowedCpus) {
  EXPECT_EQ(count_slots(8, std::nullopt).count, 8U);
  EXPECT_EQ(count_slots(8, std::nullopt).reason, "8 CPUs allowed, no quota");
  EXPECT_EQ(count_slots(0, std::nullopt).count, 1U);
}

TEST(LackOfCpu, IsALimitUnderOneCoreForEachRank) {
  EXPECT_EQ(lack_of_cpu(1, std::nullopt, true), "");
  EXPECT_EQ(lack_of_cpu(1, 1.0, true), "");
  EXPECT_EQ(lack_of_cpu(3, 2.99999, true), "");
  EXPECT_EQ(lack_of_cpu(1, 0.5, true),
            "the CPU limit is 0.5 for one rank here, so the ranks pause whenever they have used it "
            "up: raise resources.limits.cpu to 1 or more, or remove the limit");
  EXPECT_EQ(lack_of_cpu(3, 2.998, true).rfind("the CPU limit is 2.998 for 3 ranks here", 0), 0U);
  EXPECT_EQ(lack_of_cpu(2, 1.5, false),
            "the CPU limit is 1.5 for 2 ranks here, so the ranks pause whenever they have used it "
            "up: raise the quota of the control group to 2 or more");
}

TEST(Slots, AreLimitedByTheQuotaRoundedDown) {
  EXPECT_EQ(count_slots(64, 2.0).count, 2U);
  EXPECT_EQ(count_slots(64, 2.5).count, 2U);
  EXPECT_EQ(count_slots(64, 0.5).count, 1U);
  EXPECT_EQ(count_slots(64, 2.99999).count, 3U);
  EXPECT_EQ(count_slots(2, 8.0).count, 2U);
  EXPECT_TRUE(count_slots(64, 2.5).is_limited_by_quota);
  EXPECT_FALSE(count_slots(2, 8.0).is_limited_by_quota);
  EXPECT_EQ(count_slots(64, 2.5).reason, "64 CPUs allowed, a quota of 2.5");
  EXPECT_EQ(count_slots(64, 2.998).reason, "64 CPUs allowed, a quota of 2.998");
}

TEST(Slots, HaveAsManyCpusAsARankIsToHave) {
  EXPECT_EQ(count_slots(8, std::nullopt, 4).count, 2U);
  EXPECT_EQ(count_slots(9, 7.5, 2).count, 3U);
  EXPECT_EQ(count_slots(9, 7.5, 2).cpu_count, 7U);
  EXPECT_EQ(count_slots(2, std::nullopt, 3).count, 0U);
  EXPECT_EQ(count_slots(9, 7.5, 2).reason, "9 CPUs allowed, a quota of 7.5, 2 for each rank");
}

TEST(Cgroup, ReadsQuotasOfBothVersions) {
  EXPECT_EQ(os::parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(os::parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(os::parse_cfs_quota("200000\n", "100000\n"), 2.0);
  EXPECT_EQ(os::parse_cfs_quota("-1\n", "100000\n"), std::nullopt);
  for (const char* bad : {"", "\n", "100000", "100000 0", "x 100000", "1 2 3", "-5 100"}) {
    EXPECT_EQ(os::parse_cpu_max(bad), std::nullopt) << bad;
  }
}

TEST(Cgroup, ReadsMemoryLimitsOfBothVersions) {
  EXPECT_EQ(os::parse_memory_limit("1073741824\n"), std::uint64_t{1} << 30);
  EXPECT_EQ(os::parse_memory_limit("max\n"), std::nullopt);
  EXPECT_EQ(os::parse_memory_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(os::parse_memory_limit(""), std::nullopt);
}

constexpr const char* kMountsV1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
constexpr const char* kMountsV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

TEST(Cgroup, ReadsHowManyWereKilledForWantOfMemory) {
  EXPECT_EQ(os::parse_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3U);
  EXPECT_EQ(os::parse_oom_kills("low 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n"), 1U);
  EXPECT_EQ(os::parse_oom_kills("oom_kill_disable 0\nunder_oom 0\n"), std::nullopt);
  EXPECT_EQ(os::parse_oom_kills("oom_kill many\n"), std::nullopt);
  EXPECT_EQ(os::parse_oom_kills(""), std::nullopt);
}

TEST(Cgroup, FindsTheGroupAndThoseAroundItInVersion1) {
  const auto place =
      os::find_cgroup("cpu", "4:memory:/m\n3:cpu,cpuacct:/kubepods/pod1\n0::/\n", kMountsV1);
  ASSERT_TRUE(place);
  EXPECT_FALSE(place->is_v2);
  EXPECT_THAT(place->folders,
              ElementsAre("/sys/fs/cgroup/cpu,cpuacct/kubepods/pod1",
                          "/sys/fs/cgroup/cpu,cpuacct/kubepods", "/sys/fs/cgroup/cpu,cpuacct"));
}

TEST(Cgroup, FindsTheGroupInVersion2) {
  const auto place = os::find_cgroup("cpu", "0::/user.slice/job\n", kMountsV2);
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->is_v2);
  EXPECT_THAT(place->folders, ElementsAre("/sys/fs/cgroup/user.slice/job",
                                          "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"));
}

TEST(Cgroup, FindsAGroupThatIsMountedFromItsOwnRoot) {
  const auto place =
      os::find_cgroup("cpu", "3:cpu:/docker/abc/inner\n",
                      "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  ASSERT_TRUE(place);
  EXPECT_THAT(place->folders, ElementsAre("/sys/fs/cgroup/cpu/inner", "/sys/fs/cgroup/cpu"));
}

// The mount may show the group of another container, whose name begins this group's name.
TEST(Cgroup, FindsAGroupBesideTheMountsRoot) {
  const auto place =
      os::find_cgroup("cpu", "3:cpu:/docker/abcdef/inner\n",
                      "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  ASSERT_TRUE(place);
  EXPECT_THAT(place->folders, ElementsAre("/sys/fs/cgroup/cpu/docker/abcdef/inner",
                                          "/sys/fs/cgroup/cpu/docker/abcdef",
                                          "/sys/fs/cgroup/cpu/docker", "/sys/fs/cgroup/cpu"));
}

TEST(Cgroup, FindsNothingInFilesThatMakeNoSense) {
  EXPECT_FALSE(os::find_cgroup("cpu", "", ""));
  EXPECT_FALSE(os::find_cgroup("cpu", "garbage\n::\n3:cpu\n", kMountsV1));
  EXPECT_FALSE(os::find_cgroup("cpu", "3:cpu:/a\n", "32 31 - \n\n - cgroup\n"));
  EXPECT_FALSE(
      os::find_cgroup("cpu", "3:cpu:relative\n", "32 31 0:29 / /m rw - cgroup c rw,cpu\n"));
}

// A folder with the files of a control group, in the form that Linux gives them.
class CgroupFiles : public ::testing::Test {
 protected:
  CgroupFiles() : root_(::testing::TempDir() + "rota_cgroup_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~CgroupFiles() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(CgroupFiles, GiveTheTightestLimitOfVersion2) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/proc/self/mountinfo", kMountsV2);
  write("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/memory.max", "2147483648\n");
  EXPECT_EQ(os::cpu_quota(root_), 1.5);
  EXPECT_EQ(os::memory_limit_bytes(root_), std::uint64_t{1} << 31);
}

TEST_F(CgroupFiles, GiveTheMountsLimitWhenThePathIsTheHosts) {
  write("/proc/self/cgroup", "3:cpu,cpuacct:/kubepods/pod1/abc\n4:memory:/kubepods/pod1/abc\n");
  write("/proc/self/mountinfo", kMountsV1);
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(os::cpu_quota(root_), 2.5);
  EXPECT_EQ(os::memory_limit_bytes(root_), 1048576U);
}

TEST_F(CgroupFiles, GiveNoLimitWhereThereIsNone) {
  EXPECT_FALSE(os::cpu_quota(root_));
  write("/proc/self/cgroup", "0::/\n");
  write("/proc/self/mountinfo", kMountsV2);
  EXPECT_FALSE(os::cpu_quota(root_));
  EXPECT_FALSE(os::memory_limit_bytes(root_));
}

}  // namespace
}  // namespace rota::launcher

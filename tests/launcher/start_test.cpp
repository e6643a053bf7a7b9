// Tests how ranks start: their environment, descriptors, input, directory and CPUs.
#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

#include "launcher/launched.h"
#include "os/fd.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

class Start : public Launched {};

TEST_F(Start, TellsEachRankItsPlace) {
  const Result result = run_rotarun(script(
      {"-np", "3"},
      "echo $ROTA_RANK $ROTA_WORLD_SIZE $ROTA_LOCAL_RANK $ROTA_LOCAL_WORLD_SIZE .$ROTA_TERMINAL"));
  EXPECT_THAT(sorted_lines(result.out),
              ::testing::ElementsAre("0 3 0 3 .", "1 3 1 3 .", "2 3 2 3 ."));
}

TEST_F(Start, StartsARankForEachSlotUnlessTold) {
  const Result result = run_rotarun({"--verbose", "echo", "rank"});
  const auto cpus = os::allowed_cpus().size();
  EXPECT_LE(sorted_lines(result.out).size(), cpus);
  EXPECT_GE(sorted_lines(result.out).size(), 1U);
  EXPECT_THAT(result.err, HasSubstr("one for each slot"));
}

TEST_F(Start, GivesRanksTheStandardDescriptorsAndOneMore) {
  const Result result = run_rotarun({"-np", "3", "ls", "-l", "/proc/self/fd"});
  std::size_t sockets = 0;
  std::size_t others = 0;
  for (const std::string& line : sorted_lines(result.out)) {
    const bool is_own_of_ls = line.find("-> /proc/") != std::string::npos;
    if (line.find(" -> ") == std::string::npos || is_own_of_ls) continue;
    ++(line.find("-> socket:") != std::string::npos ? sockets : others);
  }
  EXPECT_EQ(sockets, 3U) << result.out;
  EXPECT_EQ(others, 3U * 3) << result.out;
  const Result named =
      run_rotarun(script({"-np", "1"}, "readlink /proc/$$/fd/$ROTA_RENDEZVOUS_FD"));
  EXPECT_THAT(named.out, ::testing::StartsWith("socket:"));
}

TEST_F(Start, ListensNowhereWithSharedMemory) {
  // `own` is the parent of the rank's keeper: rotarun's inner process.
  const std::string count_listeners =
      "read -r _ _ _ own _ < /proc/$PPID/stat; "
      "n=0; for fd in /proc/$own/fd/*; do case $(readlink $fd) in socket:*) i=$(readlink $fd); "
      "i=${i#socket:[}; grep -q \" 0A .* ${i%]} \" /proc/net/tcp && n=$((n+1));; esac; done; "
      "echo $n";
  EXPECT_EQ(run_rotarun(script({"-np", "1"}, count_listeners)).out, "0\n");
  EXPECT_EQ(run_rotarun(script({"-np", "1", "--transport", "tcp"}, count_listeners)).out, "1\n");
}

TEST_F(Start, GivesItsInputToTheFirstRankAlone) {
  testing::Command command = rotarun(script({"-np", "3"}, "echo $ROTA_RANK: $(cat)"));
  command.input = "some\ninput\n";
  EXPECT_THAT(sorted_lines(run(command).out), ::testing::ElementsAre("0: some input", "1:", "2:"));
}

TEST_F(Start, PassesItsEnvironmentAndSetsVariables) {
  testing::Command command =
      rotarun(script({"-np", "1", "-x", "ADDED=a,b c", "-x", "PASSED", "-x", "ROTA_TEST_UNSET"},
                     "echo $PASSED/$ADDED"));
  command.environment = {"PASSED=yes"};
  const Result result = run(command);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "yes/a,b c\n");
  EXPECT_EQ(
      result.err,
      "rotarun: warning: -x ROTA_TEST_UNSET: the variable is not set here, so the ranks do not get "
      "it\n");
}

TEST_F(Start, RunsWhereItIsTold) {
  const std::string real = std::filesystem::canonical(folder_);
  EXPECT_EQ(run_rotarun({"-np", "1", "--wdir", folder_, "pwd", "-P"}).out, real + "\n");
  std::ofstream(folder_ + "/here.sh") << "#!/bin/sh\necho found\n";
  std::filesystem::permissions(folder_ + "/here.sh", std::filesystem::perms::owner_all);
  EXPECT_EQ(run_rotarun({"-np", "1", "--wdir", folder_, "./here.sh"}).out, "found\n");
}

TEST_F(Start, FindsTheProgramInThePathThatTheRanksHave) {
  std::ofstream(folder_ + "/my-program") << "#!/bin/sh\necho mine\n";
  std::filesystem::permissions(folder_ + "/my-program", std::filesystem::perms::owner_all);
  EXPECT_EQ(run_rotarun({"-np", "1", "-x", "PATH=" + folder_ + ":/bin", "my-program"}).out,
            "mine\n");
}

TEST_F(Start, BindsRanksToCores) {
  const auto cpus = os::allowed_cpus();
  const Result result = run_rotarun(
      script({"-np", "1", "--bind-to", "core"}, "grep Cpus_allowed_list /proc/self/status"));
  const Result table = run_rotarun({"-np", "1", "--bind-to", "core", "--show-ranks"});
  const std::string bound = result.out.substr(result.out.find('\t') + 1);
  EXPECT_THAT(table.out, ::testing::EndsWith("  " + bound));
  if (cpus.size() == 1) GTEST_SKIP() << "one CPU is all there is";
  const Result free = run_rotarun(script({"-np", "1"}, "grep Cpus_allowed_list /proc/self/status"));
  EXPECT_NE(free.out, "");
}

TEST_F(Start, TakesMoreRanksThanSlots) {
  const auto count = std::to_string(3 * os::allowed_cpus().size());
  const Result result =
      run_rotarun({"-np", count, "--verbose", "--bind-to", "core", "echo", "rank"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::to_string(sorted_lines(result.out).size()), count);
  EXPECT_THAT(result.err,
              HasSubstr("there are more ranks than slots, so waiting ranks yield the CPU"));
}

TEST_F(Start, StartsManyRanksWithAFewDescriptorsAllowed) {
  const Result result = run({.arguments = {"/bin/sh", "-c",
                                           "ulimit -Sn 64; exec " + testing::rotarun_path() +
                                               " -np 100 /bin/sh -c 'ulimit -Sn'"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto lines = sorted_lines(result.out);
  EXPECT_EQ(lines.size(), 100U);
  EXPECT_THAT(lines, ::testing::Each("64"));  // Ranks get the limit that rotarun started with.
}

TEST_F(Start, GivesBackWhatItCannotStart) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "the sanitizer itself fails without descriptors";
#endif
  const Result result = run({.arguments = {"/bin/sh", "-c",
                                           "ulimit -n 40; exec " + testing::rotarun_path() +
                                               " -np 100 /bin/sleep 1000"}});
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("Too many open files"));
}

TEST_F(Start, StaysBelowALimitOfFileSizes) {
  const std::string command = testing::rotarun_path() + " -np 2 " + test_path("member check");
  const Result result = run({.arguments = {"/bin/bash", "-c", "ulimit -f 10240; exec " + command}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// The command line is right, so rotarun does not send the user to --help.
TEST_F(Start, CannotRunWhereALimitOfFileSizesLeavesNoRoom) {
  for (const std::string kibibytes : {"10", "1000"}) {
    const std::string command = "ulimit -f " + kibibytes + "; exec " + testing::rotarun_path();
    const Result result = run({.arguments = {"/bin/bash", "-c", command + " -np 2 echo ran"}});
    EXPECT_EQ(result.exit_code, 126);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("(ulimit -f) leaves no room for it: raise the limit, or use "
                                      "--transport tcp"));
    EXPECT_THAT(result.err, Not(HasSubstr("--help")));
  }
}

#if !defined(ROTA_IS_SANITIZED)  // A sanitizer has more addresses than any limit allows.
TEST_F(Start, StaysBelowALimitOfAddresses) {
  const std::string command = testing::rotarun_path() + " -np 2 " + kSum;
  const Result result = run({.arguments = {"/bin/sh", "-c", "ulimit -v 6000000; exec " + command}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 1 of 2 by rotarun -np 2: 3\n"));
}

// The arenas of both ranks, which each rank maps, take half of the 512 MB.
TEST_F(Start, StaysBelowALowLimitOfAddresses) {
  const std::string command = testing::rotarun_path() + " --verbose -np 2 " + kSum;
  const Result result = run({.arguments = {"/bin/sh", "-c", "ulimit -v 500000; exec " + command}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rank 1 of 2 by rotarun -np 2: 3\n"));
  EXPECT_THAT(result.err, HasSubstr("an arena of 122 MiB for each rank, as ulimit -v allows"));
}

// rotarun chooses the size of the arenas, and does not know the limit that each rank sets.
TEST_F(Start, NamesTheLimitOfAddressesWhereARankHasTooFew) {
  const Result result = run_rotarun(script({"-np", "2"}, "ulimit -v 1500000; exec " + kSum));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err,
              HasSubstr("Cannot allocate memory; this process may have 1536000000 bytes "
                        "of addresses (ulimit -v): raise the limit"));
}
#endif

TEST_F(Start, ShowsTheRankTableAndStartsNothing) {
  const Result result = run_rotarun({"-np", "2", "--show-ranks", "echo", "started"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("world 2 on 1 host"));
  EXPECT_THAT(result.out, HasSubstr("rank  local  host"));
  EXPECT_THAT(result.out, Not(HasSubstr("started")));
}

TEST_F(Start, SaysItsVersionAndHelp) {
  EXPECT_THAT(run_rotarun({"--version"}).out, ::testing::StartsWith("rotarun "));
  EXPECT_THAT(run_rotarun({"--help"}).out, HasSubstr("rotarun -np 4 ./train"));
}

TEST_F(Start, LeavesTheProgramsOptionsToTheProgram) {
  EXPECT_EQ(run_rotarun({"-np", "1", "echo", "--verbose", "-np", "3"}).out, "--verbose -np 3\n");
}

TEST_F(Start, LeavesIgnoredSignalsIgnored) {
  Process process({.arguments = {"/bin/sh", "-c",
                                 "trap '' HUP; exec " + testing::rotarun_path() +
                                     " -np 1 /bin/sh -c 'echo ready; sleep 0.3; echo survived'"}});
  ASSERT_TRUE(process.wait_for("ready"));
  process.signal(SIGHUP);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("survived"));
}

TEST_F(Start, RunsWithItsStandardDescriptorsClosed) {
  const std::string file = folder_ + "/ran";
  const Result result =
      run({.arguments = {"/bin/sh", "-c",
                         "exec " + testing::rotarun_path() +
                             " -np 2 /bin/sh -c 'echo $ROTA_RANK >> " + file + "' <&- >&- 2>&-"}});
  EXPECT_EQ(result.exit_code, 0);
  std::ifstream in(file);
  EXPECT_THAT(sorted_lines(std::string(std::istreambuf_iterator<char>(in), {})),
              ::testing::ElementsAre("0", "1"));
}

// Loading OpenSSL and c-ares would take longer than the rest of a start.
TEST_F(Start, OnOneHostLoadsNoLibraryThatOnlySeveralHostsNeed) {
  const Result result = run({.arguments = {"/usr/bin/ldd", testing::rotarun_path()}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("libhwloc"));
  EXPECT_THAT(result.out, Not(HasSubstr("libcrypto")));
  EXPECT_THAT(result.out, Not(HasSubstr("libssl")));
  EXPECT_THAT(result.out, Not(HasSubstr("libcares")));
}

}  // namespace
}  // namespace rota::launcher

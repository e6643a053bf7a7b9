// Tests programs of MPICH under rotarun on one host: MPI_Init finds all ranks, and a rank that
// stays away from them ends the job. The ranks spin while they wait, so they make few calls.
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "launcher/launched.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

const std::string kRank = test_path("mpich_rank");

class Mpich : public Launched {
 protected:
  // Returns the files of MPICH and of its network library in the system's shared memory.
  static std::set<std::string> shared_memory() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      const std::string name = entry.path().filename().string();
      if (name.find("mpich") != std::string::npos || name.find("ucx") != std::string::npos)
        names.insert(name);
    }
    return names;
  }

  // Returns those of the files that nobody removes. Jobs of other tests remove theirs.
  static std::set<std::string> left_of(std::set<std::string> files) {
    const auto end = std::chrono::steady_clock::now() + seconds(20);
    while (!files.empty() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(20));
      const std::set<std::string> now = shared_memory();
      std::erase_if(files, [&](const std::string& file) { return !now.contains(file); });
    }
    return files;
  }

  Result run_ranks(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--oversubscribe", "--ports", ports_.range()});
    return run_rotarun(std::move(arguments));
  }

 private:
  testing::OwnPorts ports_;
};

TEST_F(Mpich, FindsAllRanks) {
  for (const char* np : {"1", "2", "4"}) {
    const std::string count = np;
    const int world_size = std::stoi(count);
    const Result result = run_ranks({"-np", count, kRank});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    std::vector<std::string> expected;
    expected.reserve(static_cast<std::size_t>(world_size));
    for (int rank = 0; rank < world_size; ++rank) {
      expected.push_back(std::to_string(rank) + " of " + count + ", " + count + " near, sum " +
                         std::to_string(world_size * (world_size + 1) / 2));
    }
    EXPECT_EQ(sorted_lines(result.out), expected);
  }
}

// Only --mpi can say that a script starts an MPI program.
TEST_F(Mpich, IsServedBehindAScript) {
  const auto arguments = script({"-np", "2", "--mpi", "pmi"}, "exec " + kRank);
  const Result result = run_ranks(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 of 2, 2 near, sum 3"));
  EXPECT_EQ(result.err, "");
}

TEST_F(Mpich, IsOneWorldOfSeveralPrograms) {
  const Result result = run_ranks({"-np",
                                   "1",
                                   kRank,
                                   ":",
                                   "-np",
                                   "1",
                                   "--mpi",
                                   "none",
                                   "/bin/sh",
                                   "-c",
                                   "echo PMI $PMI_RANK $PMI_FD",
                                   ":",
                                   "-np",
                                   "1",
                                   kRank,
                                   ":",
                                   "--role",
                                   "evaluator",
                                   "--mpi",
                                   "pmi",
                                   "/bin/sh",
                                   "-c",
                                   "echo evaluator $PMI_RANK $PMI_FD"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out),
            (std::vector<std::string>{"0 of 2, 2 near, sum 3", "1 of 2, 2 near, sum 3", "PMI",
                                      "evaluator"}));
}

TEST_F(Mpich, RunsAloneIfNobodyServesIt) {
  const Result result = run_ranks({"-np", "2", "--mpi", "none", kRank});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "0 of 1, 1 near, sum 1\n0 of 1, 1 near, sum 1\n");
}

TEST_F(Mpich, HasTheEnvironmentThatAPersonWants) {
  const auto arguments =
      script({"-np", "2", "--mpi", "pmi", "-x", "PMI_SIZE=9"}, "echo $PMI_RANK $PMI_SIZE; exit 1");
  EXPECT_THAT(run_ranks(arguments).out, HasSubstr("0 9\n"));
}

TEST_F(Mpich, CannotSpawn) {
  const Result result = run_ranks({"-np", "1", kRank, "spawn"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("not spawned\n"));
  EXPECT_THAT(result.out, HasSubstr("0 of 1, 1 near, sum 1\n"));
}

TEST_F(Mpich, AbortsWithItsCode) {
  const Result result = run_ranks({"-np", "3", kRank, "abort", "1"});
  EXPECT_EQ(result.exit_code, 42);
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr("MPI_Abort, or an error in MPI, with code 42"));
}

TEST_F(Mpich, EndsWhenARankFails) {
  const Result result = run_ranks({"-np", "3", kRank, "fail", "2"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("rank 2 (pid "));
  EXPECT_THAT(result.err, HasSubstr("exited with code 3"));
}

TEST_F(Mpich, EndsWhenARankIsKilledAndLeavesNoSharedMemory) {
  const std::set<std::string> before = shared_memory();
  Process job(rotarun({"--oversubscribe", "-v", "-np", "2", kRank, "hang", "1"}));
  ASSERT_TRUE(job.wait_for("1 of 2, 2 near, sum 3"));
  const std::string sign = "rank 1 is process ";
  const std::size_t at = job.err().find(sign);
  ASSERT_NE(at, std::string::npos);
  ::kill(std::stoi(job.err().substr(at + sign.size())), SIGKILL);
  const Result result = job.wait();
  EXPECT_EQ(result.exit_code, 137);
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL"));
  std::set<std::string> after = shared_memory();
  std::erase_if(after, [&](const std::string& file) { return before.contains(file); });
  EXPECT_THAT(left_of(after), ::testing::IsEmpty());
}

TEST_F(Mpich, EndsWhenARankLeavesWithoutFinalize) {
  const Result result = run_ranks({"-np", "2", kRank, "leave", "1"});
  EXPECT_EQ(result.exit_code, 79);
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr("it called MPI_Init, but not MPI_Finalize"));
}

// Method: rank 0 waits in MPI_Init for rank 1, which never calls it.
TEST_F(Mpich, EndsWhenARankIsKilledInABarrier) {
  const Result result = run_ranks(
      script({"-np", "2", "--mpi", "pmi"},
             "[ $ROTA_RANK = 1 ] && exec sleep 60; (sleep 1; kill -9 $$) & exec " + kRank));
  EXPECT_EQ(result.exit_code, 137);
  EXPECT_THAT(result.err, HasSubstr("rank 0 (pid "));
  EXPECT_EQ(result.out, "");
}

// Method: the program sleeps after MPI_Init, in which it finds itself alone.
TEST_F(Mpich, IsWarnedOfWithItsOption) {
  const Result result =
      run_ranks(script({"-np", "2"}, "timeout -s KILL 1 " + kRank + " hang $ROTA_RANK; true"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("has loaded libmpich.so.12"));
  EXPECT_THAT(result.err, HasSubstr("--mpi pmi serves it"));
}

TEST_F(Mpich, EndsWhenARankEndsBeforeInit) {
  const Result result = run_ranks({"-np", "2", kRank, "exit-first", "0"});
  EXPECT_EQ(result.exit_code, 79);
  EXPECT_THAT(result.err, HasSubstr("rank 0 (pid "));
  EXPECT_THAT(result.err, HasSubstr("it did not call MPI_Init"));
}

TEST_F(Mpich, EndsWhenARankStaysAway) {
  const Result result = run_ranks({"-np", "2", kRank, "stay-away", "1"});
  EXPECT_EQ(result.exit_code, 201);
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr("within 10 s after rank 0 did"));
}

TEST_F(Mpich, EndsWhenItsRanksWaitTooLong) {
  const Result stays = run_ranks({"-np", "2", "--join-timeout", "2", kRank, "stay-away", "1"});
  EXPECT_EQ(stays.exit_code, 201);
  EXPECT_THAT(stays.err, HasSubstr("within 2 s after rank 0 did"));
  const Result hangs = run_ranks({"-np", "2", "--join-timeout", "2", kRank, "hang", "1"});
  EXPECT_EQ(hangs.exit_code, 201);
  EXPECT_THAT(hangs.err, HasSubstr("for 2 s (--join-timeout); absent: rank 1"));
}

// Method: both ranks ignore SIGTERM, so the end of the job takes as long as --grace.
TEST_F(Mpich, DoesNotKeepACoreBusyWhileItEnds) {
  const auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    return seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const auto before = used();
  const std::string text = R"(trap '' TERM; say='cmd=init pmi_version=1 pmi_subversion=1\n'
[ $PMI_RANK = 1 ] || printf "$say" >&$PMI_FD
sleep 60)";
  const Result result = run_ranks({"-np", "2", "--mpi", "pmi", "--join-timeout", "0.2", "--grace",
                                   "3", "/bin/bash", "-c", text});
  EXPECT_EQ(result.exit_code, 201) << result.err;
  EXPECT_LT(used() - before, seconds(1));
}

TEST_F(Mpich, MustBeTheMpiThatIsAskedFor) {
  const Result result = run_ranks({"-np", "2", "--mpi", "pmix", kRank});
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr(kRank + " needs libmpich.so.12, which uses PMI-1, but --mpi "
                                            "asks for PMIx"));
}

TEST_F(Mpich, IsExplained) {
  const Result result =
      run_rotarun({"-np", "2", "--explain", kRank, ":", "-np", "1", "--mpi", "none", "/bin/sh"});
  EXPECT_THAT(
      result.out,
      HasSubstr("MPI: " + kRank + " needs libmpich.so.12, so rotarun serves PMI-1 to its ranks\n"));
  EXPECT_THAT(result.out, HasSubstr("MPI: /bin/sh names no MPI library, and rotarun serves no MPI "
                                    "to its ranks (--mpi none)\n"));
}

}  // namespace
}  // namespace rota::launcher

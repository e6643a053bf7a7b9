// --transport mpi sends the messages of programs over an MPI that they do not know, and what is
// missing or contradictory is an error.
#include <filesystem>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

using Words = std::vector<std::string>;

class TransportMpi : public Launched {
 protected:
  void TearDown() override {
    EXPECT_TRUE(testing::all_gone_within(seconds(5))) << "a process was left behind";
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "files were left in TMPDIR";
  }

  Result run_over_mpi(Words words) const {
    const Words options = {"--transport", "mpi", "--oversubscribe"};
    words.insert(words.begin(), options.begin(), options.end());
    testing::Command command = rotarun(std::move(words));
    command.environment = {"TMPDIR=" + folder_, "ROTA_MPI_LIBRARY=/of/an/outer/rank"};
    return run(std::move(command));
  }

  static Words sums_of(const std::string& count, const std::string& sum) {
    Words lines;
    for (int rank = 0; rank < std::stoi(count); ++rank) {
      lines.push_back("rank " + std::to_string(rank) + " of " + count + " by rotarun -np " + count +
                      " over mpi: " + sum);
    }
    return lines;
  }
};

// A rotarun in a folder of its own has no library near.
class TransportMpiElsewhere : public Launched {
 protected:
  Result run_elsewhere(Words words) const {
    std::filesystem::create_directory(folder_ + "/bin");
    for (const char* name : {"rotarun", "rotarun-pmix"}) {
      if (!std::filesystem::exists(testing::bin_path(name))) continue;
      std::filesystem::copy_file(testing::bin_path(name), folder_ + "/bin/" + name,
                                 std::filesystem::copy_options::skip_existing);
    }
    words.insert(words.begin(), {folder_ + "/bin/rotarun", "--transport", "mpi"});
    return run({.arguments = std::move(words)});
  }
};

TEST_F(TransportMpiElsewhere, IsRefusedWithoutALibrary) {
  const Result any = run_elsewhere({"-np", "2", kSum});
  EXPECT_EQ(any.exit_code, 126);
  EXPECT_THAT(any.err, HasSubstr("--transport mpi needs rota's library for an MPI"));
  EXPECT_THAT(any.err, HasSubstr("libopenmpi-dev"));
  EXPECT_THAT(any.err, HasSubstr(folder_)) << "it says where it has looked";
  const Result mpich = run_elsewhere({"-np", "2", "--mpi", "pmi", kSum});
  EXPECT_EQ(mpich.exit_code, 126);
  EXPECT_THAT(mpich.err, HasSubstr("needs rota's library for MPICH, librota_mpi_mpich.so."));
  EXPECT_EQ(run_elsewhere({"-np", "1", kSum}).exit_code, 0) << "one rank sends no messages";
}

TEST_F(TransportMpiElsewhere, SaysInItsExplanationThatNoLibraryIsThere) {
  const Result result = run_elsewhere({"-np", "2", "--explain", kSum});
  EXPECT_THAT(result.out, HasSubstr("the job cannot start: --transport mpi needs rota's library"));
}

TEST_F(TransportMpi, IsRefusedWithOptionsThatContradictIt) {
  const Result encrypted = run_over_mpi({"-np", "2", "--encrypt", kSum});
  EXPECT_EQ(encrypted.exit_code, 2);
  EXPECT_THAT(encrypted.err, HasSubstr("rota cannot encrypt what MPI sends"));
  const Result without = run_over_mpi({"-np", "2", "--mpi", "none", kSum});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("--mpi none and --transport mpi"));
}

TEST_F(TransportMpi, NeedsNoMpiForOneRank) {
  const Result alone = run_over_mpi({"-np", "1", kSum});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
}

// Method: /bin/true uses neither rota nor MPI.
TEST_F(TransportMpi, BlamesAProgramThatMakesNoCommunicator) {
  const Result result = run_over_mpi({"-np", "2", "--mpi", "pmi", "true"});
  EXPECT_EQ(result.exit_code, 79) << result.err;
  EXPECT_THAT(result.err, HasSubstr("it made no Communicator of all ranks"));
}

// Method: only rank 1 has the wrong library. Rank 0 would wait in MPI_Init.
TEST_F(TransportMpi, EndsAllRanksWhereOneHasNoLibrary) {
  const std::vector<std::pair<std::string, std::string>> libraries = {
      {"/nonexistent/library.so", "cannot open shared object file"},
      {"libm.so.6", "it has no table of MPI functions"},
      {test_path("launcher/libmpi_table.so"), "it has version 7 of the table of MPI functions"}};
  for (const auto& [library, why] : libraries) {
    const Result result = run_over_mpi({"-np", "1", "--mpi", "pmi", kSum, ":", "-np", "1", "--mpi",
                                        "pmi", "-x", "ROTA_MPI_LIBRARY=" + library, kSum});
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.err,
                ::testing::ContainsRegex("rank 1 .pid [0-9]+, .*. exited with code 3: the job's "
                                         "transport is mpi, but this rank cannot use the library"));
    EXPECT_THAT(result.err, HasSubstr(library + ": "));
    EXPECT_THAT(result.err, HasSubstr(why));
  }
}

#if defined(ROTA_HAS_OPEN_MPI)
TEST_F(TransportMpi, PrefersOpenMpiAndSaysSo) {
  const Result explained = run_over_mpi({"-np", "2", "--explain", kSum});
  EXPECT_THAT(explained.out, HasSubstr("names no MPI library, and rotarun serves PMIx"));
  EXPECT_THAT(explained.out, HasSubstr("librota_mpi_openmpi.so"));
  const Result result = run_over_mpi({"-np", "3", kSum, "transport"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(sorted_lines(result.out), sums_of("3", "6"));
}

// MPI_Finalize would wait for the other ranks, and only then would anybody see the failure.
TEST_F(TransportMpi, EndsWithTheCodeOfARankThatFails) {
  const Result result = run_over_mpi({"-np", "3", kSum, "fail"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_THAT(result.out, Not(HasSubstr("nobody has ended the job")));
}

TEST_F(TransportMpi, HasNoEvaluatorInTheWorldOfMpi) {
  const Result result =
      run_over_mpi({"-np", "2", kSum, "transport", ":", "--role", "evaluator", "sh", "-c",
                    "echo library: ${ROTA_MPI_LIBRARY-none}; sleep 1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Words lines = sums_of("2", "3");
  lines.insert(lines.begin(), "library: none");
  EXPECT_EQ(sorted_lines(result.out), lines);
}

TEST_F(TransportMpi, IsRefusedWhereProgramsHaveTwoMpis) {
  const Result result =
      run_over_mpi({"-np", "1", "--mpi", "pmi", kSum, ":", "-np", "1", "--mpi", "pmix", kSum});
  EXPECT_EQ(result.exit_code, 126) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the programs of a job are one MPI world"));
}
#endif

#if defined(ROTA_HAS_OPEN_MPI) && defined(ROTA_HAS_MPICH)
// Method: the library for MPICH finds no launcher where rotarun serves PMIx.
TEST_F(TransportMpi, RefusesAnMpiThatKnowsAnotherWorld) {
  const std::string library = testing::bin_path("../lib/mpi/librota_mpi_mpich.so");
  const Result result =
      run_over_mpi({"-np", "2", "--mpi", "pmix", "-x", "ROTA_MPI_LIBRARY=" + library, kSum});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("for MPICH it is rank 0 of 1: --mpi names the MPI"));
}
#endif

#if defined(ROTA_HAS_MPICH)
// Method: the program of rank 1 takes the MPI of rank 0.
TEST_F(TransportMpi, GoesOverMpichWhereOneProgramAsksForIt) {
  const Result result = run_over_mpi(
      {"-np", "1", "--mpi", "pmi", kSum, "transport", ":", "-np", "1", kSum, "transport"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(sorted_lines(result.out), sums_of("2", "3"));
}
#endif

}  // namespace
}  // namespace rota::launcher

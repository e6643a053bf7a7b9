// The examples of MPICH, and the patterns of well-known benchmarks, run with each MPI and in each
// world as under that MPI's own launcher.
#include "mpi_programs/on_worlds.h"

namespace rota::testing {
namespace {

class Examples : public OnWorlds,
                 public ::testing::WithParamInterface<std::tuple<std::string, Slots>> {
 protected:
  static std::string mpi() { return std::get<0>(GetParam()); }
  static Slots slots() { return std::get<1>(GetParam()); }

  // Expects a line of each rank.
  static void expect_all_ranks(const std::string& out, const std::string& before,
                               const std::string& after) {
    for (std::size_t rank = 0; rank < size_of(slots()); ++rank) {
      EXPECT_THAT(out, HasSubstr(before + std::to_string(rank) + after));
    }
  }

  const std::string of_all_ = " of " + std::to_string(size_of(slots()));
};

TEST_P(Examples, SayHello) {
  const std::string out = output_on(slots(), {program_of("hellow", mpi())});
  expect_all_ranks(out, "Hello world from process ", of_all_ + "\n");
}

TEST_P(Examples, ComputePi) {
  const std::string out = output_on(slots(), {program_of("cpi", mpi())});
  expect_all_ranks(out, "Process ", of_all_ + " is on ");
  EXPECT_THAT(out, HasSubstr("pi is approximately 3.14159265"));
}

// Rank 0 reads how exact the number is to be.
TEST_P(Examples, ComputePiAsAPersonAsks) {
  const std::string out = output_on(slots(), {program_of("icpi", mpi())}, "100\n5000\n0\n");
  EXPECT_THAT(out, HasSubstr("pi is approximately 3.14160098"));
  EXPECT_THAT(out, HasSubstr("pi is approximately 3.14159265"));
}

TEST_P(Examples, PassAMessageRound) {
  const std::string out = output_on(slots(), {program_of("srtest", mpi())});
  expect_all_ranks(out, "", " received 'hello there'");
}

TEST_P(Examples, FollowThePatternsOfBenchmarks) {
  const std::string out = output_on(slots(), {program_of("patterns", mpi())});
  expect_all_ranks(out, "rank ", of_all_ + ": all right\n");
  EXPECT_THAT(out, AllOf(HasSubstr("latency "), HasSubstr("bandwidth ")));
}

TEST_P(Examples, EndWithTheCodeOfMpiAbort) {
  const std::string victim = std::to_string(size_of(slots()) - 1);
  for (const Result& result :
       run_on(slots(), {program_of("mpi_member", mpi()), "abort", victim, "42"})) {
    EXPECT_EQ(result.exit_code, 42) << result.err;
    EXPECT_THAT(result.err, HasSubstr("rank " + victim + " (pid "));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Examples,
                         ::testing::Combine(::testing::ValuesIn(mpis()),
                                            ::testing::Values(Slots{4}, Slots{2, 2}, Slots{3, 1},
                                                              Slots{3, 1, 3})),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_on_" +
                                  name_of(std::get<1>(test.param));
                         });

class StandardAbi : public OnWorlds {};

// Any MPI may be behind the standard's ABI; here it is MPICH.
TEST_F(StandardAbi, IsServedWhereAPersonSaysHow) {
  const std::string program = program_of("hellow", "of_standard_abi");
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "no MPI with the standard's ABI";
  const std::string out = output_on({2, 2}, {"--mpi", "pmi", program});
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_THAT(out, HasSubstr("process " + std::string(rank) + " of 4\n"));
  }
  const Result alone = run_on({2}, {program}).front();
  EXPECT_THAT(alone.err, HasSubstr("needs libmpi_abi.so.1, which any MPI may be"));
}

}  // namespace
}  // namespace rota::testing

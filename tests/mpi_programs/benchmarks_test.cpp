// Benchmarks and libraries of Debian, which are built with MPI by other people, run unchanged.
#include "mpi_programs/on_worlds.h"

namespace rota::testing {
namespace {

const std::string kPython = "/usr/bin/python3";  // With Debian's mpi4py.

class Benchmarks : public OnWorlds, public ::testing::WithParamInterface<Slots> {
 protected:
  std::string run_mpi4py(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"--mpi", "pmix", kPython, "-m", "mpi4py.bench"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return output_on(GetParam(), all);
  }

  static std::string count() { return std::to_string(size_of(GetParam())); }
};

TEST_P(Benchmarks, OfMpi4pySayHello) {
  const std::string out = run_mpi4py({"helloworld"});
  for (std::size_t rank = 0; rank < size_of(GetParam()); ++rank) {
    EXPECT_THAT(out, HasSubstr("I am process " + std::to_string(rank) + " of " + count() + " on "));
  }
}

TEST_P(Benchmarks, OfMpi4pyGoRound) {
  EXPECT_THAT(run_mpi4py({"ringtest", "-n", "1000", "-l", "20"}),
              AllOf(HasSubstr("time for 20 loops = "),
                    HasSubstr("(" + count() + " processes, 1000 bytes)")));
}

TEST_P(Benchmarks, OfBoostMpiAdd) {
  const std::size_t size = size_of(GetParam());
  const std::string digits = std::string("0123456").substr(0, size);
  const std::string out = output_on(GetParam(), {test_path("mpi_programs/boost_sum")});
  for (std::size_t rank = 0; rank < size; ++rank) {
    EXPECT_THAT(out,
                HasSubstr(std::to_string(rank) + " of " + count() + ": sum " +
                          std::to_string(size * (size + 1) / 2) + ", digits " + digits + "\n"));
  }
}

// Method: a small problem for Linpack, and no further sizes for the transposition.
TEST_P(Benchmarks, OfHpccFindNothingWrong) {
  std::ifstream usual("/usr/share/doc/hpcc/examples/_hpccinf.txt");
  std::ofstream own(current_folder() + "/hpccinf.txt");
  for (std::string line; std::getline(usual, line);) {
    if (line.starts_with("1000 ")) line = "64 Ns";
    if (line.starts_with("80 ")) line = "16 NBs";
    own << line << "\n";
  }
  own.close();
  output_on(GetParam(), {"hpcc"});
  std::ifstream file(current_folder() + "/hpccoutf.txt");
  const std::string report{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(report, HasSubstr("\nSuccess=1\n"));
  EXPECT_THAT(report, HasSubstr("\nCommWorldProcs=" + count() + "\n"));
  EXPECT_THAT(report, HasSubstr("End of HPC Challenge tests."));
}

INSTANTIATE_TEST_SUITE_P(On, Benchmarks,
                         ::testing::Values(Slots{4}, Slots{2, 2}, Slots{3, 1}, Slots{3, 1, 3}),
                         [](const auto& test) { return name_of(test.param); });

class NetPipe : public Benchmarks {};

// NetPIPE takes two ranks. Its last message is three bytes longer than the limit.
TEST_P(NetPipe, MeasuresUpToTheLimit) {
  for (const std::string program : {"NPopenmpi", "NPmpich2"}) {
    const std::string out = output_on(
        GetParam(), {program, "-u", "4096", "-n", "20", "-o", current_folder() + "/np.out"});
    EXPECT_THAT(out, AllOf(HasSubstr("0: "), HasSubstr("1: "))) << program;
    EXPECT_THAT(out, HasSubstr("4099 bytes     20 times -->")) << program;
  }
}

INSTANTIATE_TEST_SUITE_P(On, NetPipe, ::testing::Values(Slots{2}, Slots{1, 1}),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace rota::testing

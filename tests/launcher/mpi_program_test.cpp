// rotarun refuses MPI programs or warns about them, because without an MPI launcher each rank of an
// MPI program silently is an MPI world of one.
#include <filesystem>
#include <fstream>

#include "launcher/launched.h"
#include "launcher/ranks/elf_needs.h"
#include "launcher/ranks/mpi_program.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

const std::string kMpirun = "/usr/bin/mpirun";

class MpiProgram : public Launched {
 protected:
  static Result under_mpirun(std::vector<std::string> arguments) {
    const std::vector<std::string> mpirun = {kMpirun, "--allow-run-as-root", "--oversubscribe"};
    arguments.insert(arguments.begin(), mpirun.begin(), mpirun.end());
    return run({.arguments = std::move(arguments)});
  }

  // Returns the path of a copy of rotarun. The copy does not find rotarun-pmix, so it cannot serve
  // Open MPI.
  std::string without_server() const {
    for (const char* name : {"rotarun", "rotarun-hosts", "rota-preflight"}) {
      std::filesystem::copy_file(testing::bin_path(name), folder_ + "/" + name,
                                 std::filesystem::copy_options::skip_existing);
    }
    return folder_ + "/rotarun";
  }
  Result run_without_server(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), without_server());
    return run({.arguments = std::move(arguments)});
  }

  const testing::OwnPorts ports_;  // Ranks of other tests use other ports.
};

TEST_F(MpiProgram, IsRefusedWhereNoServerIsInstalled) {
  for (const char* name : {"needs_mpi", "needs_mpi_by_its_library"}) {
    const Result result = run_without_server({"-np", "2", test_path(name)});
    EXPECT_EQ(result.exit_code, 126) << name << ": " << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(test_path(name) + " needs libmpi.so.40"));
    EXPECT_THAT(result.err, HasSubstr("--mpi none"));
    EXPECT_THAT(result.err, HasSubstr("libpmix-dev"));
  }
  const Result asked = run_without_server({"-np", "2", "--mpi", "pmix", "/bin/true"});
  EXPECT_EQ(asked.exit_code, 126) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("libpmix-dev"));
}

TEST_F(MpiProgram, FindsItsLibrariesWhereverALinkToItLies) {
  const std::string link = folder_ + "/linked";
  std::filesystem::create_symlink(test_path("needs_mpi_by_its_library"), link);
  const Result result = run_without_server({"-np", "2", link});
  EXPECT_EQ(result.exit_code, 126) << result.err;
  EXPECT_THAT(result.err, HasSubstr(link + " needs libmpi.so.40"));
}

TEST_F(MpiProgram, RunsAloneAndWhereItIsAllowed) {
  const Result alone = run_without_server({"-np", "1", test_path("needs_mpi")});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_EQ(alone.out, "started\n");
  const Result allowed =
      run_rotarun({"-np", "2", "--oversubscribe", "--mpi", "none", test_path("needs_mpi"), "1"});
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_EQ(allowed.out, "started\nstarted\n");
  EXPECT_EQ(allowed.err, "");
}

// Method: the other host never joins, and the job then ends for that reason.
TEST_F(MpiProgram, MayBeTheOnlyRankOnAnotherHost) {
  const auto run_there = [this](const std::string& np) {
    return run_without_server({"-np", np, "-H", "192.0.2.1:4", "--address", "127.0.0.1", "--agent",
                               "false", "--ports", ports_.range(), test_path("needs_mpi")});
  };
  EXPECT_THAT(run_there("1").err, Not(HasSubstr("needs libmpi")));
  EXPECT_THAT(run_there("2").err, HasSubstr("needs libmpi.so.40"));
}

TEST_F(MpiProgram, IsUnusableByAPreflight) {
  const Result result = run_without_server({"-np", "2", "--preflight", test_path("needs_mpi")});
  EXPECT_EQ(result.exit_code, 20) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("needs libmpi.so.40"));
  EXPECT_THAT(result.out, HasSubstr("start the program with mpirun"));
}

// Any MPI may be behind the standard's ABI. The program may end before rotarun looks at it.
TEST_F(MpiProgram, IsWarnedOfWhereAnyMpiMayBeBehindIt) {
  const std::string program = test_path("needs_any_mpi");
  const Result result = run_rotarun({"-np", "2", "--oversubscribe", program});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "started\nstarted\n");
  EXPECT_THAT(result.err, HasSubstr(program + " needs libmpi_abi.so.1, which any MPI may be"));
  for (const std::string count : {"1", "2"}) {
    const std::string choice = count == "1" ? "auto" : "none";
    EXPECT_EQ(run_rotarun({"-np", count, "--oversubscribe", "--mpi", choice, program}).err, "");
  }
}

// If a script starts the program, rotarun sees the program only when it runs.
TEST_F(MpiProgram, IsWarnedOfWhereAScriptStartsIt) {
  const auto arguments =
      script({"-np", "2", "--oversubscribe"}, test_path("needs_mpi") + " 2; true");
  const Result result = run_rotarun(arguments);
  EXPECT_EQ(result.exit_code, 0);
  const std::string warning = "(needs_mpi) has loaded libmpi.so.40";
  ASSERT_THAT(result.err, HasSubstr(warning));
  EXPECT_THAT(result.err, HasSubstr("--mpi pmix serves it"));
  EXPECT_EQ(result.err.find(warning), result.err.rfind(warning)) << "it is said once";
  auto allowed = arguments;
  allowed.insert(allowed.begin(), {"--mpi", "none"});
  EXPECT_EQ(run_rotarun(allowed).err, "");
}

TEST_F(MpiProgram, HasTheWorldThatMpirunMadeForIt) {
  if (!std::filesystem::exists(kMpirun)) GTEST_SKIP() << "mpirun is not installed";
  const Result result = under_mpirun({"-np", "3", testing::rotarun_path(), "--insecure", "--ports",
                                      ports_.range(), test_path("mpi_hello")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out), (std::vector<std::string>{"0 of 3", "1 of 3", "2 of 3"}));
  EXPECT_THAT(result.err, Not(HasSubstr("has loaded")));
  EXPECT_EQ(under_mpirun({"-np", "3", testing::rotarun_path(), "--insecure", "--ports",
                          ports_.range(), test_path("needs_mpi")})
                .out,
            "started\nstarted\nstarted\n");
}

TEST_F(MpiProgram, IsRefusedWhereSeveralRanksAreStartedForOneOfMpiruns) {
  if (!std::filesystem::exists(kMpirun)) GTEST_SKIP() << "mpirun is not installed";
  const Result result = under_mpirun(
      {"-np", "1", without_server(), "-np", "2", "--oversubscribe", test_path("needs_mpi")});
  EXPECT_EQ(result.exit_code, 126) << result.err;
  EXPECT_THAT(result.err, HasSubstr("needs libmpi.so.40"));
}

// If one turn of the event loop read the mapped files of thousands of processes, rotarun would seem
// to hang.
TEST(MpiWatch, LooksAtSomeProcessesAtATime) {
  constexpr std::size_t kCount = 100;
  const base::TimePoint start = base::Clock::now();
  MpiWatch watch(start);
  const base::TimePoint first = *watch.next_look();
  std::size_t list_count = 0;
  const auto list = [&] {
    ++list_count;
    return std::vector<int>(kCount, os::own_process());
  };
  EXPECT_EQ(watch.look(first, list), "");
  EXPECT_LE(*watch.next_look(), first) << "the watch looks at the rest without a pause";
  std::size_t turn_count = 1;
  while (watch.next_look().value_or(first + seconds(1)) <= first) {
    EXPECT_EQ(watch.look(first, list), "");
    ASSERT_LE(++turn_count, kCount);
  }
  EXPECT_GE(turn_count, 10U);
  EXPECT_EQ(list_count, 1U);
  EXPECT_GT(*watch.next_look(), first);
}

TEST(ElfNeeds, AreReadOfPrograms) {
  const auto needs = read_elf_needs(test_path("needs_mpi"));
  ASSERT_TRUE(needs);
  EXPECT_THAT(needs->libraries, Contains("libmpi.so.40"));
  EXPECT_THAT(needs->libraries, Contains("libc.so.6"));
  EXPECT_THAT(needs->folders, Not(IsEmpty()));
  EXPECT_EQ(mpi_library_of(testing::rotarun_path(), ""), "");
  EXPECT_EQ(mpi_library_of("/bin/sh", ""), "");
}

// The bytes of a file may be wrong anywhere; the reader stays within the file.
TEST(ElfNeeds, AreNoneOfWhatIsNoProgram) {
  const std::string path = ::testing::TempDir() + "elf_" + std::to_string(os::own_process());
  const auto needs_of = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return read_elf_needs(path);
  };
  EXPECT_FALSE(read_elf_needs("/nonexistent"));
  EXPECT_FALSE(read_elf_needs("/"));
  EXPECT_FALSE(needs_of(""));
  EXPECT_FALSE(needs_of("#!/bin/sh\n"));
  std::ifstream file(test_path("needs_mpi"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (const std::size_t length : {4U, 16U, 63U, 64U, 400U, 1000U}) {
    const auto cut = needs_of(whole.substr(0, length));
    const auto libraries = cut ? cut->libraries : std::vector<std::string>();
    EXPECT_THAT(libraries, Not(Contains("libmpi.so.40"))) << length;
  }
  for (std::size_t at = 16; at < 64; ++at) {
    std::string changed = whole;
    changed[at] = '\xff';
    (void)needs_of(changed);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rota::launcher

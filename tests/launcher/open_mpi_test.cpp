// Unchanged Open MPI programs find their world under rotarun, end as other programs do, and leave
// nothing behind.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "launcher/launched.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

const std::string kMember = test_path("openmpi_member");
const std::string kPmixMember = test_path("pmix_member");

// Returns the names in a folder that are of MPI.
std::set<std::string> files_of_mpi(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    for (const char* stem : {"rotarun-mpi", "vader_segment", "sm_segment", "ompi.", "pmix"}) {
      if (name.starts_with(stem)) names.insert(name);
    }
  }
  return names;
}

class OpenMpi : public Launched {
 protected:
  void TearDown() override {
    EXPECT_TRUE(testing::all_gone_within(seconds(5))) << "a process was left behind";
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "files were left in TMPDIR";
    EXPECT_TRUE(new_files_of_mpi().empty()) << *new_files_of_mpi().begin();
  }

  testing::Command command(std::vector<std::string> arguments) const {
    testing::Command command = rotarun(std::move(arguments));
    command.environment.push_back("TMPDIR=" + folder_);
    return command;
  }

  // Runs the member with `act` as so many ranks.
  Result run_member(const std::string& count, std::vector<std::string> act) const {
    std::vector<std::string> arguments = {"-np", count, "--oversubscribe", kMember};
    arguments.insert(arguments.end(), act.begin(), act.end());
    return run(command(std::move(arguments)));
  }

  std::vector<std::string> hello_of(std::size_t count) const {
    std::vector<std::string> lines;
    for (std::size_t rank = 0; rank < count; ++rank) {
      lines.push_back(std::to_string(rank) + " of " + std::to_string(count));
    }
    return lines;
  }

  // Other tests may run Open MPI too, and remove their files meanwhile.
  std::set<std::string> new_files_of_mpi() const {
    std::set<std::string> files = files_of_mpi("/dev/shm");
    std::erase_if(files, [this](const std::string& file) { return before_.contains(file); });
    return files;
  }

  const std::set<std::string> before_ = files_of_mpi("/dev/shm");
};

TEST_F(OpenMpi, SaysHello) {
  for (const std::size_t count : {1, 2, 5}) {
    const Result result = run_member(std::to_string(count), {"hello"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(sorted_lines(result.out), hello_of(count));
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(OpenMpi, AddsOverItsRanks) {
  const Result result = run_member("3", {"sum"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out),
            (std::vector<std::string>{"0 of 3: sum 6", "1 of 3: sum 6", "2 of 3: sum 6"}));
}

// Method: a script is no program that names an MPI library in its file.
// Programs that are one MPI world tell by this number which ranks are theirs.
TEST_F(OpenMpi, KnowsTheNumberOfItsProgram) {
  const Result result = run(command({"--oversubscribe", "-np", "1", kMember, "number", ":", "-np",
                                     "2", kMember, "number", ":", "-np", "1", kMember, "number"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out),
            (std::vector<std::string>{"0 is of program 0", "1 is of program 1", "2 is of program 1",
                                      "3 is of program 2"}));
}

TEST_F(OpenMpi, RunsFromAScriptWhereItIsAskedFor) {
  const Result result = run(command(script({"-np", "2", "--mpi", "pmix"}, kMember)));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out), hello_of(2));
}

// Method: torchrun starts one rotarun for each rank, all on one machine.
TEST_F(OpenMpi, IsOneWorldOfSeveralRotaruns) {
  const testing::OwnPorts ports;
  std::vector<std::unique_ptr<Process>> all;
  for (const std::string rank : {"0", "1", "2"}) {
    testing::Command each = command({"--insecure", "--ports", ports.range(), kMember, "sum"});
    for (const std::string& variable :
         {"RANK=" + rank, "LOCAL_RANK=" + rank, std::string("WORLD_SIZE=3"),
          std::string("LOCAL_WORLD_SIZE=3"), std::string("GROUP_WORLD_SIZE=1"),
          std::string("MASTER_ADDR=127.0.0.1"), "MASTER_PORT=" + ports.first(),
          std::string("TORCHELASTIC_RESTART_COUNT=0")}) {
      each.environment.push_back(variable);
    }
    all.push_back(std::make_unique<Process>(std::move(each)));
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Result result = all[rank]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, std::to_string(rank) + " of 3: sum 6\n");
  }
}

TEST_F(OpenMpi, EndsWithTheCodeOfMpiAbort) {
  const Result result = run_member("3", {"abort", "1", "42"});
  EXPECT_EQ(result.exit_code, 42) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_THAT(result.out, HasSubstr("rank 1 begins to abort")) << "the last line is not lost";
}

TEST_F(OpenMpi, EndsWhereARankIsKilled) {
  const Result result = run_member("3", {"die", "2"});
  EXPECT_EQ(result.exit_code, 137) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 2"));
}

TEST_F(OpenMpi, EndsWhereARankLeavesWithoutFinalize) {
  const Result result = run_member("3", {"leave", "0"});
  EXPECT_EQ(result.exit_code, 79) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 0"));
  EXPECT_THAT(result.err, HasSubstr("MPI_Finalize"));
}

TEST_F(OpenMpi, EndsWhereARankFinalizesTwice) {
  const Result result = run_member("2", {"twice"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank "));
  EXPECT_THAT(result.err, HasSubstr("MPI_Finalize() function was called after MPI_FINALIZE"));
}

// Method: rank 0 waits in MPI_Init for rank 1, which never calls it.
TEST_F(OpenMpi, EndsWhereARankIsKilledInAFence) {
  const Result result = run(command(script(
      {"-np", "2", "--mpi", "pmix"},
      "[ $ROTA_RANK = 1 ] && exec sleep 60; (sleep 1; kill -9 $$) & exec " + kMember + " hello")));
  EXPECT_EQ(result.exit_code, 137) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 0"));
  EXPECT_EQ(result.out, "");
}

TEST_F(OpenMpi, IsNotServedByAnotherProtocol) {
  const Result result = run(command({"-np", "2", "--mpi", "pmi", kMember, "hello"}));
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr(", which uses PMIx, but --mpi asks for PMI-1"));
}

TEST_F(OpenMpi, IsOfOneKindInAJob) {
  const Result result =
      run(command({"-np", "1", kMember, "hello", ":", "-np", "1", "--mpi", "pmi", "/bin/true"}));
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err,
              HasSubstr(kMember + " uses PMIx, but /bin/true uses PMI-1: the programs of a job are "
                                  "one MPI world"));
}

TEST_F(OpenMpi, NeedsTheLibraryOfPmix) {
  const std::string library = folder_ + "/libpmix.so.2";
  std::ofstream(library).close();
  testing::Command broken = command({"-np", "2", "-x", "LD_LIBRARY_PATH=", kMember, "hello"});
  broken.environment.push_back("LD_LIBRARY_PATH=" + folder_);
  const Result result = run(std::move(broken));
  std::filesystem::remove(library);
  EXPECT_EQ(result.exit_code, 126) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot load libpmix.so.2, install PMIx"));
}

// Open MPI's mpirun refuses to start there, and the job ends with its code.
TEST_F(OpenMpi, StartsNoMpirunInARank) {
  const std::string mpirun = "mpirun.openmpi --allow-run-as-root -np 1 " + kMember + " hello";
  const Result result = run(command(script({"-np", "2", "--mpi", "pmix"}, mpirun)));
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("does not support recursive calls"));
}

TEST_F(OpenMpi, EndsWhereARankStaysAway) {
  const Result result = run_member("2", {"absent", "1"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_THAT(result.err, HasSubstr("MPI_Init"));
}

TEST_F(OpenMpi, EndsWellWhereItsServerIsLate) {
  const Result result = run(command({"-np", "2", "--mpi", "pmix", kPmixMember, "late"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out), (std::vector<std::string>{"0 ends", "1 ends"}));
  EXPECT_EQ(result.err, "");
}

TEST_F(OpenMpi, EndsWhereItsServerIsKilled) {
  const Result result = run(command({"-np", "2", "--mpi", "pmix", kPmixMember, "kill"}));
  EXPECT_EQ(result.exit_code, 201) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rotarun-pmix, the PMIx server of "));
  EXPECT_THAT(result.err, HasSubstr(", was killed, or has failed, while ranks needed it"));
}

TEST_F(OpenMpi, EndsWhereARankStaysAwayLongerThanTheOthersWait) {
  const Result result =
      run(command({"-np", "2", "--oversubscribe", "--join-timeout", "2", kMember, "absent", "1"}));
  EXPECT_EQ(result.exit_code, 201);
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_THAT(result.err, HasSubstr("within 2 s after rank 0 did"));
}

TEST_F(OpenMpi, IsToldThatNoProcessCanBeSpawned) {
  const Result result = run_member("1", {"spawn"});
  EXPECT_THAT(result.out, Not(HasSubstr("spawned")));
}

TEST_F(OpenMpi, TakesSettingsOfAPerson) {
  const std::string show = "echo $OMPI_MCA_btl $JSM_JSRUN_PORT";
  EXPECT_EQ(run(command(script({"-np", "1", "--mpi", "pmix", "-x", "OMPI_MCA_btl=self", "-x",
                                "JSM_JSRUN_PORT=7"},
                               show + "; " + kMember + " >/dev/null")))
                .out,
            "self 7\n");
}

// Programs read these variables before MPI_Init, to choose a device.
TEST_F(OpenMpi, HasTheNumbersOfItsWorldInVariables) {
  const std::string show =
      "echo $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE "
      "$OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_UNIVERSE_SIZE $PMIX_RANK; ";
  std::vector<std::string> arguments = {
      "--oversubscribe", "-np",  "1",       "--mpi", "none", "/bin/sh", "-c", show, ":", "-np", "2",
      "--mpi",           "pmix", "/bin/sh", "-c"};
  arguments.push_back(show + "exec " + kMember + " >/dev/null");
  EXPECT_EQ(sorted_lines(run(command(std::move(arguments))).out),
            (std::vector<std::string>{"0/2 0/2 2 0", "0/3 0/3 3", "1/2 1/2 2 1"}));
}

// A variable has precedence over a person's file in Open MPI, and rotarun sets variables.
TEST_F(OpenMpi, TakesSettingsOfAFileAndOfEachProgram) {
  const std::string show = "echo $0 $OMPI_MCA_pml $OMPI_MCA_btl; exec " + kMember + " >/dev/null";
  std::vector<std::string> arguments = {"-np",     "1",  "--mpi", "pmix",
                                        "/bin/sh", "-c", show,    "plain"};
  for (const char* argument : {":", "-np", "1", "--mpi", "pmix", "-x", "OMPI_MCA_osc=rdma",
                               "/bin/sh", "-c", show.c_str(), "chosen"}) {
    arguments.emplace_back(argument);
  }
  EXPECT_EQ(sorted_lines(run(command(arguments)).out),
            (std::vector<std::string>{"chosen", "plain ob1 tcp,vader,self"}));
  const std::string home = folder_ + "_home";
  std::filesystem::create_directories(home + "/.openmpi");
  std::ofstream(home + "/.openmpi/mca-params.conf") << "btl = tcp,self\n";
  testing::Command with_file = command(std::move(arguments));
  with_file.arguments.insert(with_file.arguments.begin(), {"/usr/bin/env", "HOME=" + home});
  EXPECT_EQ(sorted_lines(run(std::move(with_file)).out),
            (std::vector<std::string>{"chosen", "plain"}));
  std::filesystem::remove_all(home);
}

// A PMIx server believes who knows the name of the job, so no user of this host may see the name.
TEST_F(OpenMpi, HasASecretName) {
  const Result result =
      run(command(script({"-np", "1", "--mpi", "pmix"}, "echo $PMIX_NAMESPACE; ls -d " + folder_ +
                                                            "/* /dev/shm/*; exec " + kMember)));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string name = result.out.substr(0, result.out.find('\n'));
  EXPECT_THAT(result.out, HasSubstr(folder_ + "/rotarun-mpi-"));
  EXPECT_GE(name.size(), 32U);
  EXPECT_EQ(result.out.rfind(name), 0U) << result.out;
}

TEST_F(OpenMpi, NeedsAFolderForItsFiles) {
  testing::Command without = rotarun({"-np", "2", kMember});
  without.environment.push_back("TMPDIR=" + folder_ + "/missing");
  const Result result = run(std::move(without));
  EXPECT_EQ(result.exit_code, 126) << result.err;
  EXPECT_THAT(result.err, HasSubstr("let TMPDIR name a folder"));
}

// Method: the ranks have another working directory than rotarun. A relative path of the folder
// would lead each of them elsewhere.
TEST_F(OpenMpi, FindsItsFilesFromEveryDirectory) {
  std::filesystem::create_directories(folder_ + "/there");
  testing::Command command = rotarun({"-np", "2", "--wdir", folder_ + "/there", kMember});
  command.environment.push_back("TMPDIR=" + std::filesystem::relative(folder_).string());
  const Result result = run(std::move(command));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("ERROR")));  // PMIx goes on without its files.
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/there"));
  std::filesystem::remove(folder_ + "/there");
}

// Method: the ranks wait for one that sleeps, and their rotarun is killed meanwhile. Ranks are
// children of keepers, which are children of the inner process.
TEST_F(OpenMpi, LeavesNothingWhereRotarunIsKilled) {
  for (const std::string victims : {"inner", "outer", "both"}) {
    Process process(command(script(
        {"-np", "2", "--mpi", "pmix"},
        "read -r _ _ _ inner _ < /proc/$PPID/stat; echo inner $inner;" + kMember + " stay")));
    ASSERT_TRUE(process.wait_for("0 stays"));
    ASSERT_TRUE(process.wait_for("1 stays"));
    const int inner = std::stoi(process.out().substr(process.out().find("inner ") + 6));
    if (victims != "outer") ::kill(inner, SIGKILL);
    if (victims != "inner") process.signal(SIGKILL);
    process.wait();
    EXPECT_TRUE(testing::all_gone_within(seconds(10))) << victims;
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << victims;
    EXPECT_TRUE(new_files_of_mpi().empty()) << victims << ": " << *new_files_of_mpi().begin();
  }
}

}  // namespace
}  // namespace rota::launcher

// Tests which source describes the job if several are present, what --explain prints about that
// source, and the resulting rank table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "specification/given.h"

namespace rota::cluster {
namespace {

using ::testing::HasSubstr;

const std::string kWorkerTfConfig =
    R"(TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":1}})";

// Sets each source together with all later ones. The first of them decides.
TEST(Reading, AsksTheSourcesInTheirOrder) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> rows = {
      {"torchrun", {"LOCAL_RANK=0", "RANK=1", "WORLD_SIZE=2"}},
      {"Open MPI", {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}},
      {"PMIx", {"PMIX_RANK=1", "PMIX_NAMESPACE=x"}},
      {"PMI", {"PMI_RANK=1", "PMI_SIZE=2"}},
      {"Slurm step", {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2"}},
      {"ROTA_HOSTS", {"ROTA_HOSTS=a,b"}},
      {"TF_CONFIG", {kWorkerTfConfig}},
      {"Kubeflow Trainer", {"PET_NNODES=2", "PET_NODE_RANK=1"}},
      {"PyTorchJob", {"RANK=1", "WORLD_SIZE=2"}},
      {"Indexed Job", {"JOB_COMPLETION_INDEX=1"}},
      {"Slurm allocation", {"SLURM_JOB_NODELIST=a,b"}},
  };
  for (auto first = rows.begin(); first != rows.end(); ++first) {
    std::vector<std::string> variables;
    for (auto row = first; row != rows.end(); ++row) {
      variables.insert(variables.end(), row->second.begin(), row->second.end());
    }
    const bool needs_count = first->first == "Indexed Job";
    if (needs_count) variables = {"JOB_COMPLETION_INDEX=1", "ROTA_HOSTS=2"};
    const Given given = given_of(variables, needs_count ? "b-1" : "b");
    EXPECT_EQ(read(given).chosen.source, first->first);
  }
}

TEST(Explain, SaysWhoDecidesAndWhatTheOthersSay) {
  EXPECT_EQ(explain(given_of({kWorkerTfConfig, "RANK=1", "WORLD_SIZE=2"}, "b")),
            "decided by TF_CONFIG: host 1 (b:1) of 2, rendezvous at a:1\n"
            "all sources, in order of precedence:\n"
            "  TF_CONFIG: host 1 (b:1) of 2\n"
            "  PyTorchJob: host 1 of 2\n");
}

TEST(Explain, SaysWhatIsWrong) {
  const std::string text = explain(given_of({kWorkerTfConfig, "RANK=x", "WORLD_SIZE=2"}));
  EXPECT_THAT(text, HasSubstr("undecided: RANK is 'x'"));
  EXPECT_THAT(text, HasSubstr("  TF_CONFIG: host 1 (b:1) of 2\n  PyTorchJob: RANK is 'x'"));
  EXPECT_THAT(explain(given_of({"ROTA_HOSTS=3"})), HasSubstr("undecided: ROTA_HOSTS is 3"));
}

TEST(Explain, SaysThatNobodySaysAnything) {
  EXPECT_EQ(explain(given_of({})),
            "decided by this host: host 0 (alpha) of 1, rendezvous at alpha\n"
            "nothing else says anything\n");
  EXPECT_THAT(explain(given_of({"ROTA_SLOTS=2"})), HasSubstr("decided by this host by ROTA_SLOTS"));
}

std::string rows_of(const RankTable& table) {
  std::string text;
  for (const RankRow& row : table.rows) {
    text += (text.empty() ? "" : " ") + row.host + "/" + std::to_string(row.local_rank);
    if (!row.address.empty()) text += "@" + row.address;
  }
  return text;
}

TEST(RankTable, HasARowForEachDeclaredSlot) {
  const auto table = [](const std::vector<std::string>& variables) {
    return make_table(read(given_of(variables)).chosen, 2);
  };
  EXPECT_EQ(rows_of(table({"ROTA_HOSTS=x:1,y:3"})), "x/0 y/0 y/1 y/2");
  EXPECT_EQ(rows_of(table({"ROTA_HOSTS=x:1,y"})), "x/0 y/0 y/1");
  EXPECT_EQ(rows_of(table({"ROTA_HOSTS=x:1,y", "ROTA_WORLD=4"})), "x/0 y/0 y/1 y/2");
  EXPECT_EQ(rows_of(table({kWorkerTfConfig})), "a/0@a:1 b/0@b:1");
  EXPECT_EQ(table({kWorkerTfConfig}).transport, "tcp");
  EXPECT_EQ(rows_of(table({kWorkerTfConfig, "ROTA_WORLD=4"})), "a/0@a:1 a/1@a:1 b/0@b:1 b/1@b:1");
  EXPECT_EQ(table({kWorkerTfConfig, "ROTA_WORLD=4"}).transport, "shm+tcp");
  EXPECT_EQ(table({"ROTA_HOSTS=x:1,y:1"}).transport, "tcp");
  EXPECT_EQ(table({"ROTA_SLOTS=2"}).transport, "shm");
  EXPECT_EQ(table({"ROTA_SLOTS=1"}).transport, "none");
  EXPECT_EQ(table({"SLURM_JOB_NODELIST=x", "SLURM_RESTART_COUNT=2"}).epoch, 2U);
}

// A list of tasks gives a rank to each task, however many cores the hosts have. Declared slots
// override the list.
TEST(Slots, AreOneForEachTaskThatAListNames) {
  const auto slots = [](const Given& given) { return slots_of(read(given).chosen, 64); };
  const std::vector<std::size_t> ones = {1, 1};
  EXPECT_EQ(slots(given_of({kWorkerTfConfig})), ones);
  EXPECT_EQ(slots(given_of({"RANK=0", "WORLD_SIZE=2"})), ones);
  Given flags = given_of({});
  flags.arguments = {"--worker_hosts=a:1,b:1", "--job_name=worker", "--task_index=0"};
  EXPECT_EQ(slots(flags), ones);
  const std::vector<std::size_t> declared = {3, 3};
  EXPECT_EQ(slots(given_of({kWorkerTfConfig, "ROTA_SLOTS=3"})), declared);
  EXPECT_EQ(slots(given_of({kWorkerTfConfig, "ROTA_WORLD=6"})), declared);
  EXPECT_EQ(slots(given_of({"RANK=0", "WORLD_SIZE=6", "PET_NPROC_PER_NODE=3"})), declared);
  const std::vector<std::size_t> found = {64, 64};
  EXPECT_EQ(slots(given_of({"ROTA_HOSTS=a,b"})), found);
}

TEST(Slots, OfOtherHostsAreUnknownWhereEachIsToldItsOwn) {
  const auto are_unknown = [](const std::vector<std::string>& variables) {
    return has_unknown_slots(read(given_of(variables, "b")).chosen);
  };
  EXPECT_FALSE(are_unknown({kWorkerTfConfig}));
  EXPECT_FALSE(are_unknown({kWorkerTfConfig, "ROTA_SLOTS=2", "ROTA_WORLD=4"}));
  EXPECT_FALSE(are_unknown({"ROTA_HOSTS=a:1,b:3"}));
  EXPECT_TRUE(are_unknown({kWorkerTfConfig, "ROTA_SLOTS=2"}));
  EXPECT_TRUE(are_unknown({"ROTA_HOSTS=a,b"}));
  EXPECT_TRUE(are_unknown({"ROTA_HOSTS=a,b", "ROTA_SLOTS=1"}));
}

// "gpu" is the number of CUDA devices of this host. "auto" is the same if the host has CUDA
// devices.
TEST(Slots, AreTheDevicesOfThisHostWhereAProcessIsForEach) {
  const auto slots = [](const std::string& count, std::optional<std::size_t> devices) {
    Given given = given_of({"PET_NNODES=2", "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=" + count});
    given.device_count = devices;
    return read(given).chosen.hosts[1].slots;
  };
  EXPECT_EQ(slots("gpu", 3), 3U);
  EXPECT_EQ(slots("auto", 3), 3U);
  EXPECT_EQ(slots("auto", 0), std::nullopt);
  EXPECT_EQ(slots("cpu", 3), std::nullopt);
  EXPECT_EQ(slots("gpu", std::nullopt), std::nullopt);  // The devices were not counted.
  Given without = given_of({"PET_NNODES=2", "PET_NODE_RANK=1", "PET_NPROC_PER_NODE=gpu"});
  without.device_count = 0;
  EXPECT_THAT(refusal_of(without), HasSubstr("PET_NPROC_PER_NODE is gpu, but this host, 'alpha', "
                                             "has no usable CUDA device"));
}

TEST(HostFile, OfAVariableIsNamedByIt) {
  Given given = given_of({});
  given.hostfile = HostFile{.path = "/etc/mpi/hostfile",
                            .text = "w-0.w slots=2\nw-1.w slots=2\n",
                            .given_by = "OMPI_MCA_orte_default_hostfile"};
  const Specification chosen = read(given).chosen;
  EXPECT_EQ(chosen.source, "OMPI_MCA_orte_default_hostfile /etc/mpi/hostfile");
  EXPECT_TRUE(chosen.is_start_list);
  EXPECT_EQ(rows_of(make_table(chosen, 9)), "w-0.w/0 w-0.w/1 w-1.w/0 w-1.w/1");
}

TEST(RankTable, LeavesOutWhoIsOutsideOfTheRing) {
  const Specification chosen =
      read(given_of({R"(TF_CONFIG={"cluster":{"worker":["b:1"],"chief":["a:1"],"ps":["p:1"],)"
                     R"("evaluator":["e:1"]},"task":{"type":"evaluator","index":0}})"}))
          .chosen;
  EXPECT_EQ(rows_of(make_table(chosen, 1)), "a/0@a:1 b/0@b:1");
}

TEST(RankTable, IsRefusedWhereHostsAreUnknown) {
  const Specification chosen =
      read(given_of({"LOCAL_RANK=0", "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=a"})).chosen;
  EXPECT_THROW(make_table(chosen, 1), Error);
  const Specification many = read(given_of({"ROTA_HOSTS=x:4096,y:1"})).chosen;
  EXPECT_THROW(make_table(many, 1), Error);
}

TEST(Reach, EndsAtThisHostOrGoesBeyondIt) {
  const auto reaches = [](const std::vector<std::string>& variables) {
    return reaches_beyond_this_host(read(given_of(variables)).chosen);
  };
  EXPECT_FALSE(reaches({}));
  EXPECT_FALSE(reaches({"ROTA_HOSTS=localhost:4"}));
  EXPECT_FALSE(reaches({"PMI_RANK=0", "PMI_SIZE=1"}));
  EXPECT_TRUE(reaches({"PMI_RANK=0", "PMI_SIZE=2"}));
  EXPECT_TRUE(reaches({"PMIX_RANK=0", "PMIX_NAMESPACE=x"}));  // The count is unknown.
  EXPECT_TRUE(reaches({"ROTA_HOSTS=other"}));
  EXPECT_TRUE(reaches({kWorkerTfConfig}));
}

}  // namespace
}  // namespace rota::cluster

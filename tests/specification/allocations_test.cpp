// Tests the allocations of PBS, LSF and SGE, which are files with the hosts of a job: what rota
// reads from them, what it refuses, and how they agree with other sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "specification/given.h"

namespace rota::cluster {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns the input on host n1, where a variable names a file with this text.
Given given_by(const std::string& variable, const std::string& text,
               const std::vector<std::string>& variables = {}) {
  Given given = given_of(variables, "n1");
  given.node_files = {{.path = "/aux/5", .text = text, .given_by = variable}};
  return given;
}

const std::vector<std::pair<std::string, std::string>> kFiles = {
    {"PBS_NODEFILE", "n1\nn1\nn2\n"},
    {"LSB_DJOB_HOSTFILE", "n1\nn1\nn2\n"},
    {"PE_HOSTFILE", "n1 2 all.q@n1 UNDEFINED\nn2 1 all.q@n2 UNDEFINED\n"},
};
const std::vector<std::string> kNames = {"PBS allocation", "LSF allocation", "SGE allocation"};

TEST(Allocations, HaveTheHostsAndSlotsOfTheirFiles) {
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    const Specification chosen = read(given_by(kFiles[i].first, kFiles[i].second)).chosen;
    EXPECT_EQ(chosen.source, kNames[i]);
    EXPECT_EQ(to_text(chosen), "host 0 (n1) of 2, rendezvous at n1") << kNames[i];
    EXPECT_EQ(hosts_text(chosen), "n1*2 n2*1") << kNames[i];
    EXPECT_TRUE(chosen.is_room) << kNames[i];
    EXPECT_FALSE(chosen.has_srun) << kNames[i];
    EXPECT_TRUE(reaches_beyond_this_host(chosen)) << kNames[i];
  }
  EXPECT_TRUE(read(given_of({"SLURM_JOB_NODELIST=n1"})).chosen.has_srun);
}

TEST(Allocations, FindThisHostByAnyOfItsNames) {
  EXPECT_EQ(read(given_by("PBS_NODEFILE", "n2\nn1.cluster\n")).chosen.own_host, std::size_t{1});
  Given given = given_by("PBS_NODEFILE", "10.0.0.1\n10.0.0.2\n");
  given.host_addresses = {"10.0.0.2"};
  EXPECT_EQ(read(given).chosen.own_host, std::size_t{1});
  EXPECT_EQ(read(given_by("PBS_NODEFILE", "n8\nn9\n")).chosen.own_host, std::nullopt);
  EXPECT_EQ(to_text(read(given_by("PBS_NODEFILE", "n9\n")).chosen),
            "1 host (n9), rendezvous at n9");
}

// The number of ranks of a job on one host follows from the CPUs, as without a batch system.
TEST(Allocations, SayNothingWhereTheyAreThisHostAlone) {
  for (const char* text : {"n1\n", "n1\nn1\nn1\n", "n1.cluster\r\n", "localhost\n"}) {
    const Specification chosen = read(given_by("PBS_NODEFILE", text)).chosen;
    EXPECT_EQ(chosen.source, kThisHost) << text;
    EXPECT_EQ(hosts_text(chosen), "n1") << text;
  }
}

TEST(Allocations, AreAskedAfterAllHostsThatAreNamed) {
  Given given = given_of({"ROTA_HOSTS=n2,n1", "SLURM_JOB_NODELIST=n[1-2]"}, "n1");
  for (const auto& [variable, text] : kFiles) {
    given.node_files.push_back({.path = "/aux/5", .text = text, .given_by = variable});
  }
  EXPECT_EQ(read(given).chosen.source, "ROTA_HOSTS");
  EXPECT_EQ(hosts_text(read(given).chosen), "n2 n1");
  given.environment = given_of({"SLURM_JOB_NODELIST=n[1-2]"}).environment;
  EXPECT_EQ(read(given).chosen.source, "Slurm allocation");
  given.environment = {};
  for (const std::string& name : kNames) {
    EXPECT_EQ(read(given).chosen.source, name);
    given.node_files.erase(given.node_files.begin());
  }
  EXPECT_EQ(read(given).chosen.source, kThisHost);
}

TEST(Allocations, ContradictHostsThatTheyHaveNoRoomFor) {
  const std::string text = "n1\nn2\n";
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", text, {"ROTA_HOSTS=n1,n3"})),
              HasSubstr("ROTA_HOSTS and PBS allocation contradict each other about the hosts"));
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", text, {"ROTA_HOSTS=3"})),
              HasSubstr("ROTA_HOSTS is 3, and PBS allocation says host 0 (n1) of 2"));
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", text, {"SLURM_JOB_NODELIST=n[1-3]"})),
              HasSubstr("PBS allocation and Slurm allocation contradict each other"));
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", text, {"SLURM_JOB_NODELIST=n1"})),
              HasSubstr("PBS allocation and Slurm allocation contradict each other"));
}

// This host may have the same place on both sides, and a text names only the first few hosts.
TEST(Allocations, NameTheHostThatTheyHaveNoRoomFor) {
  EXPECT_EQ(refusal_of(given_by("PBS_NODEFILE", "n1\nn2\n", {"ROTA_HOSTS=n1:1,n9:1"})),
            "ROTA_HOSTS and PBS allocation contradict each other about the hosts (PBS allocation "
            "has no n9): ROTA_HOSTS says 2 hosts (n1, n9); PBS allocation says 2 hosts (n1, n2); "
            "leave out the one that is wrong");
  const std::string eight = "n1\nn2\nn3\nn4\nn5\nn6\nn7\nn8\n";
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", eight, {"ROTA_HOSTS=n1,n2,n3,n4,n5,n6,n7,n9"})),
              HasSubstr("the hosts (PBS allocation has no n9): "));
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", eight, {"SLURM_JOB_NODELIST=n[1-9]"})),
              HasSubstr("the hosts (PBS allocation has no n9): "));
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", eight, {"SLURM_JOB_NODELIST=n[1-7]"})),
              HasSubstr("the hosts (Slurm allocation has no n8): "));
  EXPECT_THAT(refusal_of(given_by("PBS_NODEFILE", "n1\nn2\n", {"RANK=0", "WORLD_SIZE=3"})),
              HasSubstr("PyTorchJob and PBS allocation contradict each other about the hosts (PBS "
                        "allocation has only 2): PyTorchJob says 3 hosts"));
}

// ROTA_HOSTS=1 may be meant for a job of this host alone, whichever source has more hosts.
TEST(Allocations, SayHowToUseOneHostOfSeveral) {
  const std::string remedy = ", or give rotarun --this-host for a job of this host alone";
  for (const auto& [variable, text] : kFiles) {
    EXPECT_THAT(refusal_of(given_by(variable, text, {"ROTA_HOSTS=1"})),
                AllOf(HasSubstr("ROTA_HOSTS is 1, and "), EndsWith(remedy)));
    EXPECT_THAT(refusal_of(given_by(variable, text, {"ROTA_HOSTS=3"})), Not(HasSubstr(remedy)));
  }
  for (const std::vector<std::string>& variables : std::vector<std::vector<std::string>>{
           {"SLURM_JOB_NODELIST=n[1-2]"}, {"PET_NNODES=2", "PET_NODE_RANK=0"}}) {
    std::vector<std::string> declared = variables;
    declared.emplace_back("ROTA_HOSTS=1");
    EXPECT_THAT(refusal_of(given_of(declared, "n1")), EndsWith(remedy)) << variables.front();
  }
}

// A rank of another launcher, and a process of rotarun, have the variable of the whole job.
TEST(Allocations, AreOfNoConcernToARank) {
  const std::string text = "n1\nn2\n";
  EXPECT_EQ(refusal_of(given_by("PBS_NODEFILE", text, {"PMI_RANK=1", "PMI_SIZE=4"})),
            "accepted: rank 1 of 4");
  for (const char* inner : {"ROTA_RENDEZVOUS_FD=3", "ROTA_ROLE=evaluator"}) {
    EXPECT_EQ(read(given_by("PBS_NODEFILE", text, {inner})).chosen.source, kThisHost) << inner;
  }
}

TEST(Allocations, AreRefusedByVariableAndFile) {
  for (const auto& [variable, text, words] :
       std::vector<std::tuple<std::string, std::string, const char*>>{
           {"PBS_NODEFILE", "", "PBS_NODEFILE /aux/5 names no host"},
           {"LSB_DJOB_HOSTFILE", "\r\n", "LSB_DJOB_HOSTFILE /aux/5 names no host"},
           {"PE_HOSTFILE", "", "PE_HOSTFILE /aux/5 names no host"},
           {"PBS_NODEFILE", "n1\nn2 2\n", "PBS_NODEFILE /aux/5:2 has '2'"},
           {"PE_HOSTFILE", "n1\n", "PE_HOSTFILE /aux/5:1 has 'n1', but not its number of slots"},
           {"PE_HOSTFILE", "n1 x q UNDEFINED\n", "PE_HOSTFILE /aux/5:1: the slots of n1 is 'x'"},
           {"PBS_NODEFILE", "localhost\nn2\n",
            "PBS allocation has 2 hosts, and one of them is "
            "'localhost'"},
       }) {
    EXPECT_THAT(refusal_of(given_by(variable, text)), HasSubstr(words)) << text;
    EXPECT_THAT(refusal_of(given_by(variable, text, {"ROTA_HOSTS=n1,n2"})), HasSubstr(words));
  }
}

}  // namespace
}  // namespace rota::cluster

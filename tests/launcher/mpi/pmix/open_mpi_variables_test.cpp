// Open MPI gets the settings that it needs, and no setting that a person has chosen otherwise.
#include "launcher/mpi/pmix/open_mpi_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST(OpenMpiVariables, LetItLookForTheServerAndStartQuickly) {
  EXPECT_THAT(open_mpi_variables({}, {}),
              UnorderedElementsAre("JSM_JSRUN_PORT=0", "OMPI_MCA_ess_base_stream_buffering=1",
                                   "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,vader,self"));
}

TEST(OpenMpiVariables, SuitTheHost) {
  const auto variables = open_mpi_variables(
      {.is_crowded = true, .memory_folder = "/dev/shm/job", .address = "10.0.0.7"}, {});
  EXPECT_THAT(variables, Contains("OMPI_MCA_mpi_yield_when_idle=1"));
  EXPECT_THAT(variables, Contains("OMPI_MCA_btl_vader_backing_directory=/dev/shm/job"));
  EXPECT_THAT(variables, Contains("OMPI_MCA_btl_sm_backing_directory=/dev/shm/job"));
  EXPECT_THAT(variables, Contains("OMPI_MCA_btl_tcp_if_include=10.0.0.7/31"));
  EXPECT_THAT(open_mpi_variables({.address = "fd00::7"}, {}), Each(Not(HasSubstr("fd00"))));
}

TEST(OpenMpiVariables, LeaveTheTransportsToAPersonOrToAFabric) {
  EXPECT_THAT(open_mpi_variables({.has_fabric = true}, {}), Each(Not(StartsWith("OMPI_MCA_pml"))));
  for (const char* chosen : {"OMPI_MCA_pml=cm", "OMPI_MCA_btl=^tcp", "OMPI_MCA_mtl=psm2"}) {
    const auto variables = open_mpi_variables({}, {chosen});
    EXPECT_THAT(variables, Each(Not(StartsWith("OMPI_MCA_pml")))) << chosen;
    EXPECT_THAT(variables, Each(Not(StartsWith("OMPI_MCA_btl=")))) << chosen;
  }
  EXPECT_THAT(open_mpi_variables({.address = "10.0.0.7"}, {"OMPI_MCA_btl_tcp_if_exclude=lo"}),
              Each(Not(HasSubstr("if_include"))));
  EXPECT_THAT(open_mpi_variables({.is_crowded = true}, {"OMPI_MCA_mpi_yield_when_idle=0"}),
              Each(Not(HasSubstr("yield"))));
}

TEST(OpenMpiVariables, LeaveTheTransportsToAFile) {
  const auto with = [](const char* text) { return open_mpi_variables({}, settings_of(text)); };
  EXPECT_THAT(with("# pml = cm\n\nbtl_base_warn_component_unused=0\nmtl = ^ofi\nbtl = ^uct,ofi\n"),
              Contains("OMPI_MCA_pml=ob1"))
      << "Debian's file";
  EXPECT_THAT(with("btl_base_verbose = 1\n pml = cm # for the fabric\n"),
              Each(Not(StartsWith("OMPI_MCA_pml"))));
  EXPECT_THAT(with("btl = ^openib,tcp\n"), Each(Not(StartsWith("OMPI_MCA_btl="))));
  EXPECT_THAT(with("mpi_yield_when_idle = 0"), Contains("OMPI_MCA_pml=ob1"));
  EXPECT_THAT(settings_of("btl_tcp_if_include = \"eth1\"\nno setting\n"),
              UnorderedElementsAre("OMPI_MCA_btl_tcp_if_include=eth1"));
}

}  // namespace
}  // namespace rota::launcher

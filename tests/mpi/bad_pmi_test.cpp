// Tests ranks that are no MPI programs and write to PMI_FD themselves. Each of them ends the job,
// which names it.
#include <set>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

class BadPmi : public Launched {
 protected:
  // Runs two ranks; the second one runs `text`, in which `say` writes to PMI_FD and `hear` reads a
  // line of an answer.
  static Result run_script(const std::string& text) {
    const std::string common =
        "say() { printf \"$@\" >&$PMI_FD; }; hear() { read -r line <&$PMI_FD; echo \"$line\"; }; "
        "init='cmd=init pmi_version=1 pmi_subversion=1\\n'; [ $PMI_RANK = 1 ] || sleep 60; ";
    // Not every sh takes the number of a descriptor from a variable.
    return run_rotarun({"--oversubscribe", "-np", "2", "--mpi", "pmi", "/bin/bash", "-c",
                        common + text + "; sleep 60"});
  }
};

TEST_F(BadPmi, IsGarbage) {
  const Result result = run_script("say 'hello\\tyou\\n'");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr("failed: it sent \"hello?you\" to PMI_FD"));
}

TEST_F(BadPmi, IsALongLine) {
  const Result result = run_script("say '%05000d' 1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("it sent a line of more than 4096 bytes, \"000"));
}

TEST_F(BadPmi, IsOutOfTurn) {
  const Result result = run_script(R"(say "$init"; hear; say 'cmd=finalize\ncmd=finalize\n')");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("cmd=response_to_init rc=0"));
  EXPECT_THAT(result.err, HasSubstr("it sent \"cmd=finalize\" out of turn to PMI_FD"));
}

// MPICH 5 names the memory that its ranks share after the store.
TEST_F(BadPmi, IsNotWrittenIntoTheStoreOfAnotherJob) {
  const std::string ask = R"(say "$init"; hear; say 'cmd=get_my_kvsname\n'; hear; exit 1)";
  const std::string sign = "kvsname=rotarun-mpi-";
  std::set<std::string> stores;
  for (int job = 0; job < 2; ++job) {
    const Result result = run_script(ask);
    ASSERT_THAT(result.out, HasSubstr(sign));
    stores.insert(result.out.substr(result.out.find(sign)));
  }
  EXPECT_EQ(stores.size(), 2U);
}

// What is cut off is no request: the end of the process is what counts.
TEST_F(BadPmi, IsCutOff) {
  const Result result = run_script("say \"$init\"; hear; say 'cmd=final'; exit 0");
  EXPECT_EQ(result.exit_code, 79);
  EXPECT_THAT(result.err, HasSubstr("it called MPI_Init, but not MPI_Finalize"));
}

}  // namespace
}  // namespace rota::launcher

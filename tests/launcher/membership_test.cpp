// Ranks join through the real sockets and the real coordinator. The tests check what the ranks
// receive, and which rank rotarun blames when one of them fails.
#include "launcher/launched.h"

namespace rota::launcher {
namespace {

struct Harm {
  const char* behaviour;
  int code;
  const char* said;  // What rotarun says about rank 1, the victim.
};

void PrintTo(const Harm& harm, std::ostream* out) { *out << harm.behaviour; }

class Membership : public Launched {
 protected:
  static Result run_members(const std::string& world_size, const std::string& behaviour,
                            const std::string& transport = "auto") {
    return run_rotarun({"-np", world_size, "--transport", transport, "--deadline", "1",
                        test_path("member"), behaviour, "1"});
  }
};

TEST_F(Membership, GivesEachRankItsPlaceAndItsDescriptors) {
  for (const char* transport : {"shm", "tcp"}) {
    for (const char* world_size : {"1", "2", "3", "5"}) {
      const Result result = run_members(world_size, "check", transport);
      EXPECT_EQ(result.exit_code, 0) << transport << " " << world_size << ": " << result.err;
    }
  }
}

// There are more arenas than fit into one message. With --transport shm a rank gets arenas, and no
// listening socket.
TEST_F(Membership, GivesDescriptorsInSeveralMessages) {
  const Result result = run_rotarun({"-np", "270", "--transport", "shm", "--ports", "21000-21999",
                                     "--deadline", "1", test_path("member"), "check", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// Method: rank 1 requests much more than its socket holds, and reads nothing for a while. Meanwhile
// the other ranks must not have to wait, and all messages must arrive.
TEST_F(Membership, KeepsWhatADeafRankDoesNotReadYet) {
  const Result result = run_members("3", "deaf");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

class MembershipHarm : public Membership, public ::testing::WithParamInterface<Harm> {};

TEST_P(MembershipHarm, IsLaidAtTheVictimWhateverTheOthersSay) {
  const auto [behaviour, code, said] = GetParam();
  for (const char* world_size : {"2", "4"}) {
    const Result result = run_members(world_size, behaviour);
    EXPECT_EQ(result.exit_code, code) << result.err;
    const std::string line = result.err.substr(result.err.find("rotarun: rank"));
    EXPECT_THAT(line, ::testing::StartsWith("rotarun: rank 1 (pid "));
    EXPECT_THAT(line.substr(0, line.find('\n')), HasSubstr(said));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Harms, MembershipHarm,
    ::testing::Values(
        Harm{"own-failure", 42, "exited with code 42: the loss is NaN"},
        Harm{"abort-and-hang", 1, "failed: the loss is NaN"},
        Harm{"mismatch", 42, "exited with code 42: 5 elements here, 6 there"},
        Harm{"exit0", 79, "exited with code 0 while it was needed: barrier \"never\""},
        Harm{"exit5", 5, "exited with code 5"},
        Harm{"leave", 79, "left the job while it was needed"},
        Harm{"kill", 137, "was killed by SIGKILL"},
        Harm{"before-join", 137, "was killed by SIGKILL"},
        Harm{"stop", 201, "is silent: it is stopped"},
        Harm{"late", 201, "is silent: barrier \"never\" timed out after 0.3 s"},
        Harm{"garbage", 1, "failed: rank 1 sent 14 bytes over its rendezvous descriptor"},
        Harm{"oversize", 1, "failed: rank 1 sent 65536 bytes over its rendezvous descriptor"},
        Harm{"join-twice", 1, "exited with code 1"}),
    [](const auto& test) {
      std::string name = test.param.behaviour;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_F(Membership, IsNotNeeded) { EXPECT_EQ(run_rotarun({"-np", "4", "hostname"}).exit_code, 0); }

TEST_F(Membership, IsSaidWithVerbose) {
  const Result result = run_rotarun({"-np", "2", "--verbose", test_path("member"), "check", "0"});
  EXPECT_THAT(result.err, HasSubstr("rotarun: rank 0 joined after "));
  EXPECT_THAT(result.err, HasSubstr("rotarun: rank 1 joined after "));
  EXPECT_THAT(result.err, HasSubstr("rotarun: transport shm: all ranks are on one host\n"));
}

TEST_F(Membership, WorksThroughAShell) {
  const Result result = run_rotarun(script({"-np", "3"}, test_path("member check 0; exit $?")));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace rota::launcher

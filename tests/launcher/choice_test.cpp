// With --verbose, rank 0 says once which plan each collective uses, and why.
#include <sstream>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

class Choice : public Launched {
 protected:
  // Returns the lines about all-reduces and barriers.
  static std::vector<std::string> said_by(const std::vector<std::string>& arguments) {
    const Result result = run_rotarun(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> lines;
    std::istringstream in(result.err);
    for (std::string line; std::getline(in, line);) {
      const bool is_choice =
          line.starts_with("rota: all_reduce") || line.starts_with("rota: barrier");
      if (is_choice) lines.push_back(line);
    }
    return lines;
  }
};

TEST_F(Choice, IsSaidOnceForEachReasonOverTcp) {
  EXPECT_THAT(
      said_by({"-np", "4", "--verbose", "--transport", "tcp", test_path("choosing")}),
      ::testing::UnorderedElementsAre(
          "rota: all_reduce of 64 bytes float32 on 4 ranks over tcp: hub (very few bytes: the "
          "fewest messages)",
          "rota: all_reduce of 1 MiB float32 on 4 ranks over tcp: ring (many bytes: every link is "
          "busy all the time)",
          "rota: barrier on 4 ranks over tcp: dissemination (log2(world size) rounds)",
          "rota: all_reduce of 64 bytes float32 on 2 ranks of communicator 0.1/0 over tcp: hub "
          "(very few bytes: the fewest messages)",
          "rota: all_reduce of 64 bytes float32 on 2 ranks of communicator 0.1/1 over tcp: hub "
          "(very few bytes: the fewest messages)"));
}

TEST_F(Choice, IsForMemoryThatIsShared) {
  EXPECT_THAT(said_by({"-np", "3", "--verbose", "--transport", "shm", test_path("choosing")}),
              ::testing::Contains("rota: all_reduce of 64 bytes float32 on 3 ranks over shm: "
                                  "shared-memory (ranks reach each other's memory)"));
}

TEST_F(Choice, IsTheCallersWhereAPlanWasAskedFor) {
  EXPECT_THAT(
      said_by({"-np", "3", "--verbose", "--transport", "tcp", test_path("choosing"), "star"}),
      ::testing::IsSupersetOf(
          {"rota: all_reduce of 64 bytes float32 on 3 ranks over tcp: star (asked for)",
           "rota: all_reduce of 64 bytes float32 on 2 ranks of communicator 0.1/0 over tcp: star "
           "(asked for)"}));
}

TEST_F(Choice, IsKeptToItselfWithoutVerbose) {
  const Result result = run_rotarun({"-np", "3", "--oversubscribe", test_path("choosing")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(Choice, IsNoneForARankAlone) {
  EXPECT_THAT(said_by({"-np", "1", "--verbose", test_path("choosing")}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace rota::launcher

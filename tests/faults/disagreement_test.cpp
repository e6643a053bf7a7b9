// When ranks do not make the same calls, all of them soon get an error that names both sides.
// Method: real ranks under rotarun, with a deadline so long that it cannot be the cause of the
// error.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

struct Disagreement {
  const char* kind;
  const char* one_side;
  const char* other_side;
};

constexpr Disagreement kDisagreements[] = {
    {"counts", "of 100 float32", "of 1000000 float32"},
    {"order", "all_reduce", "broadcast"},
    {"root", "broadcast #1", "every rank must make the same calls"},
    {"operation", "(sum", "(max"},
    {"message", "of 100 float32", "of 1000000 float32"},
};

class DisagreementTest
    : public ::testing::TestWithParam<std::tuple<Disagreement, const char*, const char*>> {};

TEST_P(DisagreementTest, IsToldToAll) {
  const auto& [disagreement, transport, world_size] = GetParam();
  const testing::Result result =
      testing::run_rotarun({"-np", world_size, "--transport", transport, "--deadline", "1000",
                            testing::test_path("disagreement_ranks"), disagreement.kind});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_NE(result.err.find(disagreement.one_side), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(disagreement.other_side), std::string::npos) << result.err;
  std::size_t told = 0;
  for (std::size_t at = 0; (at = result.err.find("told: ", at)) != std::string::npos; ++at) {
    EXPECT_EQ(result.err.compare(at, 16, "told: mismatch: "), 0) << result.err;
    ++told;
  }
  EXPECT_GT(told, 0U) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Kinds, DisagreementTest,
                         ::testing::Combine(::testing::ValuesIn(kDisagreements),
                                            ::testing::Values("shm", "tcp"),
                                            ::testing::Values("2", "4")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).kind) + "_" +
                                  std::get<1>(tested.param) + "_" + std::get<2>(tested.param);
                         });

}  // namespace
}  // namespace rota

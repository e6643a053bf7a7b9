// Measures how long rotarun render --check takes for input from a stranger, as promised in
// docs/manifests.md.
#include <gtest/gtest.h>

#include <string>

#include "manifest/hostile.h"
#include "timed/promised.h"

namespace rota::testing {
namespace {

constexpr seconds kCheck{2};

class ACheckIsShort : public ::testing::TestWithParam<manifest::Hostile> {};

TEST_P(ACheckIsShort, WhateverItIsGiven) {
  const os::Fd file = manifest::file_with(GetParam().text());
  Command command = rotarun({"render", "--check", "-"});
  command.standard_input = file.get();
  const auto begin = Clock::now();
  EXPECT_EQ(run(command).exit_code, 78);
  expect_promise(begin, kCheck, "a check");
}

INSTANTIATE_TEST_SUITE_P(Hostile, ACheckIsShort, ::testing::ValuesIn(manifest::kHostile),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace rota::testing

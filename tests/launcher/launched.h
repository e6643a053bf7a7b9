// Has helpers for the tests of the real rotarun. A test fails if a process of its job still exists
// at the end.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota::launcher {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Process;
using testing::Result;
using testing::rotarun;
using testing::run;
using testing::run_rotarun;
using testing::test_path;

// A program that prints the sum over its world.
inline const std::string kSum = test_path("environment_rank");

// Returns the arguments of rotarun: the options, and a shell script as the program.
inline std::vector<std::string> script(std::vector<std::string> options, const std::string& text) {
  for (const char* argument : {"/bin/sh", "-c"}) options.emplace_back(argument);
  options.push_back(text);
  return options;
}

inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

// No process may outlive its test: the test's process adopts orphans and looks for them at the end.
class Launched : public ::testing::Test {
 protected:
  Launched() : folder_(::testing::TempDir() + "rotarun_" + std::to_string(::getpid())) {
    testing::adopt_orphans();
    std::filesystem::create_directories(folder_);
  }
  ~Launched() override { std::filesystem::remove_all(folder_); }

  void TearDown() override {
    EXPECT_TRUE(testing::all_gone_within(milliseconds(0))) << "a process was left behind";
  }

  const std::string folder_;  // For files of the test; empty at first, and removed afterwards.
};

}  // namespace rota::launcher

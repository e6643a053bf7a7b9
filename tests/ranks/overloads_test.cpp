// Checks that some test calls each overload of each public function of a communicator. Method: the
// shared library lists the name of each function with its arguments. The objects of the programs
// that test communicators list the functions that they call.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "testing/paths.h"
#include "testing/process.h"

namespace rota {
namespace {

using Names = std::set<std::string>;

// Returns the functions of a communicator in the output of `nm`, in C++ notation.
Names functions_by(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {ROTA_NM, "-C"});
  const testing::Result result = testing::run({.arguments = std::move(flags)});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string start = "rota::Communicator::";
  Names names;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(' ' + start);
    if (at != std::string::npos) names.insert(line.substr(at + 1 + start.size()));
  }
  return names;
}

// Returns whether the header declares the function below `private`.
bool is_inside(const std::string& name) {
  return name.starts_with("Communicator(std::shared_ptr<");
}

TEST(Overloads, AreAllCalledByATest) {
  Names all = functions_by({"-D", "--defined-only", "@" + testing::test_path("called.txt")});
  std::erase_if(all, is_inside);
  const Names called = functions_by({"--undefined-only", "@" + testing::test_path("callers.txt")});
  EXPECT_GE(all.size(), 50U) << "the output of nm has too few functions";
  for (const std::string& name : all) {
    EXPECT_TRUE(called.contains(name)) << "no test calls Communicator::" << name;
  }
}

}  // namespace
}  // namespace rota

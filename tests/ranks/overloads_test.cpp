// Every public function of a communicator, overload by overload, is called by a test.
// Method: the shared library has the name of each, arguments included; the objects of the programs
// that test communicators have those that they call.
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

// The functions of a communicator among what `nm` lists, as C++ writes them.
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

// What its header has below `private`.
bool is_inside(const std::string& name) {
  return name.starts_with("Communicator(std::shared_ptr<");
}

TEST(Overloads, AreAllCalledByATest) {
  Names all = functions_by({"-D", "--defined-only", "@" + testing::test_path("called.txt")});
  std::erase_if(all, is_inside);
  const Names called = functions_by({"--undefined-only", "@" + testing::test_path("callers.txt")});
  EXPECT_GE(all.size(), 50U) << "nm was not understood";
  for (const std::string& name : all) {
    EXPECT_TRUE(called.contains(name)) << "no test calls Communicator::" << name;
  }
}

}  // namespace
}  // namespace rota

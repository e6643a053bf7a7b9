// docs/exit_codes.md lists exactly the exit codes of rotarun. Method: the codes are read from the
// launcher's sources, so a new code cannot be left out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "testing/paths.h"

namespace rota {
namespace {

using Codes = std::set<int>;
constexpr int kSignalBase = 128;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::smatch> matches_of(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

// Returns all kExit constants of the launcher, by name. rota-checkpoint is another program.
std::map<std::string, int> constants() {
  static const std::regex kPattern(R"(constexpr int kExit(\w+) = (\d+);)");
  std::map<std::string, int> found;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(testing::source_path("launcher"))) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    if (entry.path().parent_path().filename() == "checkpoint") continue;
    const std::string text = text_of(entry.path());
    for (const auto& match : matches_of(text, kPattern)) found[match[1]] = std::stoi(match[2]);
  }
  return found;
}

// Returns the exit codes of rotarun itself, without signals: success and the constants.
Codes own_codes() {
  Codes codes = {0};
  for (const auto& [name, code] : constants()) {
    if (name != "SignalBase") codes.insert(code);
  }
  return codes;
}

// Returns the signals that a launcher watches, by the names in the launcher's source. SIGCHLD is
// not among them: it reports a rank's end, and asks for nothing.
std::set<std::string> watched_signals() {
  const std::string text = text_of(testing::source_path("launcher/job/start.cpp"));
  std::set<std::string> names;
  for (const char* list_name : {"kRequests = {", "kForRanks = {"}) {
    const std::size_t begin = text.find(list_name);
    EXPECT_NE(begin, std::string::npos) << list_name;
    const std::string list = text.substr(begin, text.find('}', begin) - begin);
    for (const auto& match : matches_of(list, std::regex(R"(SIG\w+)"))) names.insert(match.str());
  }
  return names;
}

struct Row {
  std::string code;
  std::string meaning;
};

// Returns the rows of the table that has the columns `code` and `column`.
std::vector<Row> rows_of(const std::string& column) {
  std::istringstream page(text_of(testing::source_path("docs/exit_codes.md")));
  std::vector<Row> rows;
  bool is_in_table = false;
  for (std::string line; std::getline(page, line);) {
    std::smatch cells;
    const bool is_row = std::regex_match(line, cells, std::regex(R"(\| ([^|]*) \| ([^|]*)\|.*)"));
    if (is_row && cells[1] == "code") is_in_table = cells[2].str().starts_with(column);
    is_in_table = is_in_table && line.starts_with('|');  // The first other line ends a table.
    if (is_in_table && is_row && cells[1] != "code") rows.push_back({cells[1], cells[2]});
  }
  EXPECT_FALSE(rows.empty()) << column;
  return rows;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the signal of a row such as "SIGABRT: …" or "rotarun got SIGHUP"; empty for other rows.
std::string signal_of(const Row& row) {
  std::smatch match;
  const std::regex pattern(R"((rotarun got )?(SIG\w+)[:., ].*)");
  return std::regex_match(row.meaning, match, pattern) ? match[2].str() : "";
}

TEST(ExitCodes, OfRotarunsOwnAreThoseOfTheCode) {
  ASSERT_GE(own_codes().size(), 12U) << "the sources were not understood";
  Codes listed;
  for (const Row& row : rows_of("meaning")) {
    if (is_number(row.code) && signal_of(row).empty()) listed.insert(std::stoi(row.code));
  }
  EXPECT_EQ(listed, own_codes());
}

TEST(ExitCodes, OfSignalsAre128AndTheirNumbers) {
  EXPECT_EQ(constants()["SignalBase"], kSignalBase);
  std::set<std::string> got;
  for (const Row& row : rows_of("meaning")) {
    const std::string name = signal_of(row);
    if (name.empty()) continue;
    const char* abbreviation = ::sigabbrev_np(std::stoi(row.code) - kSignalBase);
    EXPECT_EQ("SIG" + std::string(abbreviation ? abbreviation : ""), name) << row.code;
    if (row.meaning.starts_with("rotarun got")) got.insert(name);
  }
  EXPECT_EQ(got, watched_signals());
}

// The page has one row for all other codes, such as "3–76, 80–123, 125".
TEST(ExitCodes, ThatAreLeftAreTheProgramsOwn) {
  Codes left;
  const Codes own = own_codes();
  for (int code = 0; code < kSignalBase; ++code) {
    if (!own.contains(code)) left.insert(code);
  }
  Codes listed;
  for (const Row& row : rows_of("meaning")) {
    if (!row.meaning.starts_with("The program's own")) continue;
    for (const auto& match : matches_of(row.code, std::regex("(\\d+)(?:–(\\d+))?"))) {
      const int last = std::stoi(match[2].matched ? match[2] : match[1]);
      for (int code = std::stoi(match[1]); code <= last; ++code) listed.insert(code);
    }
  }
  EXPECT_EQ(listed, left);
}

TEST(ExitCodes, OfCheckpointsAreThoseOfTheExample) {
  const std::string text = text_of(testing::source_path("examples/mnist/main.cpp"));
  const std::size_t begin = text.find("enum ExitCode");
  const std::string list = text.substr(begin, text.find('}', begin) - begin);
  Codes listed;
  for (const Row& row : rows_of("of a program")) listed.insert(std::stoi(row.code));
  Codes expected;
  for (const auto& match :
       matches_of(list, std::regex(R"((?:kFailed|kDamaged|kMissing|kCannotWrite) = (\d+))"))) {
    expected.insert(std::stoi(match[1]));
  }
  EXPECT_EQ(listed, expected);
}

TEST(ExitCodes, OfAPreflightAreItsVerdicts) {
  const std::string text = text_of(testing::source_path("launcher/job/preflight_job.h"));
  const std::size_t begin = text.find("enum class Verdict");
  const std::string list = text.substr(begin, text.find('}', begin) - begin);
  Codes verdicts;
  for (const auto& match : matches_of(list, std::regex(R"(= (\d+))"))) {
    verdicts.insert(std::stoi(match[1]));
  }
  Codes listed;
  for (const Row& row : rows_of("verdict")) listed.insert(std::stoi(row.code));
  EXPECT_EQ(listed, verdicts);
}

}  // namespace
}  // namespace rota

// Holds the project's own sources against the rules. The message of a failure is the list of what
// breaks the rule, one place a line.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "style/layers.h"
#include "style/limits.h"
#include "testing/paths.h"

namespace rota::style {
namespace {

const std::filesystem::path kRoot = testing::source_path();
constexpr const char* kComponents[] = {"lib", "launcher", "examples/mnist", "benchmarks", "tests"};

std::string table_of(const std::string& folder) {
  std::ifstream file(kRoot / folder / "layers.txt");
  return {std::istreambuf_iterator<char>(file), {}};
}

Layers layers() { return parse_layers(table_of("lib")); }
Layers layers_of_launcher() { return parse_layers(table_of("launcher"), layers()); }

void append(Findings& all, const Findings& some) {
  all.insert(all.end(), some.begin(), some.end());
}

// Runs `check` on every source below `folder`, of which there is at least one.
template <class Check>
Findings check_each(const std::string& folder, const Check& check) {
  const auto sources = read_sources(kRoot, folder);
  if (sources.empty()) return {folder + ": has no sources"};
  Findings findings;
  for (const auto& source : sources) append(findings, check(source));
  return findings;
}

::testing::AssertionResult none_of(const Findings& findings) {
  if (findings.empty()) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure();
  for (const auto& finding : findings) failure << "\n" << finding;
  return failure;
}

TEST(Style, EveryFolderOfLibHasItsRowInTheTableOfLayers) {
  std::set<std::string> folders;
  for (const auto& source : read_sources(kRoot, "lib")) {
    const std::string inside = source.path.substr(std::string("lib/").size());
    folders.insert(inside.substr(0, inside.find('/')));
  }
  folders.erase("include");
  EXPECT_TRUE(none_of(check_folders(layers(), folders, "lib")));
}

TEST(Style, EveryFolderOfTheLauncherHasItsRowInTheTableOfLayers) {
  std::set<std::string> folders;
  for (const auto& source : read_sources(kRoot, "launcher")) {
    folders.insert(launcher_folder(source.path));
  }
  EXPECT_TRUE(none_of(check_folders(layers_of_launcher(), folders, "launcher")));
}

TEST(Style, LibIncludesWhatTheTableOfLayersAllows) {
  const auto check = [table = layers()](const Source& source) {
    return check_library_includes(source, table);
  };
  EXPECT_TRUE(none_of(check_each("lib", check)));
}

TEST(Style, TheLauncherIncludesWhatItsTableOfLayersAllows) {
  const auto check = [table = layers_of_launcher()](const Source& source) {
    return check_launcher_includes(source, table);
  };
  EXPECT_TRUE(none_of(check_each("launcher", check)));
}

TEST(Style, ExamplesSeeThePublicHeadersAlone) {
  EXPECT_TRUE(none_of(check_each("examples", check_example_includes)));
}

TEST(Style, FilesOpenWithWhatTheyAre) {
  for (const char* component : kComponents) {
    EXPECT_TRUE(none_of(check_each(component, check_opening)));
  }
}

TEST(Style, FilesLinesAndFunctionsStaySmall) {
  for (const char* component : kComponents) {
    EXPECT_TRUE(none_of(check_each(component, check_limits)));
  }
}

TEST(Style, WhatIsBroughtInByUsingIsUsed) {
  for (const char* component : kComponents) {
    EXPECT_TRUE(none_of(check_each(component, check_using)));
  }
}

TEST(Style, ErrnoExistsInOsAlone) {
  for (const char* component : {"lib", "launcher", "examples", "benchmarks"}) {
    EXPECT_TRUE(none_of(check_each(component, check_errno)));
  }
}

TEST(Style, EachComponentReadsTheEnvironmentInOneFile) {
  std::vector<std::string> components = {"launcher", "examples/mnist", "benchmarks"};
  for (const auto& [folder, layer] : layers()) components.push_back("lib/" + folder);
  for (const auto& component : components) {
    EXPECT_TRUE(none_of(check_environment(read_sources(kRoot, component))));
  }
}

}  // namespace
}  // namespace rota::style

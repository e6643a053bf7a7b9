// Checks the project's own sources against the rules. A failure lists the places that break the
// rule, one per line.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "style/layers.h"
#include "style/layers_picture.h"
#include "style/limits.h"
#include "style/names.h"
#include "style/prose.h"
#include "testing/paths.h"

namespace rota::style {
namespace {

const std::filesystem::path kRoot = testing::source_path();
constexpr const char* kComponents[] = {"lib", "launcher", "examples/mnist", "benchmarks", "tests"};

std::string text_at(const std::string& path) {
  std::ifstream file(kRoot / path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string table_of(const std::string& folder) { return text_at(folder + "/layers.txt"); }

Layers layers() { return parse_layers(table_of("lib")); }
Layers layers_of_launcher() { return parse_layers(table_of("launcher"), layers()); }

void append(Findings& all, const Findings& some) {
  all.insert(all.end(), some.begin(), some.end());
}

// Runs `check` on every source below `folder`, which must have at least one.
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

TEST(Style, ThePictureShowsTheTablesOfLayers) {
  const std::string shown = text_at("docs/layers.svg");
  const std::string drawn = picture_of(layers(), layers_of_launcher());
  const std::string copy = ::testing::TempDir() + "layers.svg";
  if (shown != drawn) std::ofstream(copy) << drawn;
  EXPECT_TRUE(shown == drawn) << "docs/layers.svg does not show the present tables: cp " << copy
                              << " docs/";
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

TEST(Style, PagesThatAreReadFirstStayShort) {
  for (const auto& page : read_pages(kRoot)) EXPECT_TRUE(none_of(check_page_length(page)));
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

TEST(Style, NumbersAsTextKnowNoLocale) {
  for (const char* component : {"lib", "launcher", "examples"}) {
    EXPECT_TRUE(none_of(check_each(component, check_number_text)));
  }
}

TEST(Style, EachComponentReadsTheEnvironmentInOneFile) {
  std::vector<std::string> components = {"launcher", "examples/mnist", "benchmarks"};
  for (const auto& [folder, layer] : layers()) components.push_back("lib/" + folder);
  for (const auto& component : components) {
    EXPECT_TRUE(none_of(check_environment(read_sources(kRoot, component))));
  }
}

// Returns every file with prose: sources, scripts, pages, man pages and planted faults.
std::vector<Source> all_prose() {
  std::vector<Source> all = read_pages(kRoot);
  for (auto& script : read_scripts(kRoot)) all.push_back(std::move(script));
  for (auto& patch : read_patches(kRoot)) all.push_back(std::move(patch));
  for (const char* folder : {"lib", "launcher", "examples", "benchmarks", "tests"}) {
    for (auto& source : read_sources(kRoot, folder)) all.push_back(std::move(source));
  }
  return all;
}

TEST(Style, SentencesAreShortAndSayWhoDoesWhat) {
  for (const auto& source : all_prose()) EXPECT_TRUE(none_of(check_sentences(source)));
}

TEST(Style, CommentsOfFunctionsBeginWithAVerb) {
  for (const auto& source : all_prose()) {
    const bool is_cpp = source.path.ends_with(".h") || source.path.ends_with(".cpp");
    const Findings findings = is_cpp ? check_openings(source) : Findings();
    EXPECT_TRUE(none_of(findings));
  }
}

TEST(Style, WordsAreTheFields) {
  std::vector<Source> all = all_prose();
  for (auto& text : read_other_texts(kRoot)) all.push_back(std::move(text));
  for (const auto& source : all) {
    const bool has_old_words = source.path == "CHANGELOG.md" ||
                               source.path.starts_with("tests/style/") ||
                               source.path == "tests/planted/old_word_in_a_page.patch";
    if (has_old_words) continue;
    EXPECT_TRUE(none_of(check_words(source)));
  }
}

TEST(Style, ArchitectureNamesWhatThereIs) {
  std::vector<Source> sources = read_scripts(kRoot);
  for (const char* folder : {"lib", "launcher", "benchmarks", "tests"}) {
    for (auto& source : read_sources(kRoot, folder)) sources.push_back(std::move(source));
  }
  EXPECT_TRUE(none_of(check_names({"ARCHITECTURE.md", text_at("ARCHITECTURE.md")}, sources)));
  // The page shows this picture of lib.
  const Source picture{"docs/journey.svg", text_at("docs/journey.svg")};
  EXPECT_TRUE(none_of(check_picture_names(picture, read_sources(kRoot, "lib"))));
}

}  // namespace
}  // namespace rota::style

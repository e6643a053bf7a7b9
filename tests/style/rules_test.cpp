// Each rule refuses code that breaks it, and accepts similar code that does not. This shows that
// every rule can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "style/layers.h"
#include "style/limits.h"

namespace rota::style {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string repeat(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

Layers some_layers() {
  return parse_layers(
      "# A comment.\n"
      "base:\n"
      "os: base {*}\n"
      "nn: base {Eigen} {zlib.h}\n"
      "transport: base os\n");
}

Findings check_include(const std::string& path, const std::string& include) {
  return check_library_includes({path, "#include " + include + "\n"}, some_layers());
}

TEST(Layers, LetAFolderIncludeItselfItsRowThePublicHeadersAndTheStandardLibrary) {
  EXPECT_THAT(check_include("lib/transport/a.cpp", "\"transport/b.h\""), IsEmpty());
  EXPECT_THAT(check_include("lib/transport/a.cpp", "\"os/fd.h\""), IsEmpty());
  EXPECT_THAT(check_include("lib/transport/a.cpp", "<rota/error.h>"), IsEmpty());
  EXPECT_THAT(check_include("lib/transport/a.cpp", "<vector>"), IsEmpty());
  EXPECT_THAT(check_include("lib/os/a.cpp", "<poll.h>"), IsEmpty());
  EXPECT_THAT(check_include("lib/nn/a.cpp", "<zlib.h>"), IsEmpty());
  EXPECT_THAT(check_include("lib/nn/a.cpp", "<Eigen/Core>"), IsEmpty());
}

TEST(Layers, RefuseAFolderThatIsNotInTheRow) {
  EXPECT_THAT(check_include("lib/os/a.cpp", "\"transport/channel.h\""),
              ElementsAre(HasSubstr("lib/os/a.cpp:1: includes transport/channel.h: os may not")));
}

TEST(Layers, RefuseASystemHeaderThatIsNotInTheRow) {
  EXPECT_THAT(check_include("lib/transport/a.cpp", "<poll.h>"), ElementsAre(HasSubstr("braces")));
  EXPECT_THAT(check_include("lib/nn/a.cpp", "<sys/mman.h>"), ElementsAre(HasSubstr("braces")));
}

TEST(Layers, RefuseAnIncludeThatIsNotRootedAtLib) {
  EXPECT_THAT(check_include("lib/os/a.cpp", "\"fd.h\""), ElementsAre(HasSubstr("must start with")));
  EXPECT_THAT(check_include("lib/os/a.cpp", "\"../base/time.h\""),
              ElementsAre(HasSubstr("may not")));
}

TEST(Layers, RefuseSiblingsThatKnowEachOther) {
  EXPECT_THAT(check_include("lib/transport/tcp/a.cpp", "\"transport/shm/b.h\""),
              ElementsAre(HasSubstr("siblings")));
  EXPECT_THAT(check_include("lib/transport/tcp/a.cpp", "\"transport/tcp/b.h\""), IsEmpty());
  EXPECT_THAT(check_include("lib/transport/tcp/a.cpp", "\"transport/channel.h\""), IsEmpty());
  EXPECT_THAT(check_include("lib/transport/open.cpp", "\"transport/shm/b.h\""), IsEmpty());
}

TEST(Layers, RefuseAPublicHeaderThatShowsMoreThanThePublicFace) {
  const auto check = [](const std::string& include) {
    return check_include("lib/include/rota/a.h", include);
  };
  EXPECT_THAT(check("\"base/time.h\""), ElementsAre(HasSubstr("public header")));
  EXPECT_THAT(check("<unistd.h>"), ElementsAre(HasSubstr("public header")));
  EXPECT_THAT(check("<rota/error.h>"), IsEmpty());
  EXPECT_THAT(check("<span>"), IsEmpty());
}

TEST(Layers, RefuseATableThatSaysLessThanItSeemsTo) {
  EXPECT_THROW(parse_layers("base: os\nos:\n"), std::runtime_error);  // A cycle could hide here.
  EXPECT_THROW(parse_layers("base:\nbase:\n"), std::runtime_error);
  EXPECT_THROW(parse_layers("base\n"), std::runtime_error);
}

TEST(Layers, RefuseAFolderWithoutARowAndARowWithoutAFolder) {
  EXPECT_THAT(check_folders(some_layers(), {"base", "nn", "os", "transport"}, "lib"), IsEmpty());
  EXPECT_THAT(check_folders(some_layers(), {"base", "misc", "nn", "os", "transport"}, "lib"),
              ElementsAre(HasSubstr("lib/misc: has no row")));
  EXPECT_THAT(check_folders(some_layers(), {"base", "nn", "os"}, "lib"),
              ElementsAre(HasSubstr("lib/transport does not exist")));
}

Findings check_of_launcher(const std::string& path, const std::string& include) {
  const Layers layers = parse_layers(
      "plan: lib/base {rota/error.h}\n"
      "job: plan lib/base lib/os {rota/error.h} {*}\n"
      "hosts/rendezvous: plan job lib/os\n"
      "measure: plan {rota}\n"
      ".: job\n",
      some_layers());
  return check_launcher_includes({path, "#include " + include + "\n"}, layers);
}

TEST(Layers, LetAFolderOfTheLauncherIncludeWhatItsRowLists) {
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "\"launcher/plan/b.h\""), IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "\"base/time.h\""), IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "<rota/error.h>"), IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "<vector>"), IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/job/a.cpp", "<poll.h>"), IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/hosts/rendezvous/a.cpp", "\"launcher/job/b.h\""),
              IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/measure/a.cpp", "<rota/communicator.h>"), IsEmpty());
  EXPECT_THAT(check_of_launcher("launcher/main.cpp", "\"launcher/job/b.h\""), IsEmpty());
}

TEST(Layers, RefuseAFolderOfTheLauncherThatIncludesMore) {
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "\"launcher/job/b.h\""),
              ElementsAre(HasSubstr("plan may not include job")));
  EXPECT_THAT(check_of_launcher("launcher/job/a.cpp", "\"launcher/hosts/rendezvous/b.h\""),
              ElementsAre(HasSubstr("job may not include hosts/rendezvous")));
  EXPECT_THAT(check_of_launcher("launcher/main.cpp", "\"launcher/plan/b.h\""),
              ElementsAre(HasSubstr(". may not include plan")));
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "\"os/fd.h\""),
              ElementsAre(HasSubstr("plan may not include lib/os")));
  EXPECT_THAT(check_of_launcher("launcher/job/a.cpp", "\"transport/channel.h\""),
              ElementsAre(HasSubstr("job may not include lib/transport")));
  EXPECT_THAT(check_of_launcher("launcher/plan/a.cpp", "<poll.h>"),
              ElementsAre(HasSubstr("braces")));
  EXPECT_THAT(check_of_launcher("launcher/job/a.cpp", "<rota/communicator.h>"),
              ElementsAre(HasSubstr("braces")));
}

TEST(Layers, RefuseATableOfTheLauncherWithAFolderThatLibDoesNotHave) {
  EXPECT_THROW(parse_layers("plan: lib/missing\n", some_layers()), std::runtime_error);
  EXPECT_THROW(parse_layers("plan: job\njob:\n", some_layers()), std::runtime_error);
}

TEST(Layers, RefuseAnExampleThatLooksBehindThePublicHeaders) {
  const auto check = [](const std::string& include) {
    return check_example_includes({"examples/mnist/a.cpp", "#include " + include + "\n"});
  };
  EXPECT_THAT(check("\"nn/dense.h\""), ElementsAre(HasSubstr("<rota/...>")));
  EXPECT_THAT(check("\"flags.h\""), IsEmpty());
  EXPECT_THAT(check("<rota/model.h>"), IsEmpty());
}

TEST(Opening, MustBeAComment) {
  EXPECT_THAT(check_opening({"a.cpp", "#include <span>\n"}), ElementsAre(HasSubstr("comment")));
  EXPECT_THAT(check_opening({"a.cpp", "// Adds.\n#include <span>\n"}), IsEmpty());
}

TEST(Opening, MustGuardAHeader) {
  EXPECT_THAT(check_opening({"a.h", "// Adds.\n"}), ElementsAre(HasSubstr("#pragma once")));
  EXPECT_THAT(check_opening({"a.h", "// Has no #pragma once.\n"}),
              ElementsAre(HasSubstr("#pragma")));
  EXPECT_THAT(check_opening({"a.h", "// Adds.\n#pragma once\n"}), IsEmpty());
}

TEST(Opening, FindsUnfinishedWork) {
  const std::string mark = std::string("// TO") + "DO: later.\n";
  EXPECT_THAT(check_opening({"a.cpp", "// Adds.\n" + mark}), ElementsAre(HasSubstr("has a TO")));
}

TEST(Limits, CountTheLinesOfAFile) {
  EXPECT_THAT(check_limits({"a.cpp", repeat("\n", 500)}), IsEmpty());
  EXPECT_THAT(check_limits({"a.cpp", repeat("\n", 501)}), ElementsAre(HasSubstr("501 lines")));
  EXPECT_THAT(check_limits({"lib/include/rota/a.h", repeat("\n", 201)}),
              ElementsAre(HasSubstr("the limit is 200")));
}

TEST(Limits, CountTheLinesOfThePagesThatAreReadFirst) {
  EXPECT_THAT(check_page_length({"README.md", repeat("\n", 80)}), IsEmpty());
  EXPECT_THAT(check_page_length({"README.md", repeat("\n", 81)}),
              ElementsAre(HasSubstr("81 lines; the limit is 80")));
  EXPECT_THAT(check_page_length({"ARCHITECTURE.md", repeat("\n", 251)}),
              ElementsAre(HasSubstr("251 lines; the limit is 250")));
  EXPECT_THAT(check_page_length({"HACKING.md", repeat("\n", 251)}), IsEmpty());
}

TEST(Limits, CountTheColumnsOfALineAsCharacters) {
  EXPECT_THAT(check_limits({"a.cpp", repeat("→", 100) + "\n"}), IsEmpty());
  EXPECT_THAT(check_limits({"a.cpp", "\n" + repeat("x", 101) + "\n"}),
              ElementsAre(HasSubstr("a.cpp:2: 101 columns")));
}

// Returns a function of `line_count` lines, including its first and last line. The first line is
// `opening`.
std::string function_of(std::size_t line_count, const std::string& opening) {
  return opening + "\n" + repeat("  if (x) { f(\"}\", '}'); }  // }\n", line_count - 2) + "}\n";
}

TEST(Limits, CountTheLinesOfAFunctionWhereverItIsDefined) {
  for (const std::string opening :
       {"void f() {", "int A::f(int a) const noexcept {", "TEST(A, DoesB) {",
        "template <class T, class = std::vector<T>> T f() noexcept {"}) {
    EXPECT_THAT(check_limits({"a.cpp", function_of(70, opening)}), IsEmpty()) << opening;
    EXPECT_THAT(check_limits({"a.cpp", function_of(71, opening)}),
                ElementsAre(HasSubstr("a.cpp:1: a function of 71 lines")))
        << opening;
    const std::string inside = "namespace a {\nclass alignas(64) A final : B {\n public:\n" +
                               function_of(71, opening) + "};\n}\n";
    EXPECT_THAT(check_limits({"a.cpp", inside}), ElementsAre(HasSubstr("a function of 7")))
        << opening;
  }
}

TEST(Limits, DoNotTakeATableOrAScopeForAFunction) {
  const std::string rows = repeat("  {1, 2},\n", 100);
  EXPECT_THAT(check_limits({"a.cpp", "constexpr Row kRows[] = {\n" + rows + "};\n"}), IsEmpty());
  EXPECT_THAT(check_limits({"a.cpp", "enum class A : int {\n" + repeat("kA,\n", 100) + "};\n"}),
              IsEmpty());
  EXPECT_THAT(check_limits({"a.cpp", "class A {\n" + repeat("void f() {}\n", 100) + "};\n"}),
              IsEmpty());
}

TEST(Limits, SeeThroughDirectivesAndRawStrings) {
  const std::string halves =
      "#if A\n#define OPEN {\n#endif\nconst char* k = R\"x(\n{ \" {\n)x\";\n";
  EXPECT_THAT(check_limits({"a.cpp", halves + function_of(71, "void f() {")}),
              ElementsAre(HasSubstr("a.cpp:7: a function of 71 lines")));
}

TEST(Using, BringsInWhatIsUsed) {
  EXPECT_THAT(check_using({"a.cpp", "using std::string;\nstring text;\nusing A = int;\n"}),
              IsEmpty());
  EXPECT_THAT(check_using({"a.h", "using std::string;\n"}), IsEmpty());
  EXPECT_THAT(check_using({"a.cpp", "using enum Color;\n"}), IsEmpty());
  EXPECT_THAT(check_using({"a.cpp", "// string\nusing std::string;\nstrings text;\n"}),
              ElementsAre(HasSubstr("a.cpp:2: brings in string")));
}

TEST(Homes, KeepErrnoInOs) {
  EXPECT_THAT(check_errno({"lib/os/a.cpp", "if (errno == EINTR) {}"}), IsEmpty());
  EXPECT_THAT(check_errno({"lib/base/a.cpp", "int my_errno = 0;  // errno"}), IsEmpty());
  EXPECT_THAT(check_errno({"lib/base/a.cpp", "if (errno == EINTR) {}"}),
              ElementsAre(HasSubstr("knows errno")));
  EXPECT_THAT(check_errno({"launcher/a.cpp", "#include <cerrno>\n"}),
              ElementsAre(HasSubstr("knows errno")));
}

TEST(Homes, KeepTheLocaleOutOfNumbers) {
  for (const std::string code :
       {R"(std::snprintf(text, 32, "%.3g s", seconds);)", R"(format("%d and %-8.*f", 1, 2, 3);)",
        "std::ostringstream text;", "text << std::setprecision(9);", "return std::stod(text);"}) {
    EXPECT_THAT(check_number_text({"lib/a.cpp", "int a;\n" + code + "\n"}),
                ElementsAre(HasSubstr("lib/a.cpp:2: numbers would have")))
        << code;
  }
  for (const std::string code :
       {R"(std::snprintf(text, 32, "%05zu of %s, %x, 50 %%e", 1UL, name, 7);)",
        "// As printf's %.3g.", "const int left = 7 %e;", "int my_stod = 0;",
        "std::istringstream words(text);"}) {
    EXPECT_THAT(check_number_text({"lib/a.cpp", code}), IsEmpty()) << code;
  }
}

TEST(Homes, KeepTheEnvironmentInOneFileOfAComponent) {
  const Source one{"lib/a.cpp", "std::getenv(\"A\")"};
  const Source other{"lib/b.cpp", "getenv(\"B\")"};
  const Source none{"lib/c.cpp", "// getenv\n"};
  EXPECT_THAT(check_environment({one, none}), IsEmpty());
  EXPECT_THAT(check_environment({one, none, other}),
              ElementsAre(HasSubstr("lib/b.cpp: reads the environment, and so does lib/a.cpp")));
}

}  // namespace
}  // namespace rota::style

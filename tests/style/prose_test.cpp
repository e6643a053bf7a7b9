// The rules about prose find bad sentences and words, in each kind of file.
#include "style/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "style/names.h"
#include "testing/paths.h"

namespace rota::style {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns `count` words and a full stop.
std::string sentence_of(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "Word" : " word";
  return text + ".";
}

TEST(Sentences, OfCommentsMayHaveFortyWords) {
  const auto check = [](const std::string& text) { return check_sentences({"a.cpp", text}); };
  EXPECT_THAT(check("// " + sentence_of(40) + "\n"), IsEmpty());
  EXPECT_THAT(check("// " + sentence_of(41) + "\n"),
              ElementsAre(HasSubstr("a.cpp:1: a sentence of 41 words: 'Word word")));
  const std::string half = sentence_of(25).substr(0, sentence_of(25).size() - 1);
  EXPECT_THAT(check("int i;\n// " + half + "\n// " + half + ".\n"),
              ElementsAre(HasSubstr("a.cpp:2:")));
  EXPECT_THAT(check("// " + half + ".\n// " + half + ".\n"), IsEmpty()) << "these are two";
  EXPECT_THAT(check("// " + half + "\nint i;\n// " + half + "\n"), IsEmpty()) << "these are two";
  EXPECT_THAT(check("const char* text = \"// " + sentence_of(50) + "\";\n"), IsEmpty());
  EXPECT_THAT(check("// `" + sentence_of(50) + "` is code.\n"), IsEmpty());
}

TEST(Sentences, OfPagesAreHeldToTheSame) {
  const auto check = [](const std::string& text) { return check_sentences({"a.md", text}); };
  const std::string half = sentence_of(25).substr(0, sentence_of(25).size() - 1);
  EXPECT_THAT(check("# Title\n\n" + half + "\n" + half + ".\n"), ElementsAre(HasSubstr("a.md:3:")));
  EXPECT_THAT(check("- " + half + "\n- " + half + "\n"), IsEmpty()) << "these are two items";
  EXPECT_THAT(check("1. " + half + "\n2. " + half + "\n"), IsEmpty()) << "these are two items";
  EXPECT_THAT(check("```\n" + sentence_of(50) + "\n```\n"), IsEmpty());
  EXPECT_THAT(check("| " + sentence_of(50) + " |\n"), IsEmpty());
}

TEST(Sentences, OfManPagesAreHeldToTheSame) {
  const auto check = [](const std::string& text) { return check_sentences({"a.1.in", text}); };
  const std::string half = sentence_of(25).substr(0, sentence_of(25).size() - 1);
  EXPECT_THAT(check(".PP\n" + half + "\n.B flag\n" + half + ".\n"),
              ElementsAre(HasSubstr("a.1.in:2: a sentence of 51 words")));
  EXPECT_THAT(check(half + "\n.PP\n" + half + ".\n"), IsEmpty()) << "these are two";
  EXPECT_THAT(check(".nf\n" + sentence_of(50) + "\n.fi\n"), IsEmpty());
}

TEST(Sentences, OfScriptsAreHeldToTheSame) {
  const auto check = [](const std::string& text) { return check_sentences({"a.sh", text}); };
  const std::string half = sentence_of(25).substr(0, sentence_of(25).size() - 1);
  EXPECT_THAT(check("true\n# " + half + "\n# " + half + ".\n"),
              ElementsAre(HasSubstr("a.sh:2: a sentence of 50 words")));
  EXPECT_THAT(check("# " + half + "\ntrue\n# " + half + "\n"), IsEmpty()) << "these are two";
  EXPECT_THAT(check("echo " + sentence_of(50) + "\n"), IsEmpty());
}

TEST(Sentences, HaveNoConnectiveThatHidesWhoDoesWhat) {
  // The word is written in halves: otherwise this file would break the rule.
  const std::string connective = std::string("As far") + " as";
  EXPECT_THAT(check_sentences({"a.cpp", "// " + connective + " it goes.\n"}),
              ElementsAre(HasSubstr("a.cpp:1: 'as far as' hides who does what")));
  EXPECT_THAT(check_sentences({"a.cpp", "// It goes\n// " + connective + " it can.\n"}),
              ElementsAre(HasSubstr("a.cpp:1:")));
  const std::string late = std::string("reads them") + " that is up";  // Who is up?
  EXPECT_THAT(check_sentences({"a.h", "// A file as code " + late + ".\n"}),
              ElementsAre(HasSubstr("a.h:1: 'them that' hides who does what")));
}

TEST(Sentences, HaveNoClausesWithinClausesWithinClauses) {
  const auto check = [](const std::string& text) { return check_sentences({"a.md", text}); };
  EXPECT_THAT(check("It reads a file that has a name that has a digit.\n"), IsEmpty());
  EXPECT_THAT(check("It reads a file that has a name that a user\nwho is root chose.\n"),
              ElementsAre(HasSubstr("a.md:1: clauses within clauses: 'It reads a file")));
  EXPECT_THAT(check("It says that it is up, that it runs, and that it ends.\n"), IsEmpty());
}

TEST(Openings, OfCommentsOfFunctionsAreVerbs) {
  const auto check = [](const std::string& text) { return check_openings({"a.cpp", text}); };
  EXPECT_THAT(check("// Whether it is up.\nbool is_up(int a = 1);\n"),
              ElementsAre(HasSubstr("a.cpp:1: 'Whether it is up.' describes a function")));
  EXPECT_THAT(check("bool is_up();  // Whether it is up.\n"), ElementsAre(HasSubstr("a.cpp:1:")));
  EXPECT_THAT(check("// The same for all.\ntemplate <class T>\nvoid run(T all) {\n"),
              ElementsAre(HasSubstr("'The same for all.'")));
  EXPECT_THAT(check("// As run(), but slowly.\nvoid walk();\n"),
              ElementsAre(HasSubstr("As run()")));
  EXPECT_THAT(check("// As run() does, it throws.\nvoid walk();\n"), IsEmpty());
  EXPECT_THAT(check("// Returns whether it is up.\nbool is_up();\n"), IsEmpty());
  EXPECT_THAT(check("// Whether it is up.\nbool is_up = look();\n"), IsEmpty()) << "not a function";
  EXPECT_THAT(check("Call<void()> call;  // Empty if it is up.\n"), IsEmpty()) << "a variable";
  EXPECT_THAT(check("// Whether it is up.\nstruct IsUp {\n  IsUp();\n};\n"), IsEmpty()) << "a type";
}

TEST(Words, OfOursAreFoundInNamesAndInProse) {
  const auto check = [](const std::string& text) { return check_words({"a.cpp", text}); };
  EXPECT_THAT(check("// The island.\n"),
              ElementsAre("a.cpp:1: 'island': say shared-memory domain"));
  EXPECT_THAT(check("\nclass IslandFabric;\n"), ElementsAre(HasSubstr("a.cpp:2: 'island'")));
  EXPECT_THAT(check("int mate_count = kIslands;\n"),
              ElementsAre(HasSubstr("say local peer"), HasSubstr("say shared-memory domains")));
  EXPECT_THAT(check("int estimate = material + climate;\n"), IsEmpty());
}

TEST(Words, OfOursAreFoundInPaths) {
  EXPECT_THAT(check_words({"lib/os/island_map.h", ""}),
              ElementsAre("lib/os/island_map.h: the path has 'island': say shared-memory domain"));
  EXPECT_THAT(check_words({"k8s/loans/job.yaml", "a: b\n"}),
              ElementsAre(HasSubstr("the path has 'loans'")));
  EXPECT_THAT(check_words({"lib/os/estimate.h", ""}), IsEmpty());
}

// Each kind has its own rule in read_other_texts().
TEST(Words, AreReadInEveryKindOfText) {
  std::vector<std::string> paths;
  for (const Source& text : read_other_texts(testing::source_path())) paths.push_back(text.path);
  for (const char* path :
       {".ci/allowed_skips", ".ci/lanes/cuda", "cmake/rota.pc.in", "docs/journey.svg",
        "k8s/base/job.yaml", "k8s/image/Dockerfile", "k8s/image/config.json",
        "k8s/image/your_program.Dockerfile", "launcher/share/rotarun.bash", "lib/layers.txt",
        "tests/cluster/provider/kube/main.go"}) {
    EXPECT_THAT(paths, Contains(path));
  }
  EXPECT_THAT(paths, Not(Contains("lib/CMakeLists.txt"))) << "this is a script";
  EXPECT_THAT(paths, Not(Contains("launcher/share/rotarun.1.in"))) << "this is a page";
}

TEST(Names, OfPathsAndOfCppExist) {
  const std::vector<Source> sources = {{"lib/os/fd.h", "class Descriptor { void close(); };"}};
  const auto check = [&](const std::string& text) { return check_names({"a.md", text}, sources); };
  EXPECT_THAT(
      check("`lib/os/`, `.cpp`, `./dev`, `os/fd.h`, `fd.h`, `lib/os/fd`, `Descriptor::close()`"),
      IsEmpty());
  EXPECT_THAT(check("\nA `fd.cpp`."), ElementsAre("a.md:2: nothing is called 'fd.cpp'"));
  EXPECT_THAT(check("`os/net/` and `Descriptor`"), ElementsAre(HasSubstr("'os/net/'")));
  EXPECT_THAT(check("`Descriptor::open()`"), ElementsAre(HasSubstr("'Descriptor::open()'")));
  EXPECT_THAT(check("`rotarun --encrypt` is a command."), IsEmpty());
}

TEST(Names, OfAPictureAreFiles) {
  const std::vector<Source> sources = {{"lib/os/fd.h", ""}, {"lib/os/pipe.cpp", ""}};
  const auto check = [&](const std::string& text) {
    return check_picture_names({"a.svg", text}, sources);
  };
  const std::string small = "<text class='small' x='9' y='9'>";
  EXPECT_THAT(check(small + "os/fd, pipe: to all</text>\n<text x='9'>it runs</text>"), IsEmpty());
  EXPECT_THAT(check(small + "fd</text>\n" + small + "two words: all</text>"), IsEmpty());
  EXPECT_THAT(check("<svg>\n" + small + "os/fd, socket</text>"),
              ElementsAre("a.svg:2: no file is called 'socket'"));
  EXPECT_THAT(check("<text x='9'>it runs</text>"), ElementsAre("a.svg: the picture names no file"));
}

}  // namespace
}  // namespace rota::style

// The rules about prose find bad sentences and words, in each kind of file.
#include "style/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "style/names.h"

namespace rota::style {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace rota::style

// Tests reading and writing YAML in the forms that Kubernetes' tools use.
#include "launcher/manifest/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/rendered.h"

namespace rota::manifest {
namespace {

using ::testing::HasSubstr;

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const YamlError& error) {
    return error.what();
  }
  return "";
}

std::string yaml_error_of(const std::string& text) {
  return error_of([&] { from_yaml(text); });
}

TEST(Yaml, IsReadAsItWasWritten) {
  for (const Kind kind : {Kind::kJob, Kind::kJobSet, Kind::kTrainJob, Kind::kStatefulSet}) {
    const std::vector<Tree> objects = rendered(kind);
    EXPECT_EQ(from_yaml(to_yaml(objects)), objects);
  }
}

TEST(Yaml, KeepsTextsThatLookLikeSomethingElse) {
  Tree texts = Tree::array();
  for (const char* text :
       {"",     "4",       "0400", "1e3",  "true", "yes", "no",   "on",         "N",
        "null", "~",       "-",    "- a",  "a: b", "#a",  "a #b", "[::]:8080",  "0x1f",
        "1:20", "--model", "---",  "--",   "*a",   "&a",  "!a",   "%a",         "@a",
        "`a",   "'",       "\"",   "a\nb", " a ",  "1.5", ".5",   "2026-01-01", "{a}",
        "[a]",  "a,b",     "ü",    "=",    "<<"}) {
    texts.push_back(text);
  }
  const Tree object = {{"list", texts}, {"map", {{"a", texts[1]}, {"b", ""}}}};
  EXPECT_EQ(from_yaml(to_yaml({object})), std::vector<Tree>{object});
}

TEST(Yaml, HasScalarsAsKubernetesTakesThem) {
  const auto objects = from_yaml(
      "{a: 0400, b: 0o400, c: 0x10, d: yes, e: Off, f: ~, g: 1.5, h: -3, i: 5m, j: \"4\", k: '',"
      " l: 08, m: 99999999999999999999}");
  const Tree expected = {{"a", 256},     {"b", 256}, {"c", 16},  {"d", true}, {"e", false},
                         {"f", nullptr}, {"g", 1.5}, {"h", -3},  {"i", "5m"}, {"j", "4"},
                         {"k", ""},      {"l", 8.0}, {"m", 1e20}};
  EXPECT_EQ(objects, std::vector<Tree>{expected});
}

TEST(Yaml, WritesModesInOctal) {
  EXPECT_EQ(to_yaml({{{"defaultMode", 0400}}}), "defaultMode: 0400\n");
}

TEST(Yaml, HasADocumentForEachObject) {
  const auto objects = from_yaml("---\nkind: A\n---\n# Nothing.\n---\nkind: B\n");
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[1]["kind"], "B");
}

TEST(Yaml, TakesListsApart) {
  const auto objects =
      from_yaml("kind: List\nitems:\n- {kind: A}\n- {kind: List, items: [{kind: B}]}\n");
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[1]["kind"], "B");
}

TEST(Yaml, SaysWhereItIsNone) {
  EXPECT_THAT(yaml_error_of("a: 1\nb: [\n"), HasSubstr("line "));
  EXPECT_THAT(yaml_error_of("a: 1\na: 2\n"), HasSubstr("line 2: the field a appears twice"));
  EXPECT_THAT(yaml_error_of("a: 1\n? [b]\n: 2\n"),
              HasSubstr("line 2: a field's name must be a string"));
  EXPECT_THAT(yaml_error_of("just text"), HasSubstr("a document is not an object"));
}

TEST(Yaml, KnowsAliases) {
  const auto objects = from_yaml("a: &x {b: [1, 2]}\nc: *x\n---\na: &y 1\nb: *y\n");
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0]["c"], objects[0]["a"]);
  EXPECT_EQ(objects[1]["b"], 1);
  EXPECT_THAT(yaml_error_of("a: &x [1, *x]\n"),
              HasSubstr("line 1: an alias refers to a node that contains the alias"));
}

// The text has nine lines. They become a thousand million strings if every alias is copied.
TEST(Yaml, RefusesAliasesThatFillTheMemory) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "" : ", ") + before;
    text += "]\n";
  }
  EXPECT_THAT(yaml_error_of(text), HasSubstr("more than 16 MiB with all aliases"));
}

// The first text has one string of the greatest length with many aliases. The second text has
// nested anchors, and each of them copies the string.
TEST(Yaml, CountsTheBytesOfAllCopies) {
  std::string text = "a: &a " + std::string(1 << 20, 'x') + "\nb: [*a";
  for (int i = 0; i < 20'000; ++i) text += ", *a";
  EXPECT_THAT(yaml_error_of(text + "]\n"), HasSubstr("more than 16 MiB with all aliases"));
  std::string nested;
  for (int i = 0; i < 60; ++i) nested += "&n" + std::to_string(i) + " [";
  nested += std::string(1 << 20, 'x') + std::string(60, ']');
  EXPECT_THAT(yaml_error_of("a: " + nested + "\n"), HasSubstr("more than 16 MiB"));
}

// Splitting a manifest into many files does not raise the limit.
TEST(Yaml, CountsAllTextsTogether) {
  const std::string long_text = "a: " + std::string(3 << 20, 'x');
  YamlReader reader;
  reader.read(long_text);
  EXPECT_THAT(error_of([&] { reader.read(long_text); }), HasSubstr("more than 4 MiB"));
  std::string aliases = "a: &a " + std::string(1 << 20, 'x') + "\nb: [*a, *a, *a, *a, *a]\n";
  YamlReader another;
  another.read(aliases);
  another.read(aliases);
  EXPECT_THAT(error_of([&] { another.read(aliases); }),
              HasSubstr("more than 16 MiB with all aliases"));
}

TEST(Yaml, SaysNoMoreOfALongNameThanIsRead) {
  const std::string name(1 << 20, 'n');
  EXPECT_LT(yaml_error_of(name + "\n").size(), 3000U);
  const std::string twice = "? " + name + "\n: 1\n";
  EXPECT_THAT(yaml_error_of(twice + twice), ::testing::EndsWith("nnn ..."));
  EXPECT_LT(yaml_error_of(twice + twice).size(), 3000U);
}

TEST(Yaml, RefusesWhatNoObjectHas) {
  std::string fields;
  for (int i = 0; i < 90'000; ++i) fields += "f" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(yaml_error_of(fields), HasSubstr("line 4097: an object has more than 4096 fields"));
  EXPECT_THAT(yaml_error_of("a: |\n  " + std::string(5 << 20, 'x')), HasSubstr("more than 4 MiB"));
  EXPECT_THAT(yaml_error_of(std::string("a: b\0c\n", 7)), HasSubstr("has a zero byte"));
}

TEST(Yaml, RefusesWhatIsNestedTooDeeply) {
  EXPECT_THAT(yaml_error_of("a: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace rota::manifest

// Tests several programs in one job: how the command line separates them, and which rank runs which
// program.
#include "launcher/command/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/command/options.h"

namespace rota::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string usage_error_of(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Groups, HaveProgramsAndVariablesOfTheirOwn) {
  const Options options = parse_options(
      {"--map-by", "node",   "-np",  "3",  "-x",  "A=1", "./a",    "-np",       "x",  ":", "-np",
       "2",        "--wdir", "/tmp", "--", "./b", ":",   "--role", "evaluator", "-x", "B", "./e"});
  EXPECT_EQ(options.map_by, MapBy::kNode);
  EXPECT_EQ(options.rank_count, 5U);
  ASSERT_EQ(options.groups.size(), 3U);
  EXPECT_THAT(options.groups[0].program, ElementsAre("./a", "-np", "x"));
  EXPECT_EQ(options.groups[0].count, 3U);
  EXPECT_EQ(options.groups[0].variables.at(0).name, "A");
  EXPECT_EQ(options.groups[0].working_directory, "");
  EXPECT_THAT(options.groups[1].program, ElementsAre("./b"));
  EXPECT_EQ(options.groups[1].working_directory, "/tmp");
  EXPECT_THAT(options.groups[1].variables, IsEmpty());
  EXPECT_FALSE(options.groups[1].is_evaluator);
  EXPECT_TRUE(options.groups[2].is_evaluator);
  EXPECT_FALSE(options.groups[2].count);
  EXPECT_EQ(options.groups[2].variables.at(0).name, "B");
}

TEST(Groups, MayLeaveTheCountOfTheOnlyOneWithRanksOpen) {
  EXPECT_FALSE(parse_options({"./a", ":", "--role", "evaluator", "-np", "2", "./e"}).rank_count);
  EXPECT_EQ(parse_options({"--role=evaluator", "./e", ":", "-np", "2", "./a"}).rank_count, 2U);
}

TEST(Groups, AreRefusedWhereTheyMakeNoSense) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"-np", "1", "./a", ":"}, "there is no program to start on one side of ':'"},
      {{"-np", "1", "./a", ":", "-np", "1"}, "there is no program to start on one side of ':'"},
      {{":", "./a"}, "there is no program to start on one side of ':'"},
      {{"-np", "1", "./a", ":", "./b"}, "give each of them its own --np"},
      {{"./a", ":", "-np", "1", "./b"}, "give each of them its own --np"},
      {{"--role", "evaluator", "./e"}, "no rank would train"},
      {{"--role", "chief", "./e"}, "the value must be one of worker, evaluator"},
      {{"-np", "1", "./a", ":", "--map-by", "node", "-np", "1", "./b"},
       "--map-by is for all programs: give it before the first program"},
      {{"-np", "1", "./a", ":", "-v", "-np", "1", "./b"}, "--verbose is for all programs"},
      {{"-np", "1", "./a", ":", "-np", "0", "./b"}, "--np 0"},
  };
  for (const auto& [arguments, words] : cases) {
    EXPECT_THAT(usage_error_of(arguments), HasSubstr(words));
  }
}

// Returns the group of each rank of a world of `world_size`.
std::vector<std::size_t> groups_of(const std::vector<Group>& groups, std::size_t world_size) {
  std::vector<std::size_t> all;
  for (std::size_t rank = 0; rank < world_size; ++rank) all.push_back(group_of_rank(groups, rank));
  return all;
}

TEST(Groups, AreNumberedOneAfterTheOther) {
  EXPECT_THAT(groups_of({{}}, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(groups_of({{.count = 3}, {.count = 2}}, 5), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(groups_of({{.is_evaluator = true, .count = 9}, {.count = 1}, {.count = 1}}, 2),
              ElementsAre(1, 2));
  EXPECT_THAT(groups_of({{.is_evaluator = true}, {}}, 2), ElementsAre(1, 1));
  EXPECT_THAT(groups_of({{.count = 1}, {.count = 1}, {.is_evaluator = true}}, 3),
              ElementsAre(0, 1, 1));
}

TEST(Groups, OfEvaluatorsAreBesideTheWorld) {
  const std::vector<Group> groups = {
      {.is_evaluator = true, .count = 2}, {.count = 4}, {.is_evaluator = true}};
  EXPECT_THAT(evaluators_of(groups), ElementsAre(0, 0, 2));
  EXPECT_EQ(count_ranks(groups), 4U);
  EXPECT_THAT(evaluators_of({{.count = 2}}), IsEmpty());
}

}  // namespace
}  // namespace rota::launcher

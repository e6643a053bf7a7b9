// An object knows whether the process that asks has made it. Method: the children of forks say what
// they see.
#include "os/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include <rota/error.h>

#include "os/process.h"
#include "testing/error_of.h"
#include "testing/said_by_child.h"

namespace rota::os {
namespace {

using testing::said_by_child;

std::string text_of(bool is_here) { return is_here ? "here" : "elsewhere"; }

TEST(Origin, IsTheProcessThatMadeTheObject) {
  const Origin origin;
  const Origin copy = origin;
  EXPECT_EQ(said_by_child([&] { return text_of(origin.is_here()); }), "elsewhere");
  EXPECT_EQ(said_by_child([&] { return text_of(copy.is_here()); }), "elsewhere");
  EXPECT_TRUE(origin.is_here());
  EXPECT_TRUE(copy.is_here());
}

// The child that makes an object is a parent, too. Each of three generations has an object.
TEST(Origin, IsOneProcessOfManyGenerations) {
  const Origin first;
  const auto said = said_by_child([&] {
    const Origin second;
    const auto told = said_by_child([&] {
      const Origin third;
      return text_of(first.is_here()) + " " + text_of(second.is_here()) + " " +
             text_of(third.is_here());
    });
    return told.value_or("nothing") + ", " + text_of(first.is_here()) + " " +
           text_of(second.is_here());
  });
  EXPECT_EQ(said, "elsewhere elsewhere here, elsewhere here");
  EXPECT_TRUE(first.is_here());
}

// Two children of one process do not know each other, but an object of the parent is of neither.
TEST(Origin, IsNoChildOfTheProcess) {
  const Origin origin;
  for (int child = 0; child < 3; ++child) {
    EXPECT_EQ(said_by_child([&] { return text_of(origin.is_here()); }), "elsewhere") << child;
  }
}

// fork_process() starts the launcher's processes.
TEST(Origin, NoticesTheForksOfRota) {
  const Origin origin;
  const pid_t child = fork_process();
  if (child == 0) ::_exit(origin.is_here() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Origin, RefusesAnotherProcessByTheNameOfTheObject) {
  const Origin origin;
  EXPECT_FALSE(testing::error_of([&] { origin.require_here("this door"); }));
  const auto said = said_by_child([&]() -> std::string {
    const auto error = testing::error_of([&] { origin.require_here("this door"); });
    if (!error) return "nothing was thrown";
    return std::string(to_string(error->code())) + ": " + error->what();
  });
  EXPECT_EQ(said,
            "invalid argument: this door was made before the fork of this process, and works only "
            "in the process that made it: use it there");
}

struct Door {
  explicit Door(bool& shuts) : is_shut(shuts) {}
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() { is_shut = true; }

  bool& is_shut;
  Origin origin;
};

TEST(Origin, LeavesTheObjectToTheProcessThatMadeIt) {
  bool is_shut = false;
  auto door = std::make_unique<Door>(is_shut);
  const auto said = said_by_child([&]() -> std::string {
    door->origin.leave_elsewhere(door);
    return std::string(door ? "owned" : "left") + (is_shut ? ", shut" : "");
  });
  EXPECT_EQ(said, "left");
  door->origin.leave_elsewhere(door);
  ASSERT_TRUE(door);
  door.reset();
  EXPECT_TRUE(is_shut);
}

}  // namespace
}  // namespace rota::os

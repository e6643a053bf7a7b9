// One process at a time has the lock, and the kernel ends the lock of a killed process.
#include "os/lock_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <rota/error.h>

#include "os/durable_file.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::os {
namespace {

using Lock = LockFile::Lock;
using testing::error_of;
using ::testing::HasSubstr;

class LockFileTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "owner") const {
    return (folder_.path() / name).string();
  }

  testing::TemporaryFolder folder_;
};

TEST_F(LockFileTest, HasOneHolderAtATime) {
  LockFile second(path());
  {
    LockFile first(path());
    EXPECT_EQ(first.try_lock(), Lock::kLocked);
    EXPECT_EQ(first.try_lock(), Lock::kLocked);
    EXPECT_EQ(second.try_lock(), Lock::kHeld);
  }
  EXPECT_EQ(second.try_lock(), Lock::kLocked);
}

TEST_F(LockFileTest, IsFreeOnceItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    LockFile held(path());
    const char locked = held.try_lock() == Lock::kLocked ? 'y' : 'n';
    if (::write(ready[1], &locked, 1) != 1) ::_exit(1);
    ::pause();
  }
  char locked = 'n';
  ASSERT_EQ(::read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 'y');
  LockFile file(path());
  EXPECT_EQ(file.try_lock(), Lock::kHeld);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(file.try_lock(), Lock::kLocked);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(LockFileTest, IsSeenByOthers) {
  NewFile file(path());
  EXPECT_FALSE(is_locked(path()));
  file.lock();
  EXPECT_TRUE(is_locked(path()));
  EXPECT_EQ(LockFile(path()).try_lock(), Lock::kHeld);
  EXPECT_FALSE(is_locked(path("missing")));
  file.close();
  EXPECT_FALSE(is_locked(path()));
}

// The child of a fork has the descriptor too, so closing it alone would not end the lock.
TEST_F(LockFileTest, EndsWhenItsFileIsClosedAlthoughAChildLives) {
  NewFile file(path());
  file.lock();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(is_locked(path()));
  file.close();
  EXPECT_FALSE(is_locked(path()));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(LockFileTest, HasTheTextThatWasWrittenLast) {
  LockFile file(path());
  file.write("a longer text");
  file.write("short");
  std::ifstream read(path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(read), {}), "short");
}

TEST_F(LockFileTest, IsARegularFile) {
  std::filesystem::create_symlink("elsewhere", path("link"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "pipe", "missing/owner"}) {
    const auto error = error_of([&] { LockFile file(path(name)); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
    EXPECT_THAT(error->what(), HasSubstr(path(name) + ": cannot be"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("elsewhere")));
}

}  // namespace
}  // namespace rota::os

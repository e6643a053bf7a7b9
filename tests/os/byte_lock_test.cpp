// Processes that share a file find each other's locks, with the byte and the process. Method: a
// forked process has the lock.
#include "os/byte_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "os/sealed_file.h"

namespace rota::os {
namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 61;

TEST(ByteLock, IsFoundByOtherProcessesUntilItsHolderEnds) {
  const Fd file = make_sealed_file("locked", "few bytes");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const char locked = lock_byte(file, kFar + 5) ? 'y' : 'n';
    if (::write(ready[1], &locked, 1) != 1) ::_exit(1);
    ::pause();
  }
  char locked = 'n';
  ASSERT_EQ(::read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 'y');
  EXPECT_FALSE(lock_byte(file, kFar + 5));
  EXPECT_TRUE(lock_byte(file, kFar + 6));
  EXPECT_FALSE(find_lock(file, kFar, 5));
  EXPECT_FALSE(find_lock(file, kFar + 6, 100));
  const auto found = find_lock(file, kFar, 100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, kFar + 5);
  EXPECT_EQ(found->pid, child);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(find_lock(file, kFar, 100));
  EXPECT_TRUE(lock_byte(file, kFar + 5));
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace rota::os

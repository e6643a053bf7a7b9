// Errors of the system name the limit that may be their cause, and say what to do.
#include "os/system_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string>

#include <rota/error.h>

#include "os/host.h"
#include "os/process.h"
#include "testing/error_of.h"

namespace rota::os {
namespace {

using rota::testing::error_of;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Limits the addresses of this process. The limit is too high to hinder a test.
class LimitedAddresses {
 public:
  LimitedAddresses() {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit limited{std::numeric_limits<rlim_t>::max() / 2, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
    advice_ = std::to_string(limited.rlim_cur) + " bytes of addresses (ulimit -v): raise the limit";
  }
  ~LimitedAddresses() { ::setrlimit(RLIMIT_AS, &before_); }
  LimitedAddresses(const LimitedAddresses&) = delete;
  LimitedAddresses& operator=(const LimitedAddresses&) = delete;

  const std::string& advice() const { return advice_; }

 private:
  rlimit before_{};
  std::string advice_;
};

TEST(SystemError, OfMemoryNamesTheLimitOfAddresses) {
  const LimitedAddresses limited;
  const auto error = error_of([] { throw_errno("mmap of 5 bytes", ENOMEM); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
  EXPECT_THAT(error->what(), AllOf(HasSubstr("mmap of 5 bytes: Cannot allocate memory; "),
                                   EndsWith(limited.advice())));
}

TEST(SystemError, NamesNoLimitOfAddressesThatIsNotTheCause) {
  const LimitedAddresses limited;
  const auto error = error_of([] { throw_errno("write", ENOSPC); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
  EXPECT_THAT(error->what(), Not(HasSubstr("ulimit")));
}

TEST(SystemError, OfAFileThatCannotBeReadHasItsOwnClass) {
  const auto read = [] { throw_unreadable("read of a file", EIO); };
  EXPECT_THROW(read(), UnreadableFile);
  const auto error = error_of(read);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_STREQ(error->what(), "read of a file: Input/output error");
  const auto without_memory = error_of([] { throw_unreadable("read of a file", ENOMEM); });
  ASSERT_TRUE(without_memory);
  EXPECT_EQ(without_memory->code(), ErrorCode::kNoMemory);
}

TEST(SystemError, OfAProcessNamesTheLimitOfProcesses) {
  const auto error = error_of([] { throw_cannot_start("fork", EAGAIN); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_THAT(error->what(), AllOf(HasSubstr("fork: Resource temporarily unavailable; "),
                                   HasSubstr("(pids.max)")));
}

// Starts a process in a process that may start none. Returns whether the error says so.
bool names_limit_of_processes() {
  constexpr uid_t kUserWithoutProcesses = 61'234;  // Root has no limit.
  const rlimit only_itself{1, 1};
  const bool is_limited = ::setrlimit(RLIMIT_NPROC, &only_itself) == 0 &&
                          (::getuid() != 0 || ::setuid(kUserWithoutProcesses) == 0);
  const auto error = error_of([] {
    if (fork_process() == 0) ::_exit(0);
  });
  const std::string text = error ? error->what() : "";
  return is_limited && text.find("may have 1 process or thread (ulimit -u)") != std::string::npos;
}

TEST(SystemError, OfAForkNamesTheLimitOfProcesses) {
  const pid_t child = fork_process();
  if (child == 0) ::_exit(names_limit_of_processes() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A thread that finds no addresses for its stack fails with the same number.
TEST(SystemError, OfAThreadNamesTheLimitOfAddressesToo) {
  const LimitedAddresses limited;
  const auto error = error_of([] { throw_cannot_start("starting a thread", EAGAIN); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), AllOf(HasSubstr("(pids.max)"), EndsWith(limited.advice())));
}

TEST(SystemError, AdvisesWhatToRaise) {
  EXPECT_EQ(advice_on_memory(UINT64_MAX), "");
  EXPECT_EQ(advice_on_memory(32768000000),
            "; this process may have 32768000000 bytes of addresses (ulimit -v): raise the limit");
  EXPECT_EQ(advice_on_processes(100),
            "; this user may have 100 processes and threads (ulimit -u), and the control group "
            "(pids.max) may allow fewer: raise the limit");
  EXPECT_EQ(advice_on_processes(UINT64_MAX),
            "; the control group (pids.max) or the system allows no more processes: raise the "
            "limit");
}

TEST(Addresses, AreFreeUpToTheLimit) {
  const LimitedAddresses limited;
  EXPECT_EQ(address_limit_bytes(), std::numeric_limits<rlim_t>::max() / 2);
  EXPECT_LT(free_address_bytes(), address_limit_bytes());
  EXPECT_GT(free_address_bytes(), 0U);
}

}  // namespace
}  // namespace rota::os

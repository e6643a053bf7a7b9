// A rank that was refused a device does not keep other ranks from using the device later.
// Method: the ranks are this process and children of its forks.
#include "device/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "os/fd.h"
#include "os/shared_mapping.h"
#include "testing/error_of.h"
#include "testing/said_by_child.h"

namespace rota::device {
namespace {

using testing::error_of;

// Claims the one device of this test as a rank. Returns what refuses it, or an empty text.
std::string refusal_of(const os::Fd& file, std::size_t rank) {
  const auto error = error_of([&] {
    join_claims(os::Fd(::dup(file.get())), rank);
    claim(0, "a GPU", "GPU-of-this-test");
  });
  return error ? error->what() : "";
}

// A child that has claimed the device as rank 0. It ends when the object is destroyed.
class RankZero {
 public:
  explicit RankZero(const os::Fd& file) {
    std::array<int, 2> claimed{};
    std::array<int, 2> end{};
    if (::pipe(claimed.data()) != 0 || ::pipe(end.data()) != 0) return;
    child_ = ::fork();
    char byte = 0;
    if (child_ == 0) {
      ::close(end[1]);
      const bool has_it = refusal_of(file, 0).empty() && ::write(claimed[1], &byte, 1) == 1;
      ::close(claimed[1]);
      const bool has_waited = has_it && ::read(end[0], &byte, 1) == 0;
      ::_exit(has_waited ? 0 : 1);
    }
    ::close(claimed[1]);
    ::close(end[0]);
    end_ = os::Fd(end[1]);
    has_claimed_ = ::read(claimed[0], &byte, 1) == 1;
    ::close(claimed[0]);
  }
  ~RankZero() {
    end_ = {};
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  RankZero(const RankZero&) = delete;
  RankZero& operator=(const RankZero&) = delete;

  bool has_claimed() const noexcept { return has_claimed_; }

 private:
  pid_t child_ = -1;
  os::Fd end_;  // The child ends when no process has this end of the pipe.
  bool has_claimed_ = false;
};

TEST(DeviceClaims, AreNotLeftBehindByARankThatIsRefused) {
  const os::Fd file = os::make_shared_memory("claims", 1);
  {
    const RankZero first(file);
    ASSERT_TRUE(first.has_claimed());
    EXPECT_THAT(refusal_of(file, 1), ::testing::HasSubstr("uses this device already"));
  }
  const auto said = testing::said_by_child([&] { return "refused: " + refusal_of(file, 2); });
  ASSERT_TRUE(said);
  EXPECT_EQ(*said, "refused: ") << "rank 1 does not use the device";
}

}  // namespace
}  // namespace rota::device

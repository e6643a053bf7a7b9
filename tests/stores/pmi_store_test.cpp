// Tests the store over PMI_FD: a word passes from rank 0 to the others, and every wait ends.
// Method: a thread plays the launcher, at the other ends of socket pairs.
#include "stores/pmi_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

#include <rota/error.h>

#include "testing/error_of.h"
#include "testing/fake_pmi.h"

namespace rota::stores {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

struct Pair {
  os::Fd launcher;
  int rank = -1;  // The store closes it.
};

Pair make_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {os::Fd(ends[0]), ends[1]};
}

base::TimePoint soon(base::Duration time = seconds(20)) { return base::Clock::now() + time; }

TEST(PmiStore, GivesRankZerosWordToAll) {
  testing::FakePmi launcher;
  for (const bool is_first : {true, false, false}) {
    Pair pair = make_pair();
    std::thread serving([&] { launcher.serve(pair.launcher.get()); });
    {
      PmiStore store(pair.rank, is_first);
      EXPECT_EQ(store.share(is_first ? "rota1;m;k;p" : "not used", soon()), "rota1;m;k;p");
    }
    serving.join();  // The store has closed its end.
  }
}

TEST(PmiStore, WaitsNoLongerThanItMay) {
  const Pair pair = make_pair();
  PmiStore store(pair.rank, true);
  const auto error = error_of([&] { store.share("word", soon(milliseconds(100))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kTimeout);
  EXPECT_THAT(error->what(), HasSubstr("waits for an answer to cmd=init"));
}

// Method: the launcher answers with half a line, and ends.
TEST(PmiStore, SaysThatTheLauncherIsGone) {
  Pair pair = make_pair();
  const std::string half = "cmd=response_to_in";
  ASSERT_EQ(::write(pair.launcher.get(), half.data(), half.size()),
            static_cast<ssize_t>(half.size()));
  pair.launcher.reset();
  PmiStore store(pair.rank, true);
  const auto error = error_of([&] { store.share("word", soon()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kPeerLost);
  EXPECT_THAT(error->what(), HasSubstr("closed its connection"));
}

TEST(PmiStore, RefusesADescriptorThatIsNoSocket) {
  const os::Fd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {file.get(), 999}) {
    const auto error = error_of([&] { const PmiStore store(fd, false); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error->what(), AllOf(HasSubstr("PMI_FD is " + std::to_string(fd)),
                                     HasSubstr("must leave this descriptor open")));
  }
}

}  // namespace
}  // namespace rota::stores

// If stderr takes nothing, a message to stderr neither blocks rotarun nor stops its heartbeat.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "launcher/job/start.h"
#include "launcher/ranks/heartbeat.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

// stderr is another descriptor while an object of this class lives.
class OtherErrors {
 public:
  explicit OtherErrors(int fd) : before_(::dup(2)) { ::dup2(fd, 2); }
  OtherErrors(const OtherErrors&) = delete;
  OtherErrors& operator=(const OtherErrors&) = delete;
  ~OtherErrors() { ::dup2(before_.get(), 2); }

 private:
  os::Fd before_;
};

class PipedErrors {
 public:
  void fill() const {
    const int flags = ::fcntl(2, F_GETFL);
    ::fcntl(2, F_SETFL, flags | O_NONBLOCK);
    const std::string page(4096, 'x');
    while (::write(2, page.data(), page.size()) > 0) continue;
    ::fcntl(2, F_SETFL, flags);
  }

  std::string read() const {
    std::array<char, 4096> bytes{};
    const auto count = os::read_available(pipe_.first.get(), bytes).count;
    return {bytes.data(), count};
  }

 private:
  std::pair<os::Fd, os::Fd> pipe_ = os::make_pipe();
  OtherErrors errors_{pipe_.second.get()};
};

// This process has a heartbeat, like the inner process. If complain() stopped the heartbeat, the
// outer process would take the inner process for hung.
TEST(Complaint, IsLeftOutWhereNobodyTakesIt) {
  make_heartbeat();
  beat();
  const PipedErrors errors;
  complain("one");
  EXPECT_EQ(errors.read(), "rotarun: one\n");
  errors.fill();
  const std::uint64_t beats = count_beats();
  const auto begin = base::Clock::now();
  complain("two");
  EXPECT_LT(base::Clock::now() - begin, std::chrono::seconds(4));
  EXPECT_GT(count_beats(), beats);
}

// A full disk always counts as writable: a process that tried again and again would keep a core
// busy, and each attempt would be a beat.
TEST(Complaint, IsLeftOutOnAFullDisk) {
  make_heartbeat();
  beat();
  const os::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  const OtherErrors errors(full.get());
  const std::uint64_t beats = count_beats();
  complain("one");
  EXPECT_LE(count_beats() - beats, 2U);
}

// The documents promise the sentence while no rank runs.
TEST(Request, IsFoundAfterSignalsForTheRanks) {
  os::SignalWatch signals(std::array{SIGTERM}, std::array{SIGCHLD, SIGUSR1});
  const PipedErrors errors;
  EXPECT_FALSE(next_request(signals));
  for (const int number : {SIGCHLD, SIGUSR1, SIGTERM}) ::kill(::getpid(), number);
  EXPECT_EQ(next_request(signals), SIGTERM);
  EXPECT_EQ(errors.read(), "rotarun: " + describe_dropped(SIGUSR1) + "\n");
  EXPECT_FALSE(next_request(signals));
}

}  // namespace
}  // namespace rota::launcher

// A message of a sanitizer reaches the output of a test, however the program that printed it ends.
// The messages here are made up: the programs are shells.
#include "testing/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "testing/terminal.h"

namespace rota::testing {
namespace {

const std::string kReport = "SUMMARY: ThreadSanitizer: data race";

// Runs a script, calls `use`, and destroys the Process. Returns what has been printed meanwhile.
std::string shown(const std::string& script, const std::function<void(Process&)>& use) {
  ::testing::internal::CaptureStderr();
  {
    Process process({.arguments = {"/bin/sh", "-c", script}});
    use(process);
  }
  return ::testing::internal::GetCapturedStderr();
}

// Returns whether the program ends. Reads nothing that it prints.
bool becomes_a_zombie(const Process& process) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (state_of(process.pid()) != 'Z') {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST(ProcessTest, ShowsDamageOfAProgramThatItEnds) {
  const std::string script = "echo '" + kReport + "' >&2; echo ready; exec sleep 60";
  EXPECT_EQ(shown(script, [](Process& process) { EXPECT_TRUE(process.wait_for("ready")); }),
            "ready\n" + kReport + "\n");
}

TEST(ProcessTest, ShowsDamageOfAProgramThatNobodyHasWaitedFor) {
  EXPECT_EQ(shown("echo '" + kReport + "'",
                  [](Process& process) { EXPECT_TRUE(becomes_a_zombie(process)); }),
            kReport + "\n");
}

TEST(ProcessTest, ShowsDamageOnce) {
  EXPECT_EQ(shown("echo '" + kReport + "' >&2", [](Process& process) { process.wait(); }),
            kReport + "\n");
}

TEST(TerminalTest, ShowsDamageOfAProgram) {
  ::testing::internal::CaptureStderr();
  {
    const Terminal terminal;
    run({.arguments = {"/bin/sh", "-c", "echo ready; echo '" + kReport + "'"},
         .standard_output = terminal.theirs.get(),
         .standard_error = terminal.theirs.get()});
    EXPECT_NE(terminal.read_until("ready"), "");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "ready\r\n" + kReport + "\r\n");
}

// CI tries a test again if it was only too slow.
TEST(ProcessTest, SaysWhatItHasWaitedForInVain) {
  EXPECT_EQ(shown("exec sleep 60",
                  [](Process& process) {
                    EXPECT_FALSE(process.wait_for("ready", std::chrono::milliseconds(20)));
                    EXPECT_FALSE(process.wait(std::chrono::milliseconds(30)).was_in_time);
                  }),
            "waited in vain for 20 ms: the program did not print ready\n"
            "waited in vain for 30 ms: the program did not end\n");
}

TEST(ProcessTest, ShowsNothingElse) {
  EXPECT_EQ(shown("exit 3", [](Process& process) { EXPECT_FALSE(process.wait_for("ready")); }), "");
  EXPECT_EQ(shown("echo all is well", [](Process& process) { process.wait(); }), "");
}

}  // namespace
}  // namespace rota::testing

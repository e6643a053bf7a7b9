// A terminal for a program that behaves in another way on a terminal.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "os/fd.h"
#include "testing/process.h"

namespace rota::testing {

// A terminal of 120 columns: the test's end, and the end that a program gets. Like Process, it
// prints what programs have said if that has words about damage.
struct Terminal {
  Terminal() : ours(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(ours.get()), 0);
    EXPECT_EQ(::unlockpt(ours.get()), 0);
    theirs = os::Fd(::open(::ptsname(ours.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    winsize window{};
    window.ws_col = 120;
    window.ws_row = 40;
    EXPECT_EQ(::ioctl(theirs.get(), TIOCSWINSZ, &window), 0);
    EXPECT_EQ(::fcntl(ours.get(), F_SETFL, O_NONBLOCK), 0);
  }
  Terminal(Terminal&&) = delete;
  ~Terminal() {
    read_all();
    if (has_damage(said_)) std::cerr << said_ << std::flush;
  }
  std::string read_all() const {
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = ::read(ours.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    said_ += text;
    return text;
  }
  void type(const std::string& keys) const {
    EXPECT_EQ(::write(ours.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // Reads until `text` has appeared on the screen, and returns the text on the screen.
  std::string read_until(const std::string& text) const {
    std::string screen;
    for (int trial = 0; trial < 6000 && screen.find(text) == std::string::npos; ++trial) {
      screen += read_all();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return screen;
  }
  os::Fd ours;
  os::Fd theirs;

 private:
  mutable std::string said_;
};

}  // namespace rota::testing

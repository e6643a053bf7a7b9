// Tests that print() loses no text if its reader is slow.
#include "os/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <thread>
#include <vector>

#include "os/pipe.h"

namespace rota::os {
namespace {

std::string read_to_end(int fd) {
  std::string text;
  std::vector<char> bytes(4096);
  for (;;) {
    pollfd input{.fd = fd, .events = POLLIN, .revents = 0};
    ::poll(&input, 1, -1);
    const ReadResult result = read_available(fd, bytes);
    if (result.io == Io::kClosed) return text;
    text.append(bytes.data(), result.count);
  }
}

// All processes that share a standard output share its O_NONBLOCK flag, and one of them may have
// set it.
TEST(Print, WaitsForTheReaderOfANonBlockingOutput) {
  auto [read_end, write_end] = make_pipe();
  ASSERT_EQ(::fcntl(write_end.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string more_than_a_pipe_holds(1'000'000, 'x');
  std::string text;
  std::thread reader([&text, fd = read_end.get()] { text = read_to_end(fd); });
  EXPECT_TRUE(print(write_end.get(), more_than_a_pipe_holds));
  write_end.reset();
  reader.join();
  EXPECT_EQ(text, more_than_a_pipe_holds);
}

TEST(Print, TellsThatNobodyCanTakeTheText) {
  const auto pipe = make_pipe();
  EXPECT_FALSE(print(pipe.first.get(), "text")) << "an end that can only be read";
}

}  // namespace
}  // namespace rota::os

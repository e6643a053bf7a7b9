// A sealed file can be read by many processes, and changed by none.
#include "os/sealed_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include <rota/error.h>

namespace rota::os {
namespace {

TEST(SealedFile, HoldsWhatItWasMadeWith) {
  const std::string text(100'000, 'x');
  const Fd file = make_sealed_file("test", text);
  for (int reader = 0; reader < 2; ++reader) {
    EXPECT_EQ(read_sealed_file(file, text.size()), text) << "reader " << reader;
  }
  EXPECT_EQ(read_sealed_file(file, 7), "xxxxxxx");
  EXPECT_EQ(read_sealed_file(file, text.size() + 1), text);
  EXPECT_EQ(read_sealed_file(make_sealed_file("empty", ""), 10), "");
}

TEST(SealedFile, CanBeChangedByNobody) {
  const Fd file = make_sealed_file("test", "text");
  EXPECT_EQ(::pwrite(file.get(), "T", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(file.get(), 2), -1);
  EXPECT_EQ(::ftruncate(file.get(), 8), -1);
  EXPECT_EQ(read_sealed_file(file, 8), "text");
}

TEST(SealedFile, IsRefusedWhereNoFileMayBeThatLong) {
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  try {
    make_sealed_file("test", std::string(2000, 'x'));
    ADD_FAILURE() << "a file above the size limit was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kSystem);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, previous);
}

}  // namespace
}  // namespace rota::os

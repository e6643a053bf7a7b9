// Only a regular file is read, and opening anything else never waits.
#include "os/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <rota/error.h>

#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::os {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

class MappedFileTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void expect_refused(const std::string& name, ErrorCode code, const std::string& words) const {
    const auto error = error_of([&] { MappedFile file(path(name)); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), code) << name;
    EXPECT_THAT(error->what(), HasSubstr(path(name) + ": " + words));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(MappedFileTest, HasTheBytesOfTheFile) {
  folder_.write("a", {1, 2, 3, 4, 5});
  MappedFile file(path("a"));
  EXPECT_EQ(file.size(), 5U);
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(file.read(2, bytes), 3U);
  EXPECT_EQ(bytes[0], std::byte{3});
  EXPECT_EQ(file.read(5, bytes), 0U);
  MappedFile moved(std::move(file));
  ASSERT_EQ(moved.map().size(), 5U);
  EXPECT_EQ(moved.map()[4], std::byte{5});
}

TEST_F(MappedFileTest, CanBeEmpty) {
  folder_.write("a", {});
  EXPECT_TRUE(MappedFile(path("a")).map().empty());
}

// A 32-bit program can read such a file, but has too few addresses to map it.
TEST_F(MappedFileTest, CanBeLargerThanFourGiB) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  constexpr std::uint64_t kPlace = 9 * kGiB / 2;
  folder_.write("a", {1});
  std::filesystem::resize_file(path("a"), 5 * kGiB);  // Takes no room on the disk.
  std::fstream(path("a"), std::ios::in | std::ios::out | std::ios::binary).seekp(kPlace).put(7);
  MappedFile file(path("a"));
  EXPECT_EQ(file.size(), 5 * kGiB);
  std::array<std::byte, 3> bytes{};
  EXPECT_EQ(file.read(kPlace - 1, bytes), 3U);
  EXPECT_EQ(bytes, (std::array{std::byte{0}, std::byte{7}, std::byte{0}}));
  if (sizeof(void*) == 8) {
    EXPECT_EQ(file.map()[kPlace], std::byte{7});
    return;
  }
  const auto error = error_of([&] { file.map(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNoMemory);
  EXPECT_THAT(error->what(), HasSubstr("a 32-bit program has no addresses for 5368709120 bytes"));
}

TEST_F(MappedFileTest, IsNothingButARegularFile) {
  folder_.write("a", {1});
  std::filesystem::create_symlink(path("a"), path("link"));
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, path("socket").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  expect_refused("link", ErrorCode::kBadData, "is a symbolic link, expected a regular file");
  expect_refused("folder", ErrorCode::kBadData, "is a folder");
  expect_refused("pipe", ErrorCode::kBadData, "is a pipe");
  expect_refused("socket", ErrorCode::kBadData, "is a socket");
  expect_refused("missing", ErrorCode::kNotFound, "No such file");
  expect_refused("a/b", ErrorCode::kSystem, "Not a directory");
  EXPECT_THROW(MappedFile(path("a/b")), UnreadableFile);
  ::close(socket);
}

}  // namespace
}  // namespace rota::os

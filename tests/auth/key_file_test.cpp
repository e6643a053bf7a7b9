// A key file is refused if other users could read or change it. As an exception, the group of the
// file may read it.
#include "auth/key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <random>
#include <thread>

#include <rota/error.h>

#include "auth/bytes.h"
#include "base/hex.h"
#include "os/file.h"
#include "os/pipe.h"
#include "testing/key_text.h"
#include "training/temporary_folder.h"

namespace rota::auth {
namespace {

namespace fs = std::filesystem;

const std::string kText = testing::key_text('k', 64);

std::string counted(int first, int step) {
  std::string text;
  for (int i = 0; i < 32; ++i) text += static_cast<char>(first + step * i);
  return text;
}

// Reads a key from a descriptor that holds `text`. Returns the message of the error, or "none".
std::string trouble_with_descriptor(const std::string& text) {
  auto [read, write] = os::make_pipe();
  EXPECT_EQ(::write(write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  write.reset();
  try {
    read_key_descriptor(read.get(), base::Clock::now() + std::chrono::seconds(10));
    return "none";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
}

class KeyFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text, mode_t permissions = 0600,
                    const std::string& name = "key") {
    const fs::path path = folder_.write(name, {text.begin(), text.end()});
    EXPECT_EQ(::chmod(path.c_str(), permissions), 0);
    return path;
  }

  // Reads the key file. Returns the message of the error without the file's name, or "none".
  std::string trouble_with(const std::string& path) {
    try {
      read_key_file(path);
      return "none";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      const std::string opening = "the key file " + path + " ";
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(opening)) << text;
      return text.substr(opening.size());
    }
  }

  testing::TemporaryFolder folder_;
};

Bytes read(const std::string& path) { return bytes_of(read_key_file(path).bytes()); }

TEST_F(KeyFile, IsReadButForOneNewline) {
  EXPECT_EQ(read(write(kText)), bytes_of(kText));
  EXPECT_EQ(read(write(kText + "\n")), bytes_of(kText));
  EXPECT_EQ(read(write(kText + "\n\n")), bytes_of(kText + "\n"));
  EXPECT_EQ(read(write(kText + "\n" + kText)), bytes_of(kText + "\n" + kText));
}

// One in 256 keys drawn from /dev/urandom ends in a newline byte.
TEST_F(KeyFile, MayEndInANewlineOfItsOwn) {
  const std::string drawn = testing::key_text('k', 31) + "\n";
  EXPECT_EQ(read(write(drawn)), bytes_of(drawn));
  EXPECT_EQ(read(write(drawn + "\n")), bytes_of(drawn));
}

TEST_F(KeyFile, HoldsFrom32To4096Bytes) {
  const std::string shortest = testing::key_text('k', 32);
  const std::string longest = testing::key_text('k', 4096);
  EXPECT_EQ(read(write(shortest + "\n")), bytes_of(shortest));
  EXPECT_EQ(read(write(longest + "\n")), bytes_of(longest));
  const std::string too_short = write(std::string(31, 'k'));
  EXPECT_EQ(trouble_with(too_short),
            "has 31 bytes, but a key needs at least 32; (umask 077; head -c 32 /dev/urandom > " +
                too_short + ")");
  EXPECT_TRUE(trouble_with(write(std::string(30, 'k') + "\n")).starts_with("has 31 bytes"));
  EXPECT_TRUE(trouble_with(write("")).starts_with("has 0 bytes"));
  EXPECT_EQ(trouble_with(write(longest + "k")),
            "has more than 4096 bytes, so it is not a key; give the right one");
  EXPECT_NE(trouble_with(write(longest + "\n\n")), "none");
  EXPECT_NE(trouble_with(write(longest + longest)), "none");
}

TEST_F(KeyFile, HoldsWhatWasDrawn) {
  const std::string hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
  const std::string base64 = "q1fXlQmJtN0aVb7sZyHkT3cEoRgUuWdPiLxMzC5Bv8A=";
  EXPECT_EQ(trouble_with(write(hex)), "none");
  EXPECT_EQ(trouble_with(write(base64)), "none");
  for (const std::string& weak :
       {std::string(32, '\0'), std::string(40, 'k'), counted(0, 1), counted(255, -1),
        counted(7, 40), std::string("correcthorsebatterystaplecorrecthorse"),
        std::string("my very secret key of 2026, and of no use"),
        std::string("abcdefghijklmnopqrstuvwxyzABCDEF"),
        std::string("0123456789abcdef0123456789abcdef"),
        std::string("0123456789abcdef0123456789abcdef0123456789abcdef0123"),
        testing::key_text('k', 16) + testing::key_text('k', 16),
        testing::key_text('k', 31) + testing::key_text('k', 31)}) {
    EXPECT_THAT(trouble_with(write(weak)), ::testing::HasSubstr("looks typed")) << weak;
  }
  EXPECT_EQ(trouble_with(write(testing::key_text('k', 32) + testing::key_text('k', 32))), "none");
}

// Tests all drawn keys as bytes, and some of them in hexadecimal, as people write keys down.
TEST(DrawnKeys, AreNotTakenForTypedOnes) {
  std::mt19937_64 random(18);
  std::array<std::uint64_t, 4> words{};
  std::size_t hex_count = 0;
  constexpr std::size_t kKeys = 1'000'000;
  constexpr std::size_t kInHex = 100'000;
  for (std::size_t i = 0; i < kKeys; ++i) {
    for (std::uint64_t& word : words) word = random();
    const auto bytes = std::as_bytes(std::span(words));
    ASSERT_FALSE(is_hand_made(bytes)) << base::to_hex(bytes);
    if (i >= kInHex) continue;
    const std::string hex = base::to_hex(bytes.first(16));
    if (is_hand_made(std::as_bytes(std::span(hex)))) ++hex_count;
  }
  EXPECT_LT(hex_count, kInHex / 1000);
}

// Tries all permissions. A Secret has 0440 in a pod that sets fsGroup.
TEST_F(KeyFile, IsRefusedWhereOthersReadOrWriteOrTheGroupWrites) {
  const std::string path = write(kText);
  for (mode_t permissions = 0; permissions <= 0777; ++permissions) {
    ASSERT_EQ(::chmod(path.c_str(), permissions), 0);
    if (::access(path.c_str(), R_OK) != 0) continue;
    const bool is_trusted = (permissions & (S_IROTH | S_IWOTH | S_IWGRP)) == 0;
    EXPECT_EQ(trouble_with(path) == "none", is_trusted) << std::oct << permissions;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(trouble_with(path),
            "has the permissions 0644, so other users can read or change it; chmod "
            "g-w,o-rw " +
                path);
}

TEST_F(KeyFile, IsRefusedWhereItBelongsToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = write(kText);
  ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
  EXPECT_EQ(trouble_with(path),
            "belongs to user 12345, who could change it; make root or user 0 its owner");
  ASSERT_EQ(::chown(path.c_str(), 0, 12345), 0);
  EXPECT_EQ(trouble_with(path), "none");
}

// Method: root acts as another user. The key file may belong to that user or to root.
TEST_F(KeyFile, MayBelongToRootOrToUs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const std::string own = write(kText, 0400, "own");
  const std::string of_root = write(kText, 0440, "of_root");
  const std::string secret = write(kText, 0400, "secret");
  const std::string of_another = write(kText, 0440, "of_another");
  ASSERT_EQ(::chown(folder_.path().c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chown(own.c_str(), 12345, 0), 0);
  ASSERT_EQ(::chown(of_root.c_str(), 0, 12345), 0);
  ASSERT_EQ(::chown(of_another.c_str(), 54321, 12345), 0);
  ASSERT_EQ(::setegid(12345), 0);
  ASSERT_EQ(::seteuid(12345), 0);
  EXPECT_EQ(trouble_with(own), "none");
  EXPECT_EQ(trouble_with(of_root), "none");
  EXPECT_EQ(trouble_with(secret),
            "cannot be opened: Permission denied; let this user read it, or name another file");
  EXPECT_EQ(trouble_with(of_another),
            "belongs to user 54321, who could change it; make root or user 12345 its owner");
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(::setegid(0), 0);
}

// Kubernetes mounts a Secret like this: key -> ..data/key, ..data -> ..2024. The permissions of the
// links do not count, only those of the file. (Folders count too: see the next tests.)
TEST_F(KeyFile, MayLieBehindLinks) {
  const fs::path& root = folder_.path();
  fs::create_directory(root / "..2024");
  write(kText, 0440, "..2024/key");
  fs::create_symlink("..2024", root / "..data");
  fs::create_symlink("..data/key", root / "key");
  EXPECT_EQ(read(root / "key"), bytes_of(kText));
  write(kText, 0444, "..2024/key");
  EXPECT_NE(trouble_with(root / "key"), "none");
}

// The volume of a Secret has the permissions 01777: only the owner of a file may replace the file.
TEST_F(KeyFile, IsRefusedInAFolderWhereAnybodyMayReplaceIt) {
  const std::string folder = folder_.path();
  const std::string path = write(kText);
  for (const mode_t permissions : {0702, 0777, 02777}) {
    ASSERT_EQ(::chmod(folder.c_str(), permissions), 0);
    EXPECT_EQ(trouble_with(path), "is in the folder " + folder +
                                      ", where every user can replace it; chmod o-w " + folder);
  }
  for (const mode_t permissions : {0700, 0755, 0770, 01777, 01703}) {
    ASSERT_EQ(::chmod(folder.c_str(), permissions), 0);
    EXPECT_EQ(trouble_with(path), "none") << std::oct << permissions;
  }
}

TEST_F(KeyFile, IsRefusedWhereALinkToItOrItselfLiesInSuchAFolder) {
  const fs::path& root = folder_.path();
  for (const char* name : {"links", "keys"}) fs::create_directory(root / name);
  const std::string key = write(kText, 0600, "keys/key");
  const std::string link = root / "links/key";
  fs::create_symlink(key, link);
  EXPECT_EQ(trouble_with(link), "none");
  for (const char* name : {"links", "keys"}) {
    const std::string folder = root / name;
    ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
    EXPECT_TRUE(trouble_with(link).starts_with("is in the folder " + folder + ","));
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  }
}

TEST_F(KeyFile, IsRefusedWhereItIsNoFile) {
  const fs::path& root = folder_.path();
  EXPECT_EQ(trouble_with(root / "absent"),
            "cannot be opened: No such file or directory; let this user read it, or name another "
            "file");
  const char* no_file = "is not a regular file; name the file that holds the key";
  EXPECT_EQ(trouble_with(root), no_file);
  ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(trouble_with(root / "pipe"), no_file);
}

TEST_F(KeyFile, IsFoundWhereItIsNamedThenForTheHostThenAtHome) {
  const fs::path& root = folder_.path();
  KeyFilePlaces places{.named = "", .system_file = root / "system", .home = root};
  EXPECT_EQ(find_key_file(places), std::nullopt);
  fs::create_directories(root / ".config/rota");
  const std::string at_home = write(kText, 0600, ".config/rota/key");
  EXPECT_EQ(find_key_file(places), at_home);
  const std::string system = write(kText, 0600, "system");
  EXPECT_EQ(find_key_file(places), system);
  places.named = root / "absent";
  EXPECT_EQ(find_key_file(places), places.named)
      << "a named key file is used, even if it is absent";
}

TEST_F(KeyFile, IsNotLookedForAtHomeWhereThereIsNoHome) {
  EXPECT_EQ(find_key_file({.named = "", .system_file = folder_.path() / "system", .home = ""}),
            std::nullopt);
}

TEST_F(KeyFile, IsLookedForInEtcFirst) { EXPECT_EQ(KeyFilePlaces().system_file, "/etc/rota/key"); }

TEST(KeyDescriptor, IsReadToItsEnd) {
  for (const std::string& text : {kText, kText + "\n"}) {
    auto [read, write] = os::make_pipe();
    std::thread writer([&text, end = std::move(write)]() mutable {
      for (const char c : text) EXPECT_EQ(::write(end.get(), &c, 1), 1);
    });
    const SharedKey key =
        read_key_descriptor(read.get(), base::Clock::now() + std::chrono::seconds(10));
    writer.join();
    EXPECT_EQ(bytes_of(key.bytes()), bytes_of(kText));
  }
}

TEST(KeyDescriptor, MayBeAFile) {
  testing::TemporaryFolder folder;
  const auto path = folder.write("key", {kText.begin(), kText.end()});
  const os::OpenedFile opened = os::open_file(path);
  const SharedKey key =
      read_key_descriptor(opened.file.get(), base::Clock::now() + std::chrono::seconds(10));
  EXPECT_EQ(bytes_of(key.bytes()), bytes_of(kText));
}

TEST(KeyDescriptor, HasToHoldAKey) {
  EXPECT_NE(trouble_with_descriptor("").find("has 0 bytes, but a key needs at least 32"),
            std::string::npos);
  EXPECT_NE(trouble_with_descriptor(kText.substr(0, 31)).find("has 31 bytes"), std::string::npos);
  EXPECT_NE(trouble_with_descriptor(std::string(4098, 'k')).find("has more than 4096 bytes"),
            std::string::npos);
  EXPECT_EQ(trouble_with_descriptor(testing::key_text('k', 4096)), "none");
}

TEST(KeyDescriptor, IsGivenUpWhereItDoesNotEnd) {
  auto [read, write] = os::make_pipe();
  ASSERT_EQ(::write(write.get(), kText.data(), kText.size()), static_cast<ssize_t>(kText.size()));
  try {
    read_key_descriptor(read.get(), base::Clock::now() + std::chrono::milliseconds(20));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has not ended"), std::string::npos) << error.what();
  }
}

TEST(KeyDescriptor, HasToBeOpen) {
  try {
    read_key_descriptor(9999, base::Clock::now() + std::chrono::seconds(10));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("9999 cannot be read: "), std::string::npos);
  }
}

}  // namespace
}  // namespace rota::auth

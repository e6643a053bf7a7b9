// Tests digests of whole files, and of the ends of files: they must equal sha256() of the same
// bytes.
#include "auth/file_digest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/hex.h"

namespace rota::auth {
namespace {

class FileDigestOf : public ::testing::Test {
 protected:
  ~FileDigestOf() override { std::remove(path_.c_str()); }

  void write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }

  static Digest digest_of(const std::string& text) {
    return sha256(std::as_bytes(std::span(text)));
  }

  std::string path_ = ::testing::TempDir() + "file_digest_" + std::to_string(::getpid());
};

// Some files are longer than one read.
TEST_F(FileDigestOf, AllThatAFileHolds) {
  for (const std::size_t bytes : {0, 1, 1000, (1 << 18) - 1, 1 << 18, 700'001}) {
    std::string text(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * i % 251);
    write(text);
    EXPECT_EQ(digest_of_file(path_), (FileDigest{.bytes = bytes, .sha256 = digest_of(text)}));
  }
}

TEST_F(FileDigestOf, TheEndsOfAFile) {
  write("0123456789");
  EXPECT_EQ(digest_of_ends(path_, 3), (FileDigest{.bytes = 10, .sha256 = digest_of("012789")}));
  EXPECT_EQ(digest_of_ends(path_, 5), digest_of_file(path_));
  EXPECT_EQ(digest_of_ends(path_, 7), digest_of_file(path_));
  EXPECT_EQ(digest_of_ends(path_, 100), digest_of_file(path_));
}

TEST_F(FileDigestOf, NothingWhereThereIsNoFile) {
  EXPECT_EQ(digest_of_file(path_ + "/none"), std::nullopt);
  EXPECT_EQ(digest_of_ends("/", 3), std::nullopt);
}

TEST_F(FileDigestOf, IsWrittenAsSha256sumWritesIt) {
  EXPECT_EQ(base::to_hex(digest_of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace rota::auth

// A file is written as a whole, or an Error gives the reason. Nothing that exists is written over.
#include "os/durable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::os {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the message of kCannotWrite, or "done".
template <class Body>
std::string refusal_to_write(const Body& body) {
  const auto error = error_of(body);
  if (!error) return "done";
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite) << error->what();
  return error->what();
}

class DurableFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  testing::TemporaryFolder folder_;
};

TEST(Path, IsNoAddress) {
  for (const char* address : {"s3://bucket/run", "gs://b", "hdfs://host:1/x", "file:///x"}) {
    EXPECT_THAT(why_no_path(address), HasSubstr(address));
    EXPECT_THAT(refusal_to_write([&] { make_folders(address); }), HasSubstr(address));
  }
  for (const char* path :
       {"", "run", "/data/run", "://x", "a:/b", "a b://c", "./s3://x", "a/b://"}) {
    EXPECT_EQ(why_no_path(path), "") << path;
  }
}

TEST_F(DurableFile, HasWhatWasAppended) {
  NewFile file(path("a"));
  file.append(base::bytes_of("one"));
  file.append({});
  file.append(base::bytes_of("two"));
  EXPECT_EQ(file.written(), 6U);
  file.sync();
  EXPECT_EQ(contents_of(path("a")), "onetwo");
}

TEST_F(DurableFile, IsCutBack) {
  NewFile file(path("a"));
  file.append(base::bytes_of("one"));
  file.append(base::bytes_of("two"));
  file.cut_back(3);
  EXPECT_EQ(file.written(), 3U);
  file.append(base::bytes_of("three"));
  EXPECT_EQ(contents_of(path("a")), "onethree");
}

TEST_F(DurableFile, IsNeverWrittenOver) {
  std::ofstream(path("a")) << "old";
  std::filesystem::create_symlink(path("b"), path("link"));
  EXPECT_THAT(refusal_to_write([&] { NewFile file(path("a")); }),
              HasSubstr("a: cannot be created: File exists; something else is there"));
  EXPECT_THAT(refusal_to_write([&] { NewFile file(path("link")); }), HasSubstr("File exists"));
  EXPECT_EQ(contents_of(path("a")), "old");
}

TEST_F(DurableFile, NamesTheLimitOfFileSizes) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  NewFile file(path("a"));
  file.append(base::bytes_of("12345678"));
  EXPECT_THAT(refusal_to_write([&] { file.append(base::bytes_of("901")); }),
              HasSubstr("a: cannot be written after 8 bytes: File too large; raise the limit"));
  file.append(base::bytes_of("90"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST_F(DurableFile, IsInAFolderThatIsMadeWithThoseAboveIt) {
  make_folders(path("a/b/c"));
  make_folders(path("a/b/c"));
  make_folders(path("a/b/c/"));
  EXPECT_TRUE(std::filesystem::is_directory(path("a/b/c")));
  EXPECT_THAT(refusal_to_write([&] { make_folder(path("a")); }), HasSubstr("File exists"));
  EXPECT_THAT(refusal_to_write([&] { make_folder(path("x/y")); }), HasSubstr("No such file"));
  std::ofstream(path("file")) << "old";
  EXPECT_THAT(refusal_to_write([&] { make_folders(path("file/x")); }),
              HasSubstr("something else is there"));
  EXPECT_THAT(refusal_to_write([&] { make_folders("/proc/rota/x"); }), HasSubstr("/proc/rota"));
}

TEST_F(DurableFile, IsRenamedButNotOverAFolderWithContents) {
  make_folders(path("from"));
  make_folders(path("to"));
  std::ofstream(path("to/kept")) << "old";
  EXPECT_THAT(refusal_to_write([&] { os::rename(path("from"), path("to")); }),
              HasSubstr("from: cannot be renamed to " + path("to")));
  EXPECT_EQ(contents_of(path("to/kept")), "old");
  os::rename(path("from"), path("other"));
  EXPECT_TRUE(exists(path("other")));
  EXPECT_FALSE(exists(path("from")));
}

// Both ways of renaming a folder keep what has the name. rename() would replace the empty folder.
TEST_F(DurableFile, IsRenamedOnlyToAFreeName) {
  for (const auto& rename_to : {rename_to_free_name, rename_to_made_name}) {
    make_folders(path("from"));
    std::ofstream(path("from/kept")) << "new";
    make_folders(path("empty"));
    std::ofstream(path("file")) << "old";
    EXPECT_FALSE(rename_to(path("from"), path("empty")));
    EXPECT_TRUE(std::filesystem::is_empty(path("empty")));
    EXPECT_FALSE(rename_to(path("from"), path("file")));
    EXPECT_EQ(contents_of(path("file")), "old");
    EXPECT_TRUE(rename_to(path("from"), path("to")));
    EXPECT_EQ(contents_of(path("to/kept")), "new");
    EXPECT_FALSE(exists(path("from")));
    EXPECT_THAT(refusal_to_write([&] { rename_to(path("from"), path("new")); }),
                HasSubstr("from: cannot be renamed to " + path("new")));
    EXPECT_FALSE(exists(path("new")));
    EXPECT_THAT(refusal_to_write([&] { rename_to(path("to"), path("missing/new")); }),
                HasSubstr("cannot be renamed"));
    remove_all(path("to"));
  }
}

TEST_F(DurableFile, IsRemovedWithoutFollowingLinks) {
  make_folders(path("outside"));
  std::ofstream(path("outside/kept")) << "old";
  make_folders(path("gone/inner"));
  std::filesystem::create_symlink(path("outside"), path("gone/inner/link"));
  remove_all(path("gone"));
  remove_all(path("gone"));
  EXPECT_FALSE(exists(path("gone")));
  EXPECT_TRUE(exists(path("outside/kept")));
}

TEST_F(DurableFile, IsListedInTheOrderOfNames) {
  for (const char* name : {"b", "a", ".hidden"}) std::ofstream(path(name)) << "x";
  EXPECT_THAT(names_in(path("")), ElementsAre(".hidden", "a", "b"));
  const auto missing = error_of([&] { names_in(path("missing")); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code(), ErrorCode::kNotFound);
  const auto file = error_of([&] { names_in(path("a")); });
  ASSERT_TRUE(file);
  EXPECT_EQ(file->code(), ErrorCode::kSystem);
  EXPECT_THROW(names_in(path("a")), UnreadableFile);
}

TEST_F(DurableFile, SyncsAFolder) {
  sync_folder(path(""));
  EXPECT_THAT(refusal_to_write([&] { sync_folder(path("missing")); }), HasSubstr("missing"));
}

}  // namespace
}  // namespace rota::os

// Somebody takes the name of a version in the moment when publish() takes it, on file systems that
// can rename without replacing, and on others. Method: this program has its own rename() and
// renameat2(), which first do what the test says. It is a program of its own for this reason.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rota/publish.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "training/temporary_folder.h"

namespace {

std::string taken_name;        // A folder that is made before a rename to it. Empty: none.
bool knows_no_replace = true;  // False: the file system is like NFS.
unsigned refused_flags = 0;    // How often such a file system has refused.

}  // namespace

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  if (to == taken_name) ::mkdir(to, 0700);
  if (flags != 0 && !knows_no_replace) {
    ++refused_flags;
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

namespace rota {
namespace {

OnnxGraph copying_graph() {
  OnnxGraph graph("copying");
  graph.add_input("x", OnnxType::kFloat, {"batch", 2});
  graph.add_node({"Identity", {"x"}, {"y"}, {}});
  graph.add_output("y", OnnxType::kFloat, {"batch", 2});
  return graph;
}

class PublishRace : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    knows_no_replace = GetParam();
    refused_flags = 0;
  }
  void TearDown() override { taken_name.clear(); }

  testing::TemporaryFolder folder_;
};

TEST_P(PublishRace, LeavesTheEmptyFolderToItsMaker) {
  taken_name = (folder_.path() / "1").string();
  const Published published = publish(folder_.path(), copying_graph(), {});
  EXPECT_EQ(published.version, 2U);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "1"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "2" / "model.onnx"));
  EXPECT_EQ(refused_flags, knows_no_replace ? 0U : 2U);
}

TEST_P(PublishRace, PublishesWhenNobodyElseDoes) {
  EXPECT_EQ(publish(folder_.path(), copying_graph(), {}).version, 1U);
  EXPECT_EQ(publish(folder_.path(), copying_graph(), {}).version, 2U);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "2" / "model.onnx"));
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    ++count;
  }
  EXPECT_EQ(count, 2U) << "no hidden folder stays";
}

INSTANTIATE_TEST_SUITE_P(FileSystems, PublishRace, ::testing::Bool());

}  // namespace
}  // namespace rota

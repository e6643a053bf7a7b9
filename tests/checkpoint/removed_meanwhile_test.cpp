// rota-checkpoint beside a job that removes checkpoints. Method: the commands run in this program,
// which replaces system calls. It renames a checkpoint, as the job does, just before a certain file
// is opened.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include <rota/error.h>

#include "checkpoint/folder.h"
#include "checkpoint/sample_checkpoint.h"
#include "checkpoint/watched_calls.h"
#include "launcher/checkpoint/commands.h"
#include "os/durable_file.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kDataFile = "/parameters-00000-of-00001.safetensors";
constexpr const char* kManifestFile = "/manifest.json";

// Steps 10 to 12 are saved. Step 11 is removed.
class RemovedMeanwhile : public ::testing::Test {
 protected:
  RemovedMeanwhile() {
    for (const std::uint64_t step : {10, 11, 12}) {
      SampleWriter writer(checkpoints_.path_of(step));
      writer.manifest.step = step;
      writer.manifest.tensors = {kSampleWeights};
      writer.add(kSampleWeights);
      writer.write({FileKind::kParameters, 0, 1});
      writer.finish();
    }
  }
  ~RemovedMeanwhile() override { testing::watch_calls({}); }

  // Lets step 11 be removed before `file` is opened. The call is the kernel's own: rename() here
  // would be watched too.
  void remove_before(const std::string& file) const {
    const std::string from = checkpoints_.path_of(11);
    const std::string to = checkpoints_.path() + "/" + removed_name(11);
    testing::watch_calls({.folder = checkpoints_.path(),
                          .before =
                              [=](const testing::FileCall& call) {
                                if (call.path != file) return;
                                ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD,
                                          to.c_str(), 0);
                              },
                          .after = {}});
  }

  void put_back() const {
    testing::watch_calls({});
    os::rename(checkpoints_.path() + "/" + removed_name(11), checkpoints_.path_of(11));
  }

  testing::TemporaryFolder temporary_;
  CheckpointFolder checkpoints_{temporary_.path().string()};
};

TEST_F(RemovedMeanwhile, IsNoFailureOfAList) {
  for (const std::uint64_t opened : {12, 11}) {
    remove_before(checkpoints_.path_of(opened) + kManifestFile);
    const launcher::Answer list = launcher::list_checkpoints(checkpoints_.path());
    EXPECT_EQ(list.code, 0) << list.text;
    EXPECT_THAT(list.text, HasSubstr("\n000000000012        2  "));
    EXPECT_THAT(list.text, HasSubstr("\n000000000011  removed\n000000000010        2  "));
    put_back();
  }
}

TEST_F(RemovedMeanwhile, IsNoDamage) {
  for (const std::string& opened :
       {checkpoints_.path_of(12) + kManifestFile, checkpoints_.path_of(11) + kManifestFile,
        checkpoints_.path_of(11) + kDataFile}) {
    remove_before(opened);
    const launcher::Answer answer = launcher::verify_checkpoints(checkpoints_.path());
    EXPECT_EQ(answer.code, 0) << answer.text;
    EXPECT_THAT(answer.text, StartsWith(checkpoints_.path_of(12) + ": whole, 1 files, "));
    EXPECT_THAT(answer.text,
                HasSubstr("\n" + checkpoints_.path_of(11) + ": was removed meanwhile\n" +
                          checkpoints_.path_of(10) + ": whole, 1 files, "));
    put_back();
  }
}

TEST_F(RemovedMeanwhile, IsMissingIfItIsNamed) {
  remove_before(checkpoints_.path_of(11) + kDataFile);
  const auto error =
      testing::error_of([&] { launcher::verify_checkpoints(checkpoints_.path_of(11)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kNotFound);
  EXPECT_EQ(error->what(), checkpoints_.path_of(11) + ": was removed meanwhile");
}

}  // namespace
}  // namespace rota::checkpoint

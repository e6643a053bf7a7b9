// The example with --checkpoint-dir, as a user runs it: what it prints when it goes on, which exit
// codes it has, and what it does with a folder that it cannot use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "mnist/few_images.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using testing::Process;
using testing::Result;
using testing::TemporaryFolder;
using Arguments = std::vector<std::string>;

class Resumed : public ::testing::Test {
 protected:
  Resumed() { testing::write_few_images(data_, 2000, 500); }

  std::string run_folder() const { return (folder_.path() / "run").string(); }

  Arguments job(const std::string& ranks, const Arguments& more) const {
    Arguments all = {
        "-np",  ranks,    testing::bin_path("mnist"), "--data",    data_.path().string(), "--model",
        "seed", "--json", "--checkpoint-dir",         run_folder()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Result run(const std::string& ranks, const Arguments& more) const {
    return testing::run_rotarun(job(ranks, more));
  }

  // Returns the events of this name.
  static std::vector<json> events(const Result& result, const std::string& name) {
    std::vector<json> found;
    std::istringstream out(result.out);
    for (std::string line; std::getline(out, line);) {
      json value = json::parse(line);
      if (value["event"] == name) found.push_back(std::move(value));
    }
    return found;
  }
  static std::string hash_of(const Result& result) {
    const auto done = events(result, "done");
    EXPECT_EQ(done.size(), 1U) << result.err;
    return done.empty() ? "" : done.front()["weights_hash"];
  }

  TemporaryFolder data_;
  TemporaryFolder folder_;
};

TEST_F(Resumed, GoesOnWithFurtherEpochs) {
  const Result first = run("2", {"--epochs", "1", "--checkpoint-every", "4"});
  const auto saved = events(first, "checkpoint");
  ASSERT_GE(saved.size(), 2U) << first.err;
  EXPECT_EQ(saved.back()["step"], 10);
  EXPECT_EQ(saved.back()["path"], run_folder() + "/000000000010");
  EXPECT_GT(saved.back()["bytes"], 300'000);
  EXPECT_GE(saved.back()["stall_us"], 0);
  EXPECT_GE(saved.back()["left_out"], 0);

  const Result second = run("2", {"--epochs", "3"});
  const auto restored = events(second, "restored");
  ASSERT_EQ(restored.size(), 1U) << second.err;
  EXPECT_EQ(restored.front()["step"], 10);
  EXPECT_EQ(restored.front()["world"], 2);
  EXPECT_EQ(restored.front()["path"], run_folder() + "/000000000010");
  EXPECT_THAT(restored.front()["note"], HasSubstr("epochs was 1 and is 3"));
  hash_of(second);
}

TEST_F(Resumed, SaysWhoseParametersItBeginsWith) {
  run("2", {"--epochs", "1"});
  fs::rename(run_folder(), folder_.path() / "old");
  const std::string from = (folder_.path() / "old/000000000010").string();
  const Result branch = run("1", {"--epochs", "1", "--resume", "parameters", "--from", from});
  hash_of(branch);
  const auto restored = events(branch, "restored");
  ASSERT_EQ(restored.size(), 1U) << branch.err;
  EXPECT_EQ(restored.front()["step"], 0);
  EXPECT_EQ(restored.front()["path"], from);
  EXPECT_EQ(restored.front()["world"], 2);
}

TEST_F(Resumed, SaysDoneAgainWhereTrainingHadEnded) {
  const Result first = run("2", {"--epochs", "2"});
  const Result second = run("2", {"--epochs", "2"});
  EXPECT_EQ(hash_of(second), hash_of(first));
  EXPECT_EQ(events(second, "done")[0]["test_accuracy"], events(first, "done")[0]["test_accuracy"]);
  EXPECT_TRUE(events(second, "first_step").empty());
}

TEST_F(Resumed, SavesBeforeItStops) {
  Process process(testing::rotarun(job("2", {"--epochs", "1000000"})));
  ASSERT_TRUE(process.wait_for("\"epoch\":2"));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 143) << result.err;
  const auto stopped = events(result, "stopped");
  ASSERT_EQ(stopped.size(), 1U) << result.out;
  const std::string path = stopped.front()["path"];
  EXPECT_TRUE(fs::exists(path + "/manifest.json")) << path;
  const auto saved = events(result, "checkpoint");
  EXPECT_EQ(saved.back()["step"], stopped.front()["steps"]);
}

TEST_F(Resumed, KeepsACopyOnThisHost) {
  const Result first = run("2", {"--epochs", "1", "--checkpoint-storage", "per-host"});
  const Result second = run("2", {"--epochs", "1", "--checkpoint-storage", "per-host"});
  ASSERT_EQ(events(second, "restored").size(), 1U) << second.err;
  EXPECT_EQ(events(second, "restored").front()["note"], "");
  EXPECT_EQ(hash_of(second), hash_of(first));
  const Result wrong = run("1", {"--checkpoint-storage", "host"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--checkpoint-storage host: expected shared or per-host"));
}

TEST_F(Resumed, AllAreDamagedIs65) {
  run("2", {"--epochs", "1"});
  for (const auto& entry : fs::directory_iterator(run_folder() + "/000000000010")) {
    if (entry.path().extension() == ".safetensors") fs::resize_file(entry.path(), 100);
  }
  const Result result = run("2", {"--epochs", "1"});
  EXPECT_EQ(result.exit_code, 65) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no checkpoint is whole"));
}

TEST_F(Resumed, NothingToResumeFromIs66) {
  const Result result = run("2", {"--epochs", "1", "--resume", "required"});
  EXPECT_EQ(result.exit_code, 66) << result.err;
  EXPECT_THAT(result.err, HasSubstr(run_folder()));
}

// Method: no file system has a name so long, so the system refuses to look, even for root.
TEST_F(Resumed, ACheckpointThatCannotBeReadIs66) {
  const std::string from = (folder_.path() / std::string(300, 'x')).string();
  const Result training = run("2", {"--epochs", "1", "--from", from});
  EXPECT_EQ(training.exit_code, 66) << training.err;
  EXPECT_THAT(training.err, HasSubstr("a checkpoint cannot be read: " + from + ": "));
  const Result evaluation =
      testing::run({.arguments = {testing::bin_path("mnist"), "--data", data_.path().string(),
                                  "--model", "seed", "--evaluate", "--from", from}});
  EXPECT_EQ(evaluation.exit_code, 66) << evaluation.err;
  EXPECT_THAT(evaluation.err, HasSubstr(from + ": "));
}

// Method: a link that leads to itself has the name of a checkpoint, so the system refuses to look,
// even for root.
TEST_F(Resumed, AFolderWithACheckpointThatCannotBeReadIs66) {
  run("2", {"--epochs", "1"});
  const std::string newest = run_folder() + "/000000000099";
  fs::create_symlink("000000000099", newest);
  const Result result = run("2", {"--epochs", "2"});
  EXPECT_EQ(result.exit_code, 66) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the folder of checkpoints cannot be read: " + newest + ": "));
  EXPECT_THAT(result.err, HasSubstr("; look at the disk and its permissions, and start again"));
}

TEST_F(Resumed, AFolderThatCannotBeMadeIs73) {
  std::ofstream(run_folder()) << "a file";
  const Result result = run("2", {"--epochs", "1"});
  EXPECT_EQ(result.exit_code, 73) << result.err;
  EXPECT_THAT(result.err, HasSubstr(run_folder()));
}

TEST_F(Resumed, AFolderThatAnotherJobUsesIs73) {
  Process first(testing::rotarun(job("1", {"--epochs", "1000000"})));
  ASSERT_TRUE(first.wait_for("first_step"));
  const Result second = run("1", {"--epochs", "1", "--checkpoint-wait", "0.3s"});
  EXPECT_EQ(second.exit_code, 73) << second.err;
  EXPECT_THAT(second.err, HasSubstr("process "));
  EXPECT_THAT(second.err, HasSubstr("has not ended within 0.3 s"));
  first.signal(SIGKILL);
  first.wait();
}

TEST_F(Resumed, AnotherModelOrSeedIsRefused) {
  run("1", {"--epochs", "1"});
  const Result seed = run("1", {"--epochs", "1", "--seed", "2"});
  EXPECT_EQ(seed.exit_code, 1) << seed.err;
  EXPECT_THAT(seed.err, HasSubstr("seed 1, but this training run has seed 2"));
  const Result model = run("1", {"--epochs", "1", "--model", "mlp"});
  EXPECT_EQ(model.exit_code, 1) << model.err;
  EXPECT_THAT(model.err, HasSubstr("does not fit"));
}

TEST_F(Resumed, RefusesFlagsThatMakeNoSense) {
  const auto refused = [&](const Arguments& more, const std::string& text) {
    const Result result = run("1", more);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  refused({"--checkpoint-every", "0"}, "--checkpoint-every 0: expected");
  refused({"--checkpoint-every", "ten"}, "--checkpoint-every ten: expected");
  refused({"--checkpoint-every", "1.5"}, "--checkpoint-every 1.5: expected");
  refused({"--checkpoint-wait", "60"}, "--checkpoint-wait 60: expected 0s to 500s");
  refused({"--checkpoint-wait", "xs"}, "--checkpoint-wait xs: expected 0s to 500s");
  refused({"--checkpoint-wait", "600s"}, "--checkpoint-wait 600s: expected 0s to 500s");
  refused({"--keep", "0"}, "keep 0");
  refused({"--export", "s3://bucket/models"}, "--export s3://bucket/models: expected a folder");
  refused({"--resume", "maybe"}, "--resume maybe: expected auto");
  const Result alone = testing::run_rotarun({testing::bin_path("mnist"), "--keep", "3"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--keep needs --checkpoint-dir"));
}

}  // namespace
}  // namespace rota

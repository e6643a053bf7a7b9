// mnist --evaluate beside mnist that trains, as a user runs both: each checkpoint is evaluated
// once, even if the job is killed and started again, and the last one always is. Method: rotarun
// starts ranks and an evaluator on the first images of the example's data. Some jobs get SIGKILL at
// random times. ROTA_EVALUATOR_KILLS sets how often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
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

Arguments joined(Arguments first, const Arguments& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// Each line of `text` that is an object.
std::vector<json> objects_in(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json value = json::parse(line, nullptr, false);
    if (value.is_object()) objects.push_back(std::move(value));
  }
  return objects;
}

std::vector<json> events(const std::string& out, const std::string& name) {
  std::vector<json> found = objects_in(out);
  std::erase_if(found, [&](const json& each) { return each.value("event", "") != name; });
  return found;
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MnistEvaluator : public ::testing::Test {
 protected:
  MnistEvaluator() {
    testing::adopt_orphans();
    testing::write_few_images(data_, 2000, 200);
  }

  std::string run_folder() const { return (folder_.path() / "run").string(); }

  // What both programs need to know.
  Arguments shared(const Arguments& more = {}) const {
    return joined(
        {testing::bin_path("mnist"), "--data", data_.path().string(), "--json", "--model", "seed",
         "--batch-size", "20", "--validation", "0.1", "--checkpoint-dir", run_folder()},
        more);
  }

  // Two ranks and an evaluator. An epoch has 45 steps.
  Arguments job(const std::string& epochs, const Arguments& more = {}) const {
    const Arguments train =
        joined(shared(), joined({"--epochs", epochs, "--checkpoint-every", "15"}, more));
    return joined(joined({"-np", "2"}, train),
                  joined({":", "--role", "evaluator"},
                         shared({"--evaluate", "--logdir", (folder_.path() / "logs").string()})));
  }

  std::vector<json> saved() const {
    return objects_in(text_of_file(run_folder() + "/evaluations.jsonl"));
  }

  // No checkpoint is there twice. Returns the last step.
  std::uint64_t require_each_once() const {
    std::set<std::tuple<std::string, std::uint64_t, std::uint64_t>> all;
    std::uint64_t last = 0;
    for (const json& line : saved()) {
      EXPECT_TRUE(all.emplace(line["run"], line["start"], line["step"]).second) << line;
      last = std::max<std::uint64_t>(last, line["step"]);
    }
    return last;
  }

  // Each checkpoint that the training run has kept has its line.
  void require_each_kept() const {
    const auto name_of = [](const json& each) {
      return std::tuple(each["run"].get<std::string>(), each["start"].get<std::uint64_t>(),
                        each["step"].get<std::uint64_t>());
    };
    std::set<std::tuple<std::string, std::uint64_t, std::uint64_t>> lines;
    for (const json& line : saved()) lines.insert(name_of(line));
    for (const auto& entry : fs::directory_iterator(run_folder())) {
      const std::string name = entry.path().filename();
      if (!entry.is_directory() || name.find_first_not_of("0123456789") != name.npos) continue;
      const json manifest = json::parse(text_of_file(entry.path() / "manifest.json"));
      EXPECT_TRUE(lines.contains(name_of(manifest))) << entry.path();
    }
  }

  TemporaryFolder data_;
  TemporaryFolder folder_;
};

TEST_F(MnistEvaluator, ScoresTheCheckpointsOfAJob) {
  const Result result = testing::run_rotarun(job("4"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(require_each_once(), 180U) << "the last one";
  require_each_kept();
  const auto all = events(result.out, "evaluation");
  std::vector<json> by_evaluator;
  for (const json& each : all) {
    EXPECT_EQ(each["samples"], 200) << "a tenth of 2000";
    if (each.contains("path")) by_evaluator.push_back(each);
  }
  ASSERT_FALSE(by_evaluator.empty()) << result.out << result.err;
  EXPECT_EQ(by_evaluator.size(), saved().size());
  const auto found = std::ranges::find(by_evaluator, 180,
                                       [](const json& each) { return each["step"].get<int>(); });
  ASSERT_NE(found, by_evaluator.end()) << result.out;
  const json last = *found;
  EXPECT_EQ(last["path"], run_folder() + "/000000000180");

  // The ranks evaluate the same weights and samples after the last epoch.
  json of_ranks;
  for (const json& each : all) {
    if (!each.contains("path") && each["step"] == 180) of_ranks = each;
  }
  EXPECT_EQ(last["accuracy"], of_ranks["accuracy"]);
  EXPECT_NEAR(last["loss"].get<double>(), of_ranks["loss"].get<double>(), 1e-6);

  const auto end = events(result.out, "evaluated");
  ASSERT_EQ(end.size(), 1U) << result.out;
  EXPECT_EQ(end[0]["checkpoints"], saved().size());
  EXPECT_TRUE(fs::exists(folder_.path() / "logs/evaluator"));
  EXPECT_TRUE(fs::exists(run_folder() + "/ended.json"));
}

// SIGTERM of rotarun: the ranks save their last checkpoint, and the evaluator scores it.
TEST_F(MnistEvaluator, ScoresTheLastCheckpointOfAStoppedJob) {
  Process process(testing::rotarun(job("1000")));
  ASSERT_TRUE(process.wait_for("\"path\"")) << process.err();
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 143) << result.err;
  const auto stopped = events(result.out, "stopped");
  ASSERT_EQ(stopped.size(), 1U) << result.out << result.err;
  EXPECT_EQ(require_each_once(), stopped[0]["steps"]);
  EXPECT_FALSE(fs::exists(run_folder() + "/ended.json")) << "there is more to do";
}

// The run had ended, and goes on. The evaluator must not end by the old ended.json.
TEST_F(MnistEvaluator, GoesOnWithTheRun) {
  ASSERT_EQ(testing::run_rotarun(job("1")).exit_code, 0);
  EXPECT_EQ(require_each_once(), 45U);
  const Result result = testing::run_rotarun(job("8"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(require_each_once(), 360U);
}

// Without ranks beside it: everything that is still there, and then the end.
TEST_F(MnistEvaluator, ScoresAFinishedRun) {
  const Result trained = testing::run_rotarun(
      joined({"-np", "2"}, shared({"--epochs", "2", "--checkpoint-every", "15", "--keep", "100"})));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Result result = testing::run({.arguments = shared({"--evaluate"})});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::uint64_t> steps;
  for (const json& each : events(result.out, "evaluation"))
    steps.insert(each["step"].get<std::uint64_t>());
  std::set<std::uint64_t> there;
  for (const auto& entry : fs::directory_iterator(run_folder())) {
    if (entry.is_directory()) there.insert(std::stoull(entry.path().filename().string()));
  }
  EXPECT_EQ(steps, there);
  EXPECT_TRUE(steps.contains(90));
  const Result again = testing::run({.arguments = shared({"--evaluate"})});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(events(again.out, "evaluation").empty());
}

TEST_F(MnistEvaluator, ScoresOneCheckpointOrFile) {
  const std::string models = (folder_.path() / "models").string();
  const Result trained =
      testing::run_rotarun(joined({"-np", "1"}, shared({"--epochs", "1", "--export", models})));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const json expected = events(trained.out, "evaluation").back();
  const std::string newest = run_folder() + "/000000000090";
  const json facts = json::parse(text_of_file(models + "/1/model.json"))["metadata"];
  EXPECT_EQ(facts["run"], json::parse(text_of_file(newest + "/manifest.json"))["run"]);
  EXPECT_THAT(facts.value("data_digest", ""), HasSubstr("labels' hash ")) << facts;
  for (const std::string& path : {newest, models + "/1/model.safetensors"}) {
    const Result result = testing::run({.arguments = shared({"--evaluate", "--from", path})});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto found = objects_in(result.out);
    ASSERT_EQ(found.size(), 1U) << result.out;
    EXPECT_EQ(found[0]["event"], "evaluation");
    EXPECT_EQ(found[0]["step"], 90);
    EXPECT_EQ(found[0]["samples"], 200);
    EXPECT_EQ(found[0]["path"], path);
    EXPECT_EQ(found[0]["accuracy"], expected["accuracy"]);
    EXPECT_NEAR(found[0]["loss"].get<double>(), expected["loss"].get<double>(), 1e-6);
  }
  EXPECT_FALSE(fs::exists(run_folder() + "/evaluations.jsonl"));
}

// The predicted classes of the test images are right as often as --evaluate says. Without
// --validation, the test images are scored.
TEST_F(MnistEvaluator, PredictsTheClassOfEachImage) {
  const std::string models = (folder_.path() / "models").string();
  const Arguments mnist = {testing::bin_path("mnist"), "--data", data_.path().string(), "--json"};
  const Result trained = testing::run_rotarun(joined(
      {"-np", "1"},
      joined(mnist, {"--epochs", "2", "--checkpoint-dir", run_folder(), "--export", models})));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Arguments from = {"--from", models + "/1/model.safetensors"};
  const Result evaluated = testing::run({.arguments = joined(joined(mnist, {"--evaluate"}), from)});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;

  const Arguments predict = {"--predict", data_.path().string() + "/t10k-images-idx3-ubyte"};
  const Result result = testing::run({.arguments = joined(joined(mnist, predict), from)});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto found = objects_in(result.out);
  ASSERT_EQ(found.size(), 200U);
  const Dataset test = read_idx_folder(data_.path()).test;
  std::size_t correct = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i]["event"], "prediction");
    EXPECT_EQ(found[i]["image"], i);
    const auto logits = found[i]["logits"].get<std::vector<double>>();
    ASSERT_EQ(logits.size(), 10U);
    const auto best = std::ranges::max_element(logits) - logits.begin();
    EXPECT_EQ(found[i]["class"], best);
    if (best == test.labels[i]) ++correct;
  }
  EXPECT_GT(correct, 100U) << "it has learnt";
  EXPECT_EQ(static_cast<double>(correct) / 200, objects_in(evaluated.out).at(0)["accuracy"]);

  std::string newest;  // The checkpoint of the last step has the same parameters.
  for (const auto& entry : fs::directory_iterator(run_folder())) {
    if (entry.is_directory()) newest = std::max(newest, entry.path().string());
  }
  const Result again =
      testing::run({.arguments = joined(joined(mnist, predict), {"--from", newest})});
  EXPECT_EQ(again.out, result.out) << again.err;

  const std::string spoilt = models + "/spoilt.safetensors";
  fs::copy_file(from[1], spoilt);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::fstream file(spoilt, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-static_cast<std::streamoff>(sizeof(nan)), std::ios::end);
  file.write(reinterpret_cast<const char*>(&nan), sizeof(nan));
  file.close();
  const Result refused =
      testing::run({.arguments = joined(joined(mnist, predict), {"--from", spoilt})});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.err,
            "mnist: the outputs of the model for image 0 are not finite: look at the parameters of "
            "--from\n");
}

TEST_F(MnistEvaluator, SurvivesKills) {
  const char* text = std::getenv("ROTA_EVALUATOR_KILLS");
  const int kills = text == nullptr ? 6 : std::atoi(text);
  std::mt19937_64 random(1);
  for (int kill = 0; kill < kills; ++kill) {
    Process process(testing::rotarun(job("1000")));
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % 1500));
    std::vector<pid_t> mnists;
    for (const pid_t pid : testing::live_descendants()) {
      std::string name;
      std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
      if (name == "mnist") mnists.push_back(pid);
    }
    if (mnists.empty() || kill % 3 == 0) {
      process.signal(SIGKILL);
    } else {  // The evaluator starts last.
      ::kill(kill % 3 == 1 ? mnists.back() : mnists.front(), SIGKILL);
    }
    process.wait();
    ASSERT_TRUE(testing::all_gone_within(std::chrono::seconds(20)));
    require_each_once();
  }
  const std::uint64_t before = require_each_once();
  const std::string epochs = std::to_string(before / 45 + 3);
  const Result result = testing::run_rotarun(job(epochs));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(require_each_once(), 45 * std::stoull(epochs)) << "the last one";
  require_each_kept();
  EXPECT_GT(saved().size(), 1U);
}

TEST_F(MnistEvaluator, RefusesWhatMakesNoSense) {
  const auto refused = [&](const Arguments& arguments, int code, const std::string& why) {
    const Result result = testing::run({.arguments = arguments});
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(why));
  };
  const std::string mnist = testing::bin_path("mnist");
  const std::string data = data_.path().string();
  refused({mnist, "--evaluate"}, 2, "--evaluate needs --checkpoint-dir");
  refused(shared({"--evaluate", "--from", run_folder() + "/nothing"}), 66, "nothing");
  const std::string images = data + "/t10k-images-idx3-ubyte";
  refused({mnist, "--predict", images}, 2, "--predict needs --from");
  refused(shared({"--predict", images, "--evaluate", "--from", "x"}), 2, "leave out one");
  refused(shared({"--predict", images, "--device", "cuda", "--from", "x"}), 2,
          "leave out --device");
  refused(shared({"--predict", images, "--from", run_folder() + "/nothing"}), 66, "nothing");
  refused(shared({"--predict", data + "/none", "--from", "x"}), 66, "none");
  refused(shared({"--predict", data + "/t10k-labels-idx1-ubyte", "--from", "x"}), 65,
          "t10k-labels");
  refused(shared({"--evaluate", "--from", data + "/t10k-labels-idx1-ubyte"}), 65, "t10k-labels");

  ASSERT_EQ(testing::run_rotarun(joined({"-np", "1"}, shared({"--epochs", "1"}))).exit_code, 0);
  const std::string checkpoint = run_folder() + "/000000000090";
  refused({mnist, "--data", data, "--validation", "0.1", "--evaluate", "--from", checkpoint}, 1,
          "0.dense.weights");
  refused({mnist, "--data", data, "--model", "seed", "--evaluate", "--from", checkpoint}, 1,
          "was trained on 1800 samples");

  const Result role = testing::run_rotarun(
      joined({"-np", "1", "sleep", "60", ":", "--role", "evaluator"}, shared()));
  EXPECT_EQ(role.exit_code, 2);
  EXPECT_THAT(role.err, HasSubstr("add --evaluate"));

  fs::remove(run_folder() + "/ended.json");
  Process first({.arguments = shared({"--evaluate"})});
  ASSERT_TRUE(first.wait_for("\"evaluation\""));
  refused(shared({"--evaluate"}), 73, "another evaluator");
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().exit_code, 143);
}

}  // namespace
}  // namespace rota

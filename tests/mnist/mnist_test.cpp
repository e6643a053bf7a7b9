// Tests the example as a user runs it: what it prints, which accuracy it reaches, and how it ends.
// Method: this build's program runs alone or under rotarun, mostly on the first few thousand images
// of its own data, so a run takes a second or two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "mnist/few_images.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/idx_bytes.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using nlohmann::json;
using testing::Bytes;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Result;
using testing::TemporaryFolder;
using Arguments = std::vector<std::string>;

const std::string kMnist = testing::bin_path("mnist");

class Mnist : public ::testing::Test {
 protected:
  Mnist() { use_images(3000, 1000); }

  void use_images(std::uint32_t train_count, std::uint32_t test_count) {
    testing::write_few_images(folder_, train_count, test_count);
  }

  testing::Command alone(const Arguments& arguments) const {
    testing::Command command;
    command.arguments = {kMnist, "--data", folder_.path().string()};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    return command;
  }

  Result run(const Arguments& arguments) const { return testing::run(alone(arguments)); }

  Result run_ranks(std::size_t world_size, const std::string& transport,
                   const Arguments& arguments) const {
    Arguments all = {"-np", std::to_string(world_size), "--transport", transport};
    const Arguments program = alone(arguments).arguments;
    all.insert(all.end(), program.begin(), program.end());
    return testing::run_rotarun(all);
  }

  TemporaryFolder folder_;
};

std::vector<json> lines_of(const Result& result) {
  std::vector<json> lines;
  std::istringstream out(result.out);
  for (std::string line; std::getline(out, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST_F(Mnist, WritesAJsonLineAtTheFirstStepAfterEachEpochAndAtTheEnd) {
  const Result result = run_ranks(2, "shm", {"--json", "--epochs", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> lines = lines_of(result);
  ASSERT_EQ(lines.size(), 4u) << result.out;
  EXPECT_EQ(lines[0]["event"], "first_step");
  EXPECT_GT(lines[0]["train_seconds"], 0);
  for (std::size_t epoch = 1; epoch <= 2; ++epoch) {
    const json& line = lines[epoch];
    EXPECT_EQ(line["event"], "epoch");
    EXPECT_EQ(line["epoch"], epoch);
    EXPECT_EQ(line["steps"], 15);
    EXPECT_GT(line["images_per_second"], 0);
    EXPECT_GT(line["train_seconds"], 0);
    EXPECT_GT(line["train_loss"], 0);
    EXPECT_GT(line["test_loss"], 0);
    EXPECT_LE(line["test_accuracy"], 1);
  }
  EXPECT_LT(lines[1]["train_seconds"], lines[2]["train_seconds"]) << "it adds up";
  EXPECT_EQ(lines[3]["event"], "done");
  EXPECT_EQ(lines[3]["world"], 2);
  EXPECT_EQ(lines[3]["transport"], "shm");
  EXPECT_EQ(lines[3]["test_accuracy"], lines[2]["test_accuracy"]);
  EXPECT_GE(lines[3]["seconds"], lines[2]["train_seconds"]);
  EXPECT_EQ(lines[3]["weights_hash"].get<std::string>().size(), 16u);
}

TEST_F(Mnist, EvaluatesAShareThatItDoesNotTrainOn) {
  const Result result =
      run_ranks(2, "shm", {"--json", "--epochs", "2", "--validation", "0.1", "--model", "seed"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> lines = lines_of(result);
  ASSERT_EQ(lines.size(), 6u) << result.out;
  EXPECT_EQ(lines[1]["event"], "evaluation");
  EXPECT_EQ(lines[1]["step"], 14) << "2700 images, of which a step takes 200";
  EXPECT_EQ(lines[1]["samples"], 300);
  EXPECT_GT(lines[1]["loss"], 0);
  EXPECT_LE(lines[1]["accuracy"], 1);
  EXPECT_EQ(lines[2]["event"], "epoch");
  EXPECT_EQ(lines[3]["step"], 28);

  const auto refused = [&](const std::string& share, const std::string& why) {
    const Result ended = run({"--validation", share});
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(why));
  };
  refused("1.5", "validation fraction 1.5: expected 0 to 1");
  refused("0.0001", "would be empty");
}

TEST_F(Mnist, LearnsFromAFewThousandImages) {
  const Arguments arguments = {"--json", "--epochs", "4"};
  const Result result = run_ranks(2, "shm", arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(lines_of(result).back()["test_accuracy"], 0.85);
}

TEST_F(Mnist, LeavesTheSameWeightsOverEveryTransport) {
  for (const char* model : {"seed", "mlp"}) {
    const Arguments arguments = {"--json", "--epochs", "1", "--model", model};
    const Result shm = run_ranks(3, "shm", arguments);
    const Result tcp = run_ranks(3, "tcp", arguments);
    ASSERT_EQ(shm.exit_code, 0) << shm.err;
    ASSERT_EQ(tcp.exit_code, 0) << tcp.err;
    EXPECT_EQ(lines_of(tcp).back()["transport"], "tcp");
    EXPECT_EQ(lines_of(shm).back()["weights_hash"], lines_of(tcp).back()["weights_hash"]) << model;
  }
}

// With each codec the weights are the same over every transport, and each codec gives other
// weights.
TEST_F(Mnist, LeavesTheSameWeightsByACodecOverEveryTransport) {
  std::set<std::string> hashes;
  const std::vector<std::string> codecs = {"identity",        "bf16", "fp16", "int8",
                                           "int8-stochastic", "top-k"};
  for (const std::string& codec : codecs) {
    const Arguments arguments = {"--json", "--epochs", "1", "--codec", codec};
    const Result shm = run_ranks(3, "shm", arguments);
    const Result tcp = run_ranks(3, "tcp", arguments);
    ASSERT_EQ(shm.exit_code, 0) << shm.err;
    ASSERT_EQ(tcp.exit_code, 0) << tcp.err;
    EXPECT_EQ(lines_of(shm).back()["weights_hash"], lines_of(tcp).back()["weights_hash"]) << codec;
    hashes.insert(lines_of(shm).back()["weights_hash"]);
  }
  EXPECT_EQ(hashes.size(), codecs.size());
}

TEST_F(Mnist, LearnsByEveryCodec) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and one epoch by each codec shows the same";
#endif
  for (const char* codec : {"bf16", "fp16", "int8", "int8-stochastic", "top-k"}) {
    const Result result = run_ranks(2, "shm", {"--json", "--epochs", "4", "--codec", codec});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_GE(lines_of(result).back()["test_accuracy"], 0.85) << codec;
  }
}

TEST_F(Mnist, EndsOnAllRanksWhereCodecAndPlanDoNotGoTogether) {
  const Result result = run_ranks(2, "shm", {"--codec", "int8", "--plan", "star"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("go along the ring: take plan auto or ring, not star"));
}

TEST_F(Mnist, LeavesTheSameWeightsAsThreadsAndAsProcesses) {
  for (const std::size_t world_size : {std::size_t{2}, std::size_t{3}}) {
    const Arguments arguments = {"--json", "--epochs", "1"};
    Arguments as_threads = arguments;
    as_threads.insert(as_threads.end(), {"--replicas", std::to_string(world_size)});
    const Result threads = run(as_threads);
    const Result processes = run_ranks(world_size, "shm", arguments);
    ASSERT_EQ(threads.exit_code, 0) << threads.err;
    ASSERT_EQ(processes.exit_code, 0) << processes.err;
    const json end = lines_of(threads).back();
    EXPECT_EQ(end["world"], world_size);
    EXPECT_EQ(end["weights_hash"], lines_of(processes).back()["weights_hash"]);
  }
}

TEST_F(Mnist, LeavesTheSameWeightsAsThreadsOfProcesses) {
  const Arguments arguments = {"--json", "--epochs", "1"};
  Arguments in_pairs = arguments;
  in_pairs.insert(in_pairs.end(), {"--replicas", "2"});
  const Result flat = run_ranks(4, "shm", arguments);
  ASSERT_EQ(flat.exit_code, 0) << flat.err;
  for (const char* transport : {"shm", "tcp"}) {
    const Result nested = run_ranks(2, transport, in_pairs);
    ASSERT_EQ(nested.exit_code, 0) << nested.err;
    const json end = lines_of(nested).back();
    EXPECT_EQ(end["world"], 4);
    EXPECT_EQ(end["weights_hash"], lines_of(flat).back()["weights_hash"]) << transport;
  }
}

// rotarun sets OMP_NUM_THREADS, and the library for matrix products reads this variable.
TEST_F(Mnist, LeavesTheSameWeightsWhateverTheNumberOfThreadsIsSaidToBe) {
  const auto weights_with = [this](const std::vector<std::string>& environment) {
    testing::Command command = alone({"--json", "--epochs", "1", "--replicas", "2"});
    command.environment = environment;
    const Result result = testing::run(std::move(command));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return lines_of(result).back()["weights_hash"].get<std::string>();
  };
  const std::string weights = weights_with({});
  for (const char* count : {"1", "2", "7"}) {
    EXPECT_EQ(weights_with({std::string("OMP_NUM_THREADS=") + count}), weights) << count;
  }
}

// There are eight replicas, and most machines that run this test have fewer cores.
TEST_F(Mnist, TrainsConvolutionsOnThreadsOfMoreProcessesThanCores) {
  use_images(320, 80);
  const Result result = run_ranks(
      4, "shm",
      {"--json", "--epochs", "1", "--model", "lenet", "--replicas", "2", "--batch-size", "10"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> lines = lines_of(result);
  EXPECT_EQ(lines.at(1)["steps"], 4);
  EXPECT_EQ(lines.back()["event"], "done");
  EXPECT_EQ(lines.back()["world"], 8);
}

// Uses once each setting that no other test here uses.
TEST_F(Mnist, TrainsWithOtherSettingsThanTheDefaults) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, and the tests of the layers and the optimizers show the same";
#endif
  for (const Arguments& arguments : {Arguments{"--model", "lenet"},
                                     {"--model", "seed", "--plan", "star"},
                                     {"--optimizer", "adam"},
                                     {"--momentum", "0.5", "--learning-rate", "0.01"},
                                     {"--decay-to", "0.5", "--seed", "7", "--batch-size", "33"}}) {
    Arguments all = {"--json", "--epochs", "1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Result result = run_ranks(2, "shm", all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(R"("event":"done")")) << arguments.back();
  }
}

TEST_F(Mnist, GivesTheSameWeightsForTheSameSeedAlone) {
  const auto hash = [&](const char* seed) {
    const Result result = run({"--json", "--epochs", "1", "--seed", seed});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return lines_of(result).back()["weights_hash"].get<std::string>();
  };
  EXPECT_EQ(hash("1"), hash("1"));
  EXPECT_NE(hash("1"), hash("2"));
}

TEST_F(Mnist, ShowsPeopleTheRankTableOnceAndALineAnEpoch) {
  const Result result = run_ranks(2, "shm", {"--epochs", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream out(result.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  ASSERT_GE(lines.size(), 7u) << result.out;
  EXPECT_THAT(lines[0], HasSubstr("world 2 on 1 host · shm · rotarun -np 2"));
  // A slow machine also prints lines of progress in between.
  const auto epoch_count = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("epoch ") && line.find("  test accuracy ") != std::string::npos;
  });
  EXPECT_EQ(epoch_count, 2) << result.out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), lines[0]), 1);
  EXPECT_THAT(lines.back(), ::testing::StartsWith("done in "));
  EXPECT_THAT(result.out, Not(HasSubstr("\r")));
}

TEST_F(Mnist, RewritesALiveLineWhereALauncherSaysThatATerminalIs) {
  testing::Command command = alone({"--epochs", "6"});
  command.environment = {"ROTA_TERMINAL=100"};
  const Result result = testing::run(command);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" left\x1b[K\r"));
}

TEST_F(Mnist, FindsItsOwnData) {
  testing::Command command;
  command.arguments = {kMnist, "--model", "seed", "--epochs", "1", "--json"};
  const Result result = testing::run(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result).at(1)["steps"], 600);
}

// The weights overflow in the first steps.
TEST_F(Mnist, EndsWhenTheLossIsNotFiniteAnymore) {
  for (const Result& result : {run_ranks(2, "shm", {"--learning-rate", "1e30"}),
                               run({"--learning-rate", "1e30", "--replicas", "2"})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(" of epoch 1: try a lower learning rate"));
  }
}

TEST_F(Mnist, FailsWhenItsOutputCannotBeWritten) {
  testing::Command command = alone({"--epochs", "1"});
  command.standard_output = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(command.standard_output, 0);
  const Result result = testing::run(command);
  ::close(command.standard_output);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("standard output cannot be written"));
}

// Returns the events that have this name.
std::vector<json> events_of(const Result& result, const std::string& name) {
  std::vector<json> events;
  for (const json& line : lines_of(result)) {
    if (line["event"] == name) events.push_back(line);
  }
  return events;
}

std::size_t count_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_F(Mnist, WritesSummariesOnRank0Alone) {
  const auto logs = folder_.path() / "logs" / "first";
  const Result result = run_ranks(3, "shm", {"--json", "--epochs", "1", "--logdir", logs});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"train", "test"}) EXPECT_EQ(count_in(logs / part), 1U) << part;
  const Result plain = run_ranks(3, "shm", {"--json", "--epochs", "1"});
  EXPECT_EQ(lines_of(result).back()["weights_hash"], lines_of(plain).back()["weights_hash"]);
}

TEST_F(Mnist, PublishesTheTrainedModelOnce) {
  const auto models = folder_.path() / "models";
  const Arguments arguments = {
      "--json",   "--epochs", "1", "--checkpoint-dir", (folder_.path() / "run").string(),
      "--export", models};
  for (int start = 0; start < 2; ++start) {  // The second one trains nothing.
    const Result result = run_ranks(2, "shm", arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<json> exported = events_of(result, "exported");
    ASSERT_EQ(exported.size(), 1U) << result.out;
    EXPECT_EQ(exported[0]["version"], 1);
    EXPECT_EQ(exported[0]["path"], (models / "1").string());
    EXPECT_EQ(lines_of(result).back()["event"], "exported") << "after it is done";
    std::ifstream file(models / "1" / "model.json");
    const json metadata = json::parse(file)["metadata"];
    EXPECT_EQ(metadata["step"], "15");
    EXPECT_EQ(metadata["weights_hash"], events_of(result, "done").at(0)["weights_hash"]);
    EXPECT_EQ(count_in(models), 1U);
  }
  Arguments longer = arguments;
  longer[2] = "2";
  EXPECT_EQ(events_of(run_ranks(2, "shm", longer), "exported").at(0)["version"], 2);
  const Result text = run({"--epochs", "1", "--replicas", "2", "--export", models});
  EXPECT_THAT(text.out, HasSubstr("published version 3  " + (models / "3").string() + "\n"));
}

// A run that was killed between its last checkpoint and its publishing.
TEST_F(Mnist, PublishesAModelThatWasTrainedBefore) {
  const std::string run_folder = (folder_.path() / "run").string();
  const auto models = folder_.path() / "models";
  Arguments arguments = {"--json", "--epochs", "1", "--checkpoint-dir", run_folder};
  ASSERT_EQ(run(arguments).exit_code, 0);
  arguments.insert(arguments.end(), {"--export", models, "--logdir", folder_.path() / "logs"});
  const Result result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(events_of(result, "restored").size(), 1U);
  EXPECT_EQ(events_of(result, "exported").at(0)["version"], 1);
}

TEST_F(Mnist, PublishesNothingWhenItIsStopped) {
  testing::Command command =
      testing::rotarun({"-np", "2", kMnist, "--data", folder_.path(), "--json", "--epochs",
                        "100000", "--export", folder_.path() / "models"});
  testing::Process process(std::move(command));
  ASSERT_TRUE(process.wait_for("first_step"));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(events_of(result, "stopped").size(), 1U) << result.err;
  EXPECT_TRUE(events_of(result, "exported").empty());
  EXPECT_EQ(count_in(folder_.path() / "models"), 0U);
}

TEST_F(Mnist, NeedsTheFolderOfModelsAndNotThatOfCurves) {
  const std::string file = folder_.write("file", {1});
  for (const char* flag : {"--logdir", "--export"}) {
    const bool is_needed = flag == std::string("--export");
    for (const Result& result : {run({"--epochs", "1", flag, file + "/x"}),
                                 run({"--epochs", "1", "--replicas", "2", flag, file + "/x"}),
                                 run_ranks(3, "shm", {"--epochs", "1", flag, file + "/x"})}) {
      EXPECT_EQ(result.exit_code, is_needed ? 73 : 0) << flag << " " << result.err;
      EXPECT_THAT(result.err, HasSubstr(file));
      EXPECT_EQ(result.out.find("epoch 1/") == std::string::npos, is_needed) << result.out;
    }
  }
}

struct Usage {
  Arguments arguments;
  const char* complaint;
};

TEST_F(Mnist, EndsWith2WhereItIsCalledWrongly) {
  for (const Usage& usage : {
           Usage{{"--epoch", "3"}, "unknown argument --epoch: did you mean --epochs?"},
           {{"--batchsize=3"}, "unknown argument --batchsize=3: did you mean --batch-size?"},
           {{"--lerning-rate", "1"}, "did you mean --learning-rate?"},
           {{"extra"}, "unknown argument extra: try --help"},
           {{"-z"}, "unknown argument -z: try --help"},
           {{"--model", "resnet"}, "--model resnet: expected seed, mlp or lenet"},
           {{"--optimizer", "lion"}, "--optimizer lion: expected sgd or adam"},
           {{"--optimizer", "adam", "--momentum", "0.5"}, "--momentum is for --optimizer sgd"},
           {{"--plan", "hexagon"}, "hexagon"},
           {{"--codec", "zip"}, "--codec zip: expected identity, bf16, fp16, int8, "},
           {{"--replicas", "0"}, "world"},
           {{"--epochs", "0"}, "epochs 0: expected 1 or more"},
           {{"--epochs", "3x"}, "--epochs 3x: expected a whole number from 0 to 1844674407370955"},
           {{"--epochs", "-1"}, "-1"},
           {{"--epochs"}, "epochs"},
           {{"--batch-size", "0"}, "batch size 0: expected 1 to 3000, a rank's share of 3000"},
           {{"--batch-size", "3001"}, "batch size 3001: expected 1 to 3000"},
           {{"--batch-size", "30000000000000000000"}, "--batch-size 30000000000000000000: "},
           {{"--learning-rate", "-1"}, "learning_rate"},
           {{"--learning-rate", "nan"}, "nan"},
           {{"--learning-rate", "0,1"}, "--learning-rate 0,1: expected a number, such as 0.05"},
           {{"--momentum", "1.5"}, "momentum"},
           {{"--logdir", ""}, "--logdir needs the name of a folder"},
           {{"--export="}, "--export needs the name of a folder"},
           {{"--decay-to", "2"}, "final learning rate factor"},
       }) {
    const Result result = run(usage.arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, ::testing::StartsWith("mnist: "));
    EXPECT_THAT(result.err, HasSubstr(usage.complaint));
    EXPECT_EQ(result.out.find("epoch 1/"), std::string::npos) << "it must not have trained";
  }
}

TEST_F(Mnist, EndsWith2OnAllRanksWhenABatchIsMoreThanARanksShare) {
  const Result result = run_ranks(2, "shm", {"--batch-size", "1501"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("batch size 1501: expected 1 to 1500, a rank's share of 3000 "
                                    "samples in a world of 2"));
}

TEST_F(Mnist, EndsWith65WhereDataIsDamaged) {
  const Bytes good = testing::gzip(testing::idx_labels(1000, 10));
  folder_.write("t10k-labels-idx1-ubyte", testing::with_damage(good, -5));
  const Result result = run({"--epochs", "1"});
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.err, HasSubstr("t10k-labels-idx1-ubyte: the gzip stream is damaged"));
}

TEST_F(Mnist, EndsWith65UnderRotarunToo) {
  folder_.write("train-images-idx3-ubyte", testing::idx_images(10, 28, 28));
  const Result result = run_ranks(2, "shm", {"--epochs", "1"});
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.err, HasSubstr("holds 3000 labels, but "));
}

TEST_F(Mnist, EndsWith65WhereAFolderTakesTheNameOfAFile) {
  std::filesystem::remove(folder_.path() / "train-labels-idx1-ubyte");
  std::filesystem::create_directory(folder_.path() / "train-labels-idx1-ubyte");
  const Result result = run({"--epochs", "1"});
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.err, HasSubstr("is a directory, expected an IDX file"));
}

TEST_F(Mnist, EndsWith66WhereDataIsMissing) {
  std::filesystem::remove(folder_.path() / "t10k-images-idx3-ubyte");
  const Result result = run({"--epochs", "1"});
  EXPECT_EQ(result.exit_code, 66);
  EXPECT_THAT(result.err, HasSubstr("neither t10k-images-idx3-ubyte nor t10k-images.idx3-ubyte"));
}

TEST_F(Mnist, TrainsOnOtherShapesAndClasses) {
  folder_.write("train-images-idx3-ubyte", testing::idx_images(300, 9, 11));
  folder_.write("train-labels-idx1-ubyte", testing::idx_labels(300, 26));
  folder_.write("t10k-images-idx3-ubyte", testing::idx_images(30, 9, 11));
  folder_.write("t10k-labels-idx1-ubyte", testing::idx_labels(30, 20));
  for (const char* model : {"seed", "mlp", "lenet"}) {
    const Result result = run_ranks(2, "shm", {"--model", model, "--epochs", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST_F(Mnist, PrintsItsHelp) {
  const Result result = run({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("--learning-rate"));
}

}  // namespace
}  // namespace rota

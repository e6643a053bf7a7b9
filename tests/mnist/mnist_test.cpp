// The example as a user runs it: what it prints, what it reaches, and how it ends.
// Method: the program of this build runs alone or under rotarun, mostly on the first few thousand
// images of its own data, so that a run takes a second or two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include <rota/idx.h>

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

Bytes images_of(const Dataset& data, std::uint32_t count) {
  const auto end = static_cast<std::ptrdiff_t>(count * data.shape.count());
  return testing::joined(testing::idx_header(testing::kImageMagic, {count, 28, 28}),
                         Bytes(data.pixels.begin(), data.pixels.begin() + end));
}

Bytes labels_of(const Dataset& data, std::uint32_t count) {
  return testing::joined(testing::idx_header(testing::kLabelMagic, {count}),
                         Bytes(data.labels.begin(), data.labels.begin() + count));
}

class Mnist : public ::testing::Test {
 protected:
  Mnist() { use_images(3000, 1000); }

  void use_images(std::uint32_t train_count, std::uint32_t test_count) {
    static const TrainAndTest kImages =
        read_idx_folder(testing::source_path("examples/mnist/data"));
    folder_.write("train-images-idx3-ubyte", images_of(kImages.train, train_count));
    folder_.write("train-labels-idx1-ubyte", labels_of(kImages.train, train_count));
    folder_.write("t10k-images-idx3-ubyte", images_of(kImages.test, test_count));
    folder_.write("t10k-labels-idx1-ubyte", labels_of(kImages.test, test_count));
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

// Whatever travels, it is the same everywhere; and each codec is a way of its own.
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
  GTEST_SKIP() << "takes minutes, for what one epoch by each codec shows";
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
  EXPECT_THAT(result.err, HasSubstr("goes along the ring: take plan auto or ring, not star"));
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

// rotarun sets the variable, which the library of the matrix products reads.
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

// Eight replicas, more than there are cores in most places that run this.
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

// Each setting once that no other test here has.
TEST_F(Mnist, TrainsWithOtherSettingsThanTheDefaults) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "takes minutes, for what the tests of the layers and the optimizers show";
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
  // A slow machine shows lines of progress in between.
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

// Weights that overflow in the first steps.
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
           {{"--epochs", "many"}, "many"},
           {{"--epochs", "-1"}, "-1"},
           {{"--epochs"}, "epochs"},
           {{"--batch-size", "0"}, "batch size 0: expected 1 to 3000, a rank's share of 3000"},
           {{"--batch-size", "3001"}, "batch size 3001: expected 1 to 3000"},
           {{"--batch-size", "99999999999999999999999"}, "99999999999999999999999"},
           {{"--learning-rate", "-1"}, "learning_rate"},
           {{"--learning-rate", "nan"}, "nan"},
           {{"--learning-rate", "fast"}, "fast"},
           {{"--momentum", "1.5"}, "momentum"},
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
  EXPECT_THAT(result.err,
              HasSubstr("neither t10k-images-idx3-ubyte nor t10k-images-idx3-ubyte.gz"));
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

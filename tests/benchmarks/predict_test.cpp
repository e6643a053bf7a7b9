// Tests `rota-bench predict`: its arguments, what it says about wrong ones, the memory of a rank,
// and its reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "predict/measured_workload.h"
#include "predict/worlds.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using ::testing::HasSubstr;

// Calls f with the words as a program gets them.
template <class F>
auto with_arguments(std::vector<std::string> words, F f) {
  words.insert(words.begin(), "predict");
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) pointers.push_back(word.data());
  return f(static_cast<int>(pointers.size()), pointers.data());
}

PredictArguments parsed_prediction(const std::vector<std::string>& words) {
  return with_arguments(words, [](int count, char** arguments) {
    auto options = predict_options();
    return predict_arguments_from(options.parse(count, arguments));
  });
}

const Workload kWorkload{.name = "two",
                         .forward_seconds = 1e-3,
                         .gradients = {{"first", 4096, 2e-3}, {"last", 1024, 1e-3}}};

// Returns the worlds that the words describe.
std::vector<PredictedWorld> predicted(const std::vector<std::string>& words) {
  const PredictArguments arguments = parsed_prediction(words);
  return predict_worlds(arguments, kWorkload, costs_of(arguments, {}));
}

std::string refused_prediction(const std::vector<std::string>& words) {
  try {
    predicted(words);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Predict, ReadsItsArguments) {
  const PredictArguments arguments = parsed_prediction({"--workload",
                                                        "w.txt",
                                                        "--hosts",
                                                        "1,8,64",
                                                        "--ranks-per-host",
                                                        "4",
                                                        "--hosts-per-switch",
                                                        "8",
                                                        "--oversubscription",
                                                        "2.5",
                                                        "--rate",
                                                        "25G",
                                                        "--latency",
                                                        "30us",
                                                        "--burst",
                                                        "128K",
                                                        "--plan",
                                                        "ring",
                                                        "--codec",
                                                        "bf16",
                                                        "--first-bucket",
                                                        "1M",
                                                        "--bucket",
                                                        "64M",
                                                        "--cores",
                                                        "16",
                                                        "--jitter",
                                                        "0.05",
                                                        "--seed",
                                                        "7",
                                                        "--steps",
                                                        "5",
                                                        "--fold",
                                                        "never",
                                                        "--json"});
  EXPECT_EQ(arguments.workload, "w.txt");
  EXPECT_EQ(arguments.host_counts, (std::vector<std::size_t>{1, 8, 64}));
  EXPECT_EQ(arguments.shape.ranks_per_host, 4u);
  EXPECT_EQ(arguments.shape.hosts_per_switch, 8u);
  EXPECT_EQ(arguments.shape.oversubscription, 2.5);
  EXPECT_DOUBLE_EQ(arguments.seconds_per_byte, 8 / 25e9);
  EXPECT_DOUBLE_EQ(arguments.latency_seconds, 30e-6);
  EXPECT_EQ(arguments.burst_bytes, 128 * 1024);
  EXPECT_EQ(arguments.step.plan, Algorithm::kRing);
  EXPECT_EQ(arguments.step.codec, Codec::kBfloat16);
  EXPECT_EQ(arguments.step.buckets.first_bucket_bytes, std::size_t{1} << 20);
  EXPECT_EQ(arguments.step.buckets.bucket_bytes, std::size_t{64} << 20);
  EXPECT_EQ(arguments.step.cores, 16u);
  EXPECT_EQ(arguments.step.jitter, 0.05);
  EXPECT_EQ(arguments.step.seed, 7u);
  EXPECT_EQ(arguments.step.steps, 5u);
  EXPECT_EQ(arguments.step.fold, Fold::kNever);
  EXPECT_TRUE(arguments.json);
}

TEST(Predict, IsForTheDefaultTransport) {
  EXPECT_EQ(parsed_prediction({}).transport, "tcp");
  EXPECT_EQ(parsed_prediction({"--ranks-per-host", "2"}).transport, "shm+tcp");
  EXPECT_EQ(parsed_prediction({"--ranks-per-host", "2", "--hosts", "1"}).transport, "shm");
  EXPECT_EQ(parsed_prediction({"--transport", "tcp encrypted"}).transport, "tcp encrypted");
}

// The ranks of one host share memory, as in a job. It does not matter that others need TCP.
TEST(Predict, OfOneHostAmongOthersSharesMemory) {
  const std::vector<std::string> pairs{"--ranks-per-host", "2",    "--rate", "1G",
                                       "--latency",        "100us"};
  const auto worlds_with = [&](std::vector<std::string> words) {
    words.insert(words.end(), pairs.begin(), pairs.end());
    return predicted(words);
  };
  const auto plan_of = [](const PredictedWorld& world) {
    return world.step.buckets.front().call.algorithm;
  };
  const std::vector<PredictedWorld> worlds = worlds_with({"--hosts", "1,2"});
  const std::vector<PredictedWorld> alone = worlds_with({"--hosts", "1"});
  EXPECT_EQ(plan_of(worlds[0]), Algorithm::kShared);
  EXPECT_NE(plan_of(worlds[1]), Algorithm::kShared);
  EXPECT_EQ(plan_of(alone[0]), Algorithm::kShared);
  EXPECT_EQ(worlds[0].step.step_seconds, alone[0].step.step_seconds);
  EXPECT_EQ(worlds[0].memory.communication_bytes, alone[0].memory.communication_bytes);
  EXPECT_NE(plan_of(worlds_with({"--hosts", "1,2", "--transport", "shm+tcp"})[0]),
            Algorithm::kShared);
}

TEST(Predict, RefusesRatesAndLatenciesThatAreNone) {
  for (const char* option : {"rate", "latency"}) {
    const std::string flag = std::string("--") + option;
    const std::string what = flag + ": the " + option + " ";
    EXPECT_EQ(refused_prediction({flag, "0"}), what + "is 0; it must be more than 0");
    EXPECT_EQ(refused_prediction({flag + "=-1"}), what + "is -1; it must be more than 0");
    EXPECT_EQ(refused_prediction({flag, "inf"}), what + "is inf; it must be finite");
    EXPECT_EQ(refused_prediction({flag, "nan"}), what + "is nan; it must be finite");
    EXPECT_EQ(refused_prediction({flag, "fast"}), what + "'fast' is not a number");
  }
  // A forgotten unit would make a latency of 50 s, and a rate of 25 bits a second.
  EXPECT_EQ(refused_prediction({"--latency", "50"}),
            "--latency: the latency 50 has no unit; there are ns, us, ms, s");
  EXPECT_EQ(refused_prediction({"--rate", "25"}),
            "--rate: the rate 25 has no unit; there are K, M, G, T");
  const PredictArguments arguments = parsed_prediction({"--latency", "2e-5", "--rate", "25e9"});
  EXPECT_EQ(arguments.latency_seconds, 2e-5);
  EXPECT_EQ(arguments.seconds_per_byte, 8 / 25e9);
  // These are infinite and 0 with their units, and 0 would mean that none was given.
  EXPECT_EQ(refused_prediction({"--rate", "1e308T"}),
            "--rate: the rate 1e308T is too large or too small for a prediction");
  EXPECT_EQ(refused_prediction({"--latency", "1e-307ns"}),
            "--latency: the latency 1e-307ns is too large or too small for a prediction");
  EXPECT_EQ(refused_prediction({"--hosts", "2"}),
            "a world of several hosts needs a rate and a latency: give --rate and --latency, or a "
            "--calibration of several hosts");
  EXPECT_EQ(refused_prediction({"--hosts", "1"}), "");
}

TEST(Predict, RefusesWorldsWithoutRanksAndTooLargeOnes) {
  const auto with = [](const std::string& hosts, const std::string& ranks) {
    return refused_prediction({"--hosts", hosts, "--ranks-per-host", ranks, "--rate", "1G",
                               "--latency", "1us", "--plan", "ring"});
  };
  EXPECT_EQ(with("0", "1"), "a world of 0 hosts has no ranks");
  EXPECT_EQ(with("2", "0"), "a world with 0 ranks on each host has no ranks");
  EXPECT_THAT(with("100001", "1"), HasSubstr("too many ranks: at most 100000 can be predicted"));
  EXPECT_EQ(with("1,x", "1"), "--hosts: 'x' is not a whole number");
  EXPECT_EQ(with("-1", "1"), "--hosts: '-1' is not a whole number");
  EXPECT_EQ(with("", "1"), "--hosts: '' is not a whole number");
}

TEST(Predict, RefusesNamesThatItDoesNotKnow) {
  EXPECT_EQ(refused_prediction({"--plan", "circle"}), "--plan 'circle' is not known");
  EXPECT_EQ(refused_prediction({"--codec", "zip"}), "--codec 'zip' is not known");
  EXPECT_EQ(refused_prediction({"--fold", "maybe"}),
            "--fold 'maybe' is not known; there are auto, never and always");
  EXPECT_EQ(refused_prediction({"--bucket", "4:64:x2"}),
            "--bucket is one size, of at least one byte");
  EXPECT_THAT(refused_prediction({"--first-bucket", "0"}), HasSubstr("--first-bucket: \"0\" is"));
  EXPECT_EQ(refused_prediction({"--transport", "udp"}),
            "--transport 'udp' is not known; there are shm, tcp, mpi, shm+tcp, and the same with "
            "the word encrypted, as in 'tcp encrypted'");
  EXPECT_EQ(refused_prediction({"--transport", "shm", "--hosts", "1,2"}),
            "--transport shm joins the ranks of one host: name shm+tcp for several hosts, or "
            "--hosts 1");
  EXPECT_EQ(refused_prediction({"--transport", "shm", "--hosts", "1", "--ranks-per-host", "2"}),
            "");
  EXPECT_EQ(refused_prediction({"--cores", "4x"}), "--cores: '4x' is not a whole number");
  EXPECT_EQ(refused_prediction({"more"}), "'more' is not an option");
}

TEST(Predict, WarnsAboutWorldsThatNoJobCanHave) {
  EXPECT_EQ(warning_of({{.host_count = 2}, {.host_count = 1024, .ranks_per_host = 4}}), "");
  EXPECT_EQ(warning_of({{.host_count = 2}, {.host_count = 1025, .ranks_per_host = 4}}),
            "a world of 4100 ranks is only predicted: a job has at most 4096 ranks\n");
}

// Runs the command with one rank on each host, and returns what it says on stderr.
std::string warning_for(const std::string& hosts, const std::string& flag,
                        const std::string& value) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = with_arguments(
      {"--rate", "1G", "--latency", "1us", "--plan", "ring", "--hosts", hosts, flag, value},
      run_predict_command);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("All figures are predicted"));
  EXPECT_EQ(code, 0);
  return ::testing::internal::GetCapturedStderr();
}

// Two sizes of one world give one warning.
TEST(Predict, WarnsAboutStepsAndAboutSingleAllReduces) {
  const std::string path = ::testing::TempDir() + "predicted_workload.txt";
  std::ofstream(path) << to_text(kWorkload);
  const std::string warning =
      "a world of 4097 ranks is only predicted: a job has at most 4096 ranks\n";
  const std::vector<std::pair<std::string, std::string>> given{{"--workload", path},
                                                               {"--sizes", "1K,1M"}};
  for (const auto& [flag, value] : given) {
    EXPECT_EQ(warning_for("2,4096", flag, value), "") << flag;
    EXPECT_EQ(warning_for("2,4097", flag, value), warning) << flag;
  }
}

TEST(Predict, TakesCostsFromACalibration) {
  PredictArguments arguments = parsed_prediction({"--machine", "m", "--codec", "int8"});
  arguments.calibration = "c.txt";
  Calibration calibration{.machine = "m", .transport = "tcp"};
  calibration.costs.between_hosts = {.latency_seconds = 2, .seconds_per_byte = 3};
  calibration.codecs[Codec::kInt8] = {.encode_seconds_per_byte = 4, .decode_seconds_per_byte = 5};
  const WorldModel costs = costs_of(arguments, calibration);
  EXPECT_EQ(costs.between_hosts.latency_seconds, 2);
  EXPECT_EQ(costs.codec.decode_seconds_per_byte, 5);
  arguments.seconds_per_byte = 7;
  EXPECT_EQ(costs_of(arguments, calibration).between_hosts.seconds_per_byte, 7);
  EXPECT_EQ(costs_of(arguments, calibration).between_hosts.latency_seconds, 2);
}

TEST(Predict, RefusesACalibrationThatDoesNotFit) {
  PredictArguments arguments = parsed_prediction({"--machine", "m", "--codec", "int8"});
  arguments.calibration = "c.txt";
  const auto refusal = [&](const Calibration& calibration) -> std::string {
    try {
      costs_of(arguments, calibration);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.machine = "other", .transport = "tcp"}), HasSubstr("measured on 'other'"));
  EXPECT_THAT(refusal({.machine = "m", .transport = "shm"}), HasSubstr("measured over shm"));
  EXPECT_EQ(refusal({.machine = "m", .transport = "tcp"}), "c.txt has no line 'codec int8'");
}

// The example of docs/memory.md for four ranks over shared memory, without the distinct calls.
TEST(Predict, AddsUpTheTermsOfTheMemory) {
  const WorldModel model = model_of({.ranks_per_host = 4}, {});
  const BucketLayout layout{.count = 1024};
  const std::vector<Call> calls{{Algorithm::kShared, 16}, {Algorithm::kShared, 1024}};
  const RankMemory memory = memory_of(model, layout, calls, "shm");
  EXPECT_EQ(memory.communication_bytes, (64 + 4 + 8 + 30 + 256) * 1024u + 2 * (768 * 4 + 512));
  EXPECT_EQ(memory.gradient_bytes, 4096u + 48);
}

TEST(Predict, AddsUpTheTermsOfTheMemoryOverTcp) {
  const WorldModel model = model_of({.host_count = 4}, {});
  const BucketLayout layout{.count = 1024};
  const std::vector<Call> calls{{Algorithm::kDirect, 16}, {Algorithm::kRing, 1024}};
  // Two peers for direct, and one for the ring.
  const std::size_t plain = (64 + 4 + 192 + 30 + 3 * 256) * 1024 + 2 * (768 * 4 + 512) + 16;
  EXPECT_EQ(memory_of(model, layout, calls, "tcp").communication_bytes, plain);
  EXPECT_EQ(memory_of(model, layout, calls, "tcp encrypted").communication_bytes,
            plain + (448 + 3 * 64) * 1024);
}

TEST(Predict, CountsTheFeedbackOfACodec) {
  const WorldModel model = model_of({.host_count = 2}, {});
  const BucketLayout layout{.count = 1 << 16};
  const std::vector<Call> calls{{Algorithm::kRing, 1 << 16, Codec::kInt8}};
  EXPECT_EQ(memory_of(model, layout, calls, "tcp").gradient_bytes, 2 * (4u << 16) + 48);
}

TEST(Predict, PrintsATableAndJson) {
  const auto worlds = predicted({"--hosts", "1,2", "--rate", "1G", "--latency", "100us"});
  const std::string table = to_text(kWorkload, worlds);
  EXPECT_THAT(table, HasSubstr("# two: 2 gradients of 0.0 MiB; a step of one rank takes 4.000 ms"));
  EXPECT_THAT(table, HasSubstr("# All figures are predicted."));
  EXPECT_EQ(std::ranges::count(table, '\n'), 5);

  const std::string json = to_json(kWorkload, worlds);
  EXPECT_EQ(std::ranges::count(json, '\n'), 2);
  const auto first = nlohmann::json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(first["event"], "prediction");
  EXPECT_EQ(first["ranks"], 1);
  EXPECT_EQ(first["efficiency"], 1);
  const auto second = nlohmann::json::parse(json.substr(json.find('\n')));
  EXPECT_EQ(second["hosts"], 2);
  EXPECT_EQ(second["gradient_bytes"], 4 * 5120);
  EXPECT_EQ(second["buckets"].size(), 1u);
  EXPECT_EQ(second["buckets"][0]["plan"], "ring");
  EXPECT_LT(second["efficiency"], 1);
}

TEST(Predict, PredictsSingleAllReduces) {
  const PredictArguments arguments =
      parsed_prediction({"--sizes", "1K,1M", "--hosts", "2,4", "--rate", "1G", "--latency", "100us",
                         "--plan", "ring"});
  const auto calls = predict_calls(arguments, costs_of(arguments, {}));
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].call, (Call{.algorithm = Algorithm::kRing, .count = 256}));
  EXPECT_EQ(calls[3].shape.host_count, 4u);
  // A ring of two sends all bytes once each way, in two hops; one of four sends 1.5 times as many.
  EXPECT_NEAR(calls[1].bytes_seconds, 8e-9 * (1 << 20), 1e-9);
  EXPECT_NEAR(calls[1].seconds, 8e-9 * (1 << 20) + 200e-6, 1e-9);
  EXPECT_NEAR(calls[3].bytes_seconds, 1.5 * 8e-9 * (1 << 20), 1e-9);
  const std::string json = to_json(calls);
  EXPECT_EQ(std::ranges::count(json, '\n'), 4);
  const auto first = nlohmann::json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(first["event"], "all-reduce prediction");
  EXPECT_EQ(first["bytes"], 1024);
  EXPECT_EQ(first["plan"], "ring");
  EXPECT_THAT(to_text(calls), HasSubstr("bytes/ms"));
}

// An all-reduce has no computation that could jitter, and no buckets.
TEST(Predict, RefusesOptionsOfStepsBesideSizes) {
  for (const std::string other :
       {"--workload=mlp", "--print-workload", "--first-bucket=1M", "--bucket=1M", "--cores=1",
        "--jitter=0.1", "--seed=1", "--steps=1"}) {
    EXPECT_EQ(refused_prediction({"--sizes", "1K", other}),
              "--sizes predicts all-reduces instead of training steps, so " +
                  other.substr(0, other.find('=')) + " has no meaning beside it");
  }
}

// Runs the command for two hosts, and returns its last line.
std::string last_line_with(std::vector<std::string> words) {
  words.insert(words.end(), {"--sizes", "1K", "--rate", "1G", "--latency", "1us"});
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(with_arguments(words, run_predict_command), 0);
  std::string out = ::testing::internal::GetCapturedStdout();
  out.pop_back();
  return out.substr(out.rfind('\n') + 1);
}

TEST(Predict, SaysWhatItHasCostItself) {
  const auto row = nlohmann::json::parse(last_line_with({"--cost", "--json"}));
  EXPECT_EQ(row["event"], "cost");
  EXPECT_GT(row["seconds"], 0);
  EXPECT_LT(row["seconds"], 60);
  EXPECT_GT(row["peak_memory_bytes"], 1 << 20);
  EXPECT_THAT(last_line_with({"--cost"}), ::testing::StartsWith("# This command took "));
  EXPECT_EQ(to_text(PredictionCost{.seconds = 0.25, .peak_memory_bytes = 3 << 20}),
            "# This command took 0.250 s, and 3.0 MiB of memory at most.\n");
  EXPECT_EQ(nlohmann::json::parse(last_line_with({"--json"}))["event"], "all-reduce prediction");
  EXPECT_EQ(refused_prediction({"--cost", "--print-workload"}),
            "--cost has no meaning beside --print-workload, which predicts nothing");
}

TEST(Predict, MeasuresTheModelsOfTheExample) {
  EXPECT_FALSE(is_model("seed.txt"));
  for (const char* name : {"mlp", "lenet"}) {
    ASSERT_TRUE(is_model(name));
    const Workload workload = measure_workload(name);
    EXPECT_GT(workload.forward_seconds, 0);
    EXPECT_GE(workload.update_seconds, 0);
    ASSERT_FALSE(workload.gradients.empty());
    for (const Workload::Gradient& gradient : workload.gradients) {
      EXPECT_GT(gradient.count, 0u) << gradient.name;
      EXPECT_GT(gradient.seconds, 0) << gradient.name;
    }
    // The units of the first layer of mlp, and of the last hidden layer of lenet.
    EXPECT_GT(gradient_bytes_of(workload), 4u * 512 * 512);
    EXPECT_EQ(parse_workload("copy", to_text(workload)), workload);
  }
}

}  // namespace
}  // namespace rota::bench

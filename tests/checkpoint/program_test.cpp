// Tests the real program rota-checkpoint: its output and its exit codes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "checkpoint/manifest.h"
#include "checkpoint/sample_checkpoint.h"
#include "formats/safetensors.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::Result;
using ::testing::StartsWith;

constexpr const char* kSampleName = "000000000012";

Result rota_checkpoint(std::vector<std::string> words) {
  words.insert(words.begin(), testing::bin_path("rota-checkpoint"));
  return testing::run({.arguments = words});
}

class Program : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // Flips a bit in the data of a file.
  void damage(const std::string& name) const {
    std::fstream file(path(name), std::ios::binary | std::ios::in | std::ios::out);
    const char last = static_cast<char>(file.seekg(-1, std::ios::end).peek());
    file.seekp(-1, std::ios::end).put(static_cast<char>(last ^ 1));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Program, ListsCheckpoints) {
  write_sample(path(kSampleName));
  std::filesystem::create_directory(path("000000000010"));
  std::ofstream(path("000000000010/manifest.json")) << "{}";
  const Result list = rota_checkpoint({"list", folder_.path().string()});
  EXPECT_EQ(list.exit_code, 65);
  EXPECT_THAT(list.out, StartsWith("checkpoint      ranks  tensors    size       run  start\n"
                                   "000000000012        2        5  "));
  EXPECT_THAT(list.out, HasSubstr("  01234567      1\n000000000010  damaged\n"));
  EXPECT_THAT(list.out, HasSubstr("000000000010/manifest.json: is damaged or cut off"));
  std::filesystem::remove_all(path("000000000010"));
  EXPECT_EQ(rota_checkpoint({"list", folder_.path().string()}).exit_code, 0);
}

// This rota cannot read it, but it is whole.
TEST_F(Program, CallsACheckpointOfALaterFormatNewer) {
  write_sample(path(kSampleName));
  std::filesystem::create_directory(path("000000000013"));
  std::ofstream(path("000000000013/manifest.json")) << seal("{\"format\": 2,\n");
  const Result list = rota_checkpoint({"list", folder_.path().string()});
  EXPECT_EQ(list.exit_code, 65);
  EXPECT_THAT(list.out, HasSubstr("\n000000000013  newer\n000000000012  "));
  EXPECT_THAT(list.out, HasSubstr("000000000013/manifest.json: was written by a newer rota"));
}

TEST_F(Program, ShowsACheckpoint) {
  write_sample(path(kSampleName));
  const Result show = rota_checkpoint({"show", path(kSampleName)});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, StartsWith("step 12\nrun 0123456789abcdef0011223344556677\nstart 1\n"));
  EXPECT_THAT(show.out, HasSubstr("\nfact \"seed\" \"17\"\ncounter \"optimizer/step\" 12\n"
                                  "tensor \"model/w\" float32 [5, 3]\n"));
  EXPECT_THAT(show.out, HasSubstr("\nfile parameters-00000-of-00002.safetensors "));
}

TEST_F(Program, VerifiesEveryByte) {
  write_sample(path(kSampleName));
  for (const std::string& what : {folder_.path().string(), path(kSampleName)}) {
    const Result whole = rota_checkpoint({"verify", what});
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
    EXPECT_THAT(whole.out, StartsWith(path(kSampleName) + ": whole, 5 files, "));
  }
  const std::string file = kSampleName + std::string("/rank-00001-of-00002.safetensors");
  damage(file);
  for (const std::string& what : {folder_.path().string(), path(kSampleName)}) {
    const Result damaged = rota_checkpoint({"verify", what});
    EXPECT_EQ(damaged.exit_code, 65);
    EXPECT_THAT(damaged.out, StartsWith(path(file) + ": is damaged in MiB 0 (from byte 0 on): its "
                                                     "CRC32C is "));
  }
}

TEST_F(Program, ComparesCheckpoints) {
  write_sample(path(kSampleName));
  SampleWriter writer(path("000000000013"));
  writer.manifest.step = 13;
  writer.manifest.run = {};
  writer.manifest.facts = {{"seed", "18"}};
  writer.manifest.tensors = {kSampleWeights, {"model/scalar", DataType::kFloat32, {}}};
  writer.add({"model/w", DataType::kFloat32, {5, 3}});
  writer.add({"model/scalar", DataType::kFloat32, {}});
  writer.write({FileKind::kParameters, 0, 1});
  writer.write_rank(1);
  writer.finish();
  const Result same = rota_checkpoint({"diff", path(kSampleName), path(kSampleName)});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_EQ(same.out, "");
  const Result diff = rota_checkpoint({"diff", path(kSampleName), path("000000000013")});
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_EQ(diff.out,
            "step: 12 | 13\n"
            "fact \"seed\": \"17\" | \"18\"\n"
            "tensor \"model/scalar\": float64 [] | float32 []\n"
            "tensor \"optimizer/m\": bfloat16 [5, 3] | nothing\n"
            "tensor \"extra/bytes\": byte [7] | nothing\n"
            "tensor \"extra/empty\": int32 [0, 4] | nothing\n"
            "rank 0: fact \"codec\": \"int8\\n0\" | nothing\n"
            "rank 0: counter \"seconds\": 18446744073709551615 | nothing\n"
            "rank 0: tensor \"feedback\": float32 [4] | nothing\n");
}

TEST_F(Program, CountsTheElementsThatDiffer) {
  for (const bool is_second : {false, true}) {
    SampleWriter writer(path(is_second ? "b" : "a"));
    writer.manifest.tensors = {kSampleWeights};
    std::vector<std::byte> bytes = sample_bytes(kSampleWeights);
    if (is_second) bytes[4 * 7 + 2] ^= std::byte{1};
    if (is_second) bytes[4 * 9] ^= std::byte{1};
    const FileContents contents{.tensors = {{kSampleWeights, all_rows_of(kSampleWeights), bytes}},
                                .facts = {},
                                .counters = {}};
    writer.manifest.files = {
        write_file(path(is_second ? "b" : "a"), "parameters-00000-of-00001.safetensors", contents)
            .entry};
    writer.finish();
  }
  const Result diff = rota_checkpoint({"diff", path("a"), path("b")});
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_EQ(diff.out, "tensor \"model/w\": 2 of 15 elements differ, the first is element 7\n");
}

TEST_F(Program, ExportsTheParameters) {
  write_sample(path(kSampleName));
  const std::string file = path("model.safetensors");
  const Result exported = rota_checkpoint({"export", path(kSampleName), file});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, StartsWith(file + ": 2 tensors, "));
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  const auto parsed = formats::parse_header(bytes, bytes.size(), file);
  EXPECT_EQ(parsed.header.metadata.at("fact/step"), "12");
  ASSERT_EQ(parsed.header.tensors.size(), 2U);
  for (const auto& entry : parsed.header.tensors) {
    const TensorInfo& sample = entry.name == "w" ? kSampleWeights : kSampleScalar;
    EXPECT_EQ("model/" + entry.name, sample.name);
    EXPECT_EQ(entry.shape, sample.shape);
    const auto found = bytes.subspan(parsed.data_begin + entry.begin, entry.end - entry.begin);
    EXPECT_TRUE(std::ranges::equal(found, sample_bytes(sample)));
  }
  const Result again = rota_checkpoint({"export", path(kSampleName), file});
  EXPECT_EQ(again.exit_code, 73);
  EXPECT_THAT(again.err, HasSubstr(file + ": exists already"));
  EXPECT_EQ(rota_checkpoint({"export", path(kSampleName), path("no/x")}).exit_code, 73);
}

TEST_F(Program, RefusesAWrongCommandLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {}, {"show"}, {"show", "a", "b"}, {"diff", "a"}, {"verfy", "a"}, {"--what"}};
  for (const auto& words : wrong) {
    const Result result = rota_checkpoint(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("rota-checkpoint: try rota-checkpoint --help\n"));
  }
  EXPECT_THAT(rota_checkpoint({"verfy", "a"}).err, HasSubstr("did you mean verify?"));
  EXPECT_THAT(rota_checkpoint({"diff", "a"}).err, HasSubstr("diff needs CHECKPOINT CHECKPOINT"));
  EXPECT_EQ(rota_checkpoint({"--help"}).exit_code, 0);
  EXPECT_THAT(rota_checkpoint({"--version"}).out, StartsWith("rota-checkpoint (rota) "));
}

TEST_F(Program, SaysThatThereIsNoCheckpoint) {
  for (const char* command : {"list", "show", "verify"}) {
    const Result missing = rota_checkpoint({command, path("missing")});
    EXPECT_EQ(missing.exit_code, 66) << command;
    EXPECT_THAT(missing.err, HasSubstr(path("missing") + ": No such file or directory"));
  }
  for (const char* command : {"list", "verify"}) {
    const Result empty = rota_checkpoint({command, folder_.path().string()});
    EXPECT_EQ(empty.exit_code, 66) << command;
    EXPECT_THAT(empty.err, HasSubstr("there is no checkpoint in this folder"));
  }
  std::filesystem::create_directory(path(kSampleName));
  EXPECT_EQ(rota_checkpoint({"show", path(kSampleName)}).exit_code, 65);
  EXPECT_EQ(rota_checkpoint({"verify", path(kSampleName)}).exit_code, 65);
}

TEST_F(Program, SaysThatItsOutputIsLost) {
  testing::Command command{.arguments = {testing::bin_path("rota-checkpoint"), "--help"}};
  const os::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  command.standard_output = full.get();
  EXPECT_EQ(testing::run(command).exit_code, 73);
}

}  // namespace
}  // namespace rota::checkpoint

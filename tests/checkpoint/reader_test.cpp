// What was written is read again, and a checkpoint that lacks or repeats anything is refused.
#include "checkpoint/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <rota/error.h>

#include "checkpoint/deal.h"
#include "checkpoint/sample_checkpoint.h"
#include "formats/safetensors.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

std::vector<std::byte> elements_of(const StoredTensor& tensor) {
  std::vector<std::byte> bytes(bytes_of(tensor.info));
  copy_elements(tensor, bytes);
  return bytes;
}

class Reader : public ::testing::Test {
 protected:
  std::string path() const { return (temporary_.path() / "000000000012").string(); }
  std::string path(const std::string& name) const { return path() + "/" + name; }

  void expect_bad(const std::string& words, ErrorCode code = ErrorCode::kBadData) const {
    const auto error = error_of([&] { CheckpointReader reader(path()); });
    ASSERT_TRUE(error) << words;
    EXPECT_EQ(error->code(), code);
    EXPECT_THAT(error->what(), HasSubstr(words));
  }

  testing::TemporaryFolder temporary_;
};

TEST_F(Reader, HasWhatWasWritten) {
  const Manifest manifest = write_sample(path());
  const CheckpointReader reader(path());
  EXPECT_EQ(reader.manifest(), manifest);
  EXPECT_EQ(read_manifest(path()), manifest);
  ASSERT_EQ(reader.tensors().size(), manifest.tensors.size());
  for (std::size_t i = 0; i < manifest.tensors.size(); ++i) {
    EXPECT_EQ(reader.tensors()[i].info, manifest.tensors[i]);
    EXPECT_EQ(elements_of(reader.tensors()[i]), sample_bytes(manifest.tensors[i]));
  }
  EXPECT_EQ(reader.tensors()[0].parts.size(), 2U);
  ASSERT_EQ(reader.ranks().size(), 2U);
  for (const auto& [rank, own] : reader.ranks()) {
    ASSERT_EQ(own.tensors.size(), 1U);
    EXPECT_EQ(own.tensors[0].info, kSampleFeedback);
    EXPECT_EQ(elements_of(own.tensors[0]), sample_bytes(kSampleFeedback, rank));
    EXPECT_THAT(own.facts, ElementsAre(Fact{"codec", "int8\n" + std::to_string(rank)}));
    EXPECT_THAT(own.counters, ElementsAre(Counter{"seconds", UINT64_MAX - rank}));
  }
}

// Method: the tensor has more than one MiB, and its rows begin in the middle of a MiB.
TEST_F(Reader, HasTensorsLargerThanTheirSums) {
  const TensorInfo large{"model/large", DataType::kFloat32, {3, 300'001}};
  SampleWriter writer(path());
  writer.manifest.tensors = {kSampleWeights, large};
  writer.add(kSampleWeights);
  writer.add(large);
  writer.write({FileKind::kParameters, 0, 1});
  writer.finish();
  EXPECT_EQ(writer.manifest.files[0].sums.size(), 4U);
  EXPECT_EQ(std::filesystem::file_size(path(writer.manifest.files[0].name)),
            writer.manifest.files[0].bytes);
  const CheckpointReader reader(path());
  EXPECT_EQ(elements_of(reader.tensors()[1]), sample_bytes(large));
}

TEST_F(Reader, HasWhatEachOfManyRanksWasDealt) {
  SampleWriter writer(path());
  for (std::size_t i = 0; i < 20; ++i) {
    writer.manifest.tensors.push_back(
        {"t" + std::to_string(i), DataType::kInt64, {i % 4, 1 + 7 * i}});
  }
  const auto dealt = deal(writer.manifest.tensors, 5);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    for (const auto& [tensor, rows] : dealt[rank]) {
      writer.add(writer.manifest.tensors[tensor], rows);
    }
    writer.write({FileKind::kOptimizer, rank, 5});
  }
  writer.finish();
  const CheckpointReader reader(path());
  for (const StoredTensor& tensor : reader.tensors()) {
    EXPECT_EQ(elements_of(tensor), sample_bytes(tensor.info)) << tensor.info.name;
  }
}

// A program without rota reads the file by the rules of safetensors.
TEST_F(Reader, ReadsFilesThatAreSafetensors) {
  write_sample(path());
  std::ifstream file(path("parameters-00001-of-00002.safetensors"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto parsed =
      formats::parse_header(std::as_bytes(std::span(text)), text.size(), "the file");
  ASSERT_EQ(parsed.header.tensors.size(), 1U);
  EXPECT_EQ(parsed.header.tensors[0].name, "model/w");
  EXPECT_THAT(parsed.header.tensors[0].shape, ElementsAre(3, 3));
  EXPECT_EQ(parsed.header.metadata.at("rows/model/w"), "2..4 of 5");
}

TEST_F(Reader, NeedsAFolderWithAManifest) {
  expect_bad("000000000012: No such file or directory", ErrorCode::kNotFound);
  std::filesystem::create_directories(path());
  expect_bad("manifest.json: is missing, but each checkpoint has it");
  std::filesystem::remove(path());
  std::ofstream(path()) << "x";
  expect_bad("000000000012: is not a folder");
}

TEST_F(Reader, RefusesACheckpointOfAnotherStep) {
  write_sample(path());
  const std::string other = (temporary_.path() / "000000000013").string();
  std::filesystem::rename(path(), other);
  for (const char* ending : {"", "/"}) {
    const auto error = error_of([&] { CheckpointReader reader(other + ending); });
    ASSERT_TRUE(error);
    EXPECT_THAT(error->what(), HasSubstr("has the manifest of step 12"));
  }
  std::filesystem::rename(other, temporary_.path() / "best");
  const CheckpointReader reader((temporary_.path() / "best").string());
}

TEST_F(Reader, RefusesAMissingRank) {
  SampleWriter writer(path());
  writer.write_rank(0);
  writer.manifest.ranks = writer.manifest.stateful_ranks = {0, 1};
  writer.finish();
  expect_bad("has no file of rank 1, although the manifest says");
}

TEST_F(Reader, RefusesARankTooMany) {
  SampleWriter writer(path());
  writer.write_rank(0);
  writer.manifest.ranks = {};
  writer.finish();
  expect_bad("has files of 1 ranks, but the manifest names 0");
}

TEST_F(Reader, RefusesTheFileOfARankOfAnotherWorld) {
  SampleWriter writer(path());
  writer.write_rank(0);
  writer.manifest.world_size = 3;
  writer.finish();
  expect_bad("rank-00000-of-00002.safetensors: is of another world: the manifest's has 3 ranks");
}

TEST_F(Reader, RefusesAHole) {
  SampleWriter writer(path());
  writer.manifest.tensors = {kSampleWeights};
  writer.add(kSampleWeights, {0, 2});
  writer.write({FileKind::kParameters, 0, 2});
  writer.add(kSampleWeights, {3, 2});
  writer.write({FileKind::kParameters, 1, 2});
  writer.finish();
  expect_bad("has row 2 of the tensor \"model/w\" in no file");
}

TEST_F(Reader, RefusesATensorThatEndsEarlyOrIsMissing) {
  SampleWriter writer(path());
  writer.manifest.tensors = {kSampleWeights};
  writer.add(kSampleWeights, {0, 4});
  writer.write({FileKind::kParameters, 0, 2});
  writer.manifest.tensors = {kSampleWeights};
  writer.finish();
  expect_bad("has row 4 of the tensor \"model/w\" in no file");
  std::filesystem::remove(path("manifest.json"));
  writer.manifest.tensors = {kSampleWeights, kSampleEmpty};
  writer.manifest.tensors.erase(writer.manifest.tensors.begin());
  writer.manifest.files.clear();
  writer.finish();
  expect_bad("has row 0 of the tensor \"extra/empty\" in no file");
}

TEST_F(Reader, RefusesRowsThatAreThereTwice) {
  SampleWriter writer(path());
  writer.manifest.tensors = {kSampleWeights};
  writer.add(kSampleWeights, {0, 3});
  writer.write({FileKind::kParameters, 0, 2});
  writer.add(kSampleWeights, {2, 3});
  writer.write({FileKind::kParameters, 1, 2});
  writer.finish();
  expect_bad("has row 2 of the tensor \"model/w\" in two files");
}

TEST_F(Reader, RefusesATensorThatTheManifestDoesNotHave) {
  SampleWriter writer(path());
  writer.add(kSampleWeights);
  writer.write({FileKind::kParameters, 0, 1});
  writer.finish();
  expect_bad("has the tensor \"model/w\", which the manifest does not list");
}

TEST_F(Reader, RefusesAnotherTypeOrShape) {
  SampleWriter writer(path());
  writer.add({"model/w", DataType::kFloat32, {3, 5}});
  writer.write({FileKind::kParameters, 0, 1});
  writer.manifest.tensors = {kSampleWeights};
  writer.finish();
  expect_bad("has the tensor \"model/w\" as float32 [3, 5], but the manifest needs float32 [5, 3]");
  std::filesystem::remove(path("manifest.json"));
  writer.manifest.tensors = {{"model/w", DataType::kInt32, {3, 5}}};
  writer.finish();
  expect_bad("as float32 [3, 5], but the manifest needs int32 [3, 5]");
}

TEST_F(Reader, RefusesRowsOfAnotherTensor) {
  SampleWriter writer(path());
  writer.add(kSampleWeights, {0, 2});
  writer.write({FileKind::kParameters, 0, 1});
  for (const auto& shape : {std::vector<std::size_t>{2, 3}, {6, 3}, {}}) {
    std::filesystem::remove(path("manifest.json"));
    writer.manifest.tensors = {{"model/w", DataType::kFloat32, shape}};
    writer.finish();
    expect_bad("has the rows \"0..1 of 5\" of the tensor \"model/w\", which has the shape [");
  }
}

TEST_F(Reader, IsNotConfusedByOtherFiles) {
  write_sample(path());
  std::ofstream(path(".nfs0001")) << "x";
  std::ofstream(path("notes")) << "x";
  EXPECT_EQ(CheckpointReader(path()).tensors().size(), 5U);
}

TEST(Writer, RefusesTwoTensorsOfOneName) {
  testing::TemporaryFolder temporary;
  SampleWriter writer((temporary.path() / "a").string());
  writer.add(kSampleWeights);
  writer.add(kSampleWeights);
  const auto error = error_of([&] { writer.write({FileKind::kParameters, 0, 1}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
}

TEST(Writer, WritesOverNoFile) {
  testing::TemporaryFolder temporary;
  write_sample((temporary.path() / "a").string());
  const auto error = error_of([&] { write_sample((temporary.path() / "a").string()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
}

}  // namespace
}  // namespace rota::checkpoint

// Reading a correct IDX file gives exactly its data, whether the file is gzipped or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rota/error.h>
#include <rota/idx.h>

#include "testing/paths.h"
#include "training/idx_bytes.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::Bytes;
using testing::TemporaryFolder;

constexpr std::size_t kImageHeaderBytes = 16;
constexpr std::size_t kLabelHeaderBytes = 8;

Bytes after(const Bytes& bytes, std::size_t count) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end()};
}

Dataset read(const Bytes& images, const Bytes& labels, std::optional<std::size_t> classes = {}) {
  TemporaryFolder folder;
  return read_idx(folder.write("images", images), folder.write("labels", labels), classes);
}

TEST(Idx, ReadsPlainFiles) {
  const Bytes images = testing::idx_images(5, 3, 4);
  const Bytes labels = testing::idx_labels(5, 3);
  const Dataset data = read(images, labels);
  EXPECT_EQ(data.count(), 5u);
  EXPECT_EQ(data.shape.rows, 3u);
  EXPECT_EQ(data.shape.columns, 4u);
  EXPECT_EQ(data.shape.channels, 1u);
  EXPECT_EQ(data.classes, 3u);
  EXPECT_EQ(data.pixels, after(images, kImageHeaderBytes));
  EXPECT_EQ(data.labels, after(labels, kLabelHeaderBytes));
}

TEST(Idx, ReadsImagesAlone) {
  const Bytes images = testing::idx_images(5, 3, 4);
  TemporaryFolder folder;
  const Dataset data = read_idx_images(folder.write("images", testing::gzip(images)), 7);
  EXPECT_EQ(data.count(), 5u);
  EXPECT_EQ(data.shape.rows, 3u);
  EXPECT_EQ(data.shape.columns, 4u);
  EXPECT_EQ(data.classes, 7u);
  EXPECT_EQ(data.pixels, after(images, kImageHeaderBytes));
  EXPECT_EQ(data.labels, Bytes(5));
}

TEST(Idx, TellsGzipByItsFirstBytesAndNotByItsName) {
  const Bytes images = testing::idx_images(50, 28, 28);
  const Bytes labels = testing::idx_labels(50, 10);
  TemporaryFolder folder;
  const Dataset data = read_idx(folder.write("images.plain", testing::gzip(images)),
                                folder.write("labels.gz", labels));
  EXPECT_EQ(data.pixels, after(images, kImageHeaderBytes));
  EXPECT_EQ(data.labels, after(labels, kLabelHeaderBytes));
}

TEST(Idx, ReadsAGzipFileOfSeveralMembers) {
  const Bytes images = testing::idx_images(4, 2, 2);
  const Bytes packed = testing::joined(testing::gzip(testing::first_of(images, 10)),
                                       testing::gzip(after(images, 10)));
  EXPECT_EQ(read(packed, testing::idx_labels(4, 2)).pixels, after(images, kImageHeaderBytes));
}

// Several windows of input and output, with contents that do not compress.
TEST(Idx, ReadsFilesMuchLargerThanItsWindow) {
  Bytes images = testing::idx_header(testing::kImageMagic, {400, 28, 28});
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < 400 * 28 * 28; ++i) {
    state = state * 1664525 + 1013904223;
    images.push_back(static_cast<std::uint8_t>(state >> 24));
  }
  const Bytes labels = testing::idx_labels(400, 10);
  EXPECT_EQ(read(testing::gzip(images), labels).pixels, after(images, kImageHeaderBytes));
  EXPECT_EQ(read(images, testing::gzip(labels)).pixels, after(images, kImageHeaderBytes));
}

TEST(Idx, ReadsASingleSampleOfASinglePixel) {
  const Dataset data = read(testing::idx_images(1, 1, 1), testing::idx_labels(1, 1));
  EXPECT_EQ(data.count(), 1u);
  EXPECT_EQ(data.classes, 1u);
}

TEST(Idx, ReadsAsManyClassesAsABytehasValues) {
  EXPECT_EQ(read(testing::idx_images(256, 1, 1), testing::idx_labels(256, 256)).classes, 256u);
}

TEST(Idx, TakesTheNumberOfClassesThatItIsGiven) {
  EXPECT_EQ(read(testing::idx_images(5, 1, 1), testing::idx_labels(5, 3), 47).classes, 47u);
}

class IdxFolder : public ::testing::Test {
 protected:
  void write(const std::string& stem, const Bytes& bytes) { folder_.write(stem, bytes); }
  TemporaryFolder folder_;
};

TEST_F(IdxFolder, FindsTheCustomaryFourPackedOrNot) {
  write("train-images-idx3-ubyte", testing::idx_images(9, 2, 2));
  write("train-labels-idx1-ubyte.gz", testing::gzip(testing::idx_labels(9, 5)));
  write("t10k-images-idx3-ubyte.gz", testing::gzip(testing::idx_images(3, 2, 2)));
  write("t10k-labels-idx1-ubyte", testing::idx_labels(3, 3));
  const TrainAndTest data = read_idx_folder(folder_.path());
  EXPECT_EQ(data.train.count(), 9u);
  EXPECT_EQ(data.test.count(), 3u);
  EXPECT_EQ(data.train.classes, 5u);
  EXPECT_EQ(data.test.classes, 5u) << "the training set says how many classes there are";
}

TEST_F(IdxFolder, FindsTheSpellingWithADot) {
  write("train-images.idx3-ubyte", testing::idx_images(9, 2, 2));
  write("train-labels.idx1-ubyte.gz", testing::gzip(testing::idx_labels(9, 5)));
  write("t10k-images.idx3-ubyte.gz", testing::gzip(testing::idx_images(3, 2, 2)));
  write("t10k-labels-idx1-ubyte", testing::idx_labels(3, 3));
  const TrainAndTest data = read_idx_folder(folder_.path());
  EXPECT_EQ(data.train.count(), 9u);
  EXPECT_EQ(data.test.count(), 3u);
}

TEST(Mnist, IsReadAsItsDescriptionSays) {
  const TrainAndTest data = read_idx_folder(testing::source_path("examples/mnist/data"));
  const auto per_class = [](const Dataset& set) {
    std::vector<int> counts(set.classes);
    for (const std::uint8_t label : set.labels) ++counts[label];
    return counts;
  };
  EXPECT_EQ(data.train.shape.rows, 28u);
  EXPECT_EQ(data.train.shape.columns, 28u);
  EXPECT_THAT(per_class(data.train),
              ::testing::ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  EXPECT_THAT(per_class(data.test),
              ::testing::ElementsAre(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009));
}

TEST(BatchBuffer, GathersSamplesAndScalesTheirPixels) {
  Dataset data;
  data.shape = {1, 2, 1};
  data.classes = 3;
  data.pixels = {0, 51, 102, 153, 204, 255};
  data.labels = {0, 1, 2};
  BatchBuffer<double> buffer(data, 2);
  const std::vector<std::uint64_t> samples = {2, 0};
  const Batch<double> batch = buffer.gather(samples);
  EXPECT_THAT(batch.inputs, ::testing::ElementsAre(0.8, 1.0, 0.0, 0.2));
  EXPECT_THAT(batch.labels, ::testing::ElementsAre(2, 0));
  EXPECT_THAT(batch.samples, ::testing::ElementsAre(2, 0));
  EXPECT_TRUE(buffer.gather({}).inputs.empty());
}

}  // namespace
}  // namespace rota

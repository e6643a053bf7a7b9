// Each wrong IDX file is refused with its own reason, and takes no more memory than a correct file
// of its size could.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>
#include <rota/idx.h>

#include "training/idx_bytes.h"
#include "training/temporary_folder.h"

namespace {

// The size of the largest allocation since the variable was last set to 0.
std::size_t largest_allocation = 0;

}  // namespace

// Not inlined: otherwise the compiler would see malloc and free where it expects new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  largest_allocation = std::max(largest_allocation, bytes);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rota {
namespace {

using testing::Bytes;
using testing::first_of;
using testing::gzip;
using testing::idx_header;
using testing::idx_images;
using testing::idx_labels;
using testing::joined;
using testing::kImageMagic;
using testing::kLabelMagic;
using testing::TemporaryFolder;
using testing::with_damage;

struct BadInput {
  const char* name;
  Bytes images;
  Bytes labels;
  const char* reason;  // A part of the message. The message starts with the file's name.
  bool labels_are_wrong = false;
};

const Bytes kGoodImages = idx_images(100, 6, 5);
const Bytes kGoodLabels = idx_labels(100, 10);

Bytes images_with(std::uint32_t magic, const std::vector<std::uint32_t>& dimensions) {
  return joined(idx_header(magic, dimensions), Bytes(3000));
}
Bytes labels_with(std::uint32_t magic, const std::vector<std::uint32_t>& dimensions) {
  return joined(idx_header(magic, dimensions), Bytes(100));
}
// Returns a file whose header promises 100 × 6 × 5 pixels, but which inflates to three thousand
// times as many.
Bytes bomb() { return gzip(joined(kGoodImages, Bytes(std::size_t{9} << 20))); }

std::vector<BadInput> bad_images() {
  const Bytes& labels = kGoodLabels;
  const Bytes packed = gzip(kGoodImages);
  const Bytes huge = images_with(kImageMagic, {100, 0xffffffff, 1});
  // A 32-bit program cannot hold the number of these bytes.
  const char* const of_huge = sizeof(std::size_t) == 8 ? "ends after 3000 of the 429496729500 bytes"
                                                       : "more than can be counted";
  return {
      {"Empty", {}, labels, "ends after 0 bytes, within its header of 16"},
      {"OneByte", {0}, labels, "ends after 1 bytes, within its header of 16"},
      {"CutInMagic", first_of(kGoodImages, 3), labels, "ends after 3 bytes"},
      {"CutAfterMagic", first_of(kGoodImages, 4), labels, "ends after 4 bytes"},
      {"CutInDimensions", first_of(kGoodImages, 15), labels, "ends after 15 bytes"},
      {"NoPixels", first_of(kGoodImages, 16), labels, "ends after 0 of the 3000 bytes"},
      {"CutInPixels", first_of(kGoodImages, 1000), labels, "ends after 984 of the 3000 bytes"},
      {"LastPixelMissing", first_of(kGoodImages, 3015), labels, "ends after 2999 of the 3000"},
      {"OnePixelTooMany", joined(kGoodImages, {0}), labels, "goes on after the 3000 bytes"},
      {"TrailingGarbage", joined(kGoodImages, Bytes(50000, 7)), labels, "goes on after the 3000"},
      {"Text", Bytes(100, 'x'), labels, "is not an IDX file: its magic number is 0x78787878"},
      {"LittleEndianMagic", images_with(0x03080000, {100, 6, 5}), labels, "is not an IDX file"},
      {"FirstByteSet", images_with(0x01000803, {100, 6, 5}), labels, "is not an IDX file"},
      {"SecondByteSet", images_with(0x00ff0803, {100, 6, 5}), labels, "is not an IDX file"},
      {"SignedBytes", images_with(0x00000903, {100, 6, 5}), labels, "elements of type 0x09"},
      {"Floats", images_with(0x00000d03, {100, 6, 5}), labels, "elements of type 0x0d"},
      {"NoElementType", images_with(0x00000003, {100, 6, 5}), labels, "elements of type 0x00"},
      {"LabelsForImages", kGoodLabels, labels, "has 1 dimensions, expected 3 as a file of images"},
      {"FourDimensions", images_with(0x00000804, {100, 6, 5, 1}), labels, "has 4 dimensions"},
      {"NoDimensions", images_with(0x00000800, {}), labels, "has 0 dimensions, expected 3"},
      {"NoSamples", images_with(kImageMagic, {0, 6, 5}), labels, "holds no samples"},
      {"NoRows", images_with(kImageMagic, {100, 0, 5}), labels, "holds empty images"},
      {"NoColumns", images_with(kImageMagic, {100, 6, 0}), labels, "100 x 6 x 0"},
      {"ProductOverflows", images_with(kImageMagic, {0xffffffff, 0xffffffff, 0xffffffff}), labels,
       "more than can be counted"},
      {"FourHundredGigabytes", huge, labels, of_huge},
      {"FourHundredGigabytesPacked", gzip(huge), labels, of_huge},
      {"HeaderSaysMore", images_with(kImageMagic, {100, 6, 6}), labels, "3600 bytes"},
      {"HeaderSaysLess", images_with(kImageMagic, {100, 6, 4}), labels, "goes on after the 2400"},
      {"Bomb", bomb(), labels, "goes on after the 3000 bytes"},
      {"GzipMagicOnly", {0x1f, 0x8b}, labels, "the gzip stream ends early"},
      {"GzipCutInHeader", first_of(packed, 7), labels, "the gzip stream ends early"},
      {"GzipCutInContents", first_of(packed, packed.size() / 2), labels, "ends early, at byte"},
      {"GzipCutInChecksum", first_of(packed, packed.size() - 6), labels, "ends early"},
      {"GzipCutInLength", first_of(packed, packed.size() - 1), labels, "ends early"},
      {"GzipWrongMethod", with_damage(packed, 2), labels, "the gzip stream is damaged"},
      {"GzipReservedFlags", with_damage(packed, 3), labels, "the gzip stream is damaged"},
      {"GzipDamagedContents", with_damage(packed, 40), labels, "the gzip stream is damaged"},
      {"GzipWrongChecksum", with_damage(packed, -8), labels, "damaged: incorrect data check"},
      {"GzipWrongLength", with_damage(packed, -1), labels, "damaged: incorrect length check"},
      {"GzipTrailingGarbage", joined(packed, {7, 7, 7}), labels, "something follows the end"},
      {"GzipTrailingByte", joined(packed, {0}), labels, "something follows the end"},
      {"GzipTrailingMagic", joined(packed, {0x1f, 0x8b}), labels, "ends early"},
      {"GzipOfNothing", gzip({}), labels, "ends after 0 bytes"},
      {"GzipTooLong", gzip(joined(kGoodImages, {0})), labels, "goes on after the 3000 bytes"},
      {"GzipTooShort", gzip(first_of(kGoodImages, 2000)), labels, "ends after 1984 of the 3000"},
      {"GzipTwice", gzip(packed), labels, "is not an IDX file: its magic number is 0x1f8b"},
  };
}

std::vector<BadInput> bad_labels() {
  const Bytes& images = kGoodImages;
  const Bytes packed = gzip(kGoodLabels);
  return {
      {"Empty", images, {}, "ends after 0 bytes, within its header of 8", true},
      {"CutInHeader", images, first_of(kGoodLabels, 7), "ends after 7 bytes", true},
      {"CutInLabels", images, first_of(kGoodLabels, 50), "ends after 42 of the 100 bytes", true},
      {"TrailingGarbage", images, joined(kGoodLabels, {1, 2}), "goes on after the 100 bytes", true},
      {"ImagesForLabels", images, kGoodImages, "has 3 dimensions, expected 1 as a file of labels",
       true},
      {"ShortIntegers", images, labels_with(0x00000b01, {100}), "elements of type 0x0b", true},
      {"NoSamples", images, idx_header(kLabelMagic, {0}), "holds no samples", true},
      {"OneTooFew", images, idx_labels(99, 10), "holds 99 labels, but ", true},
      {"OneTooMany", images, idx_labels(101, 10), "holds 101 labels, but ", true},
      {"FourBillion", images, labels_with(kLabelMagic, {0xffffffff}), "holds 4294967295 labels",
       true},
      {"GzipCut", images, first_of(packed, packed.size() - 3), "ends early", true},
      {"GzipWrongChecksum", images, with_damage(packed, -5), "damaged: incorrect data check", true},
  };
}

struct Refusal {
  std::optional<ErrorCode> code;
  std::string text;
};

Refusal refusal_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {std::nullopt, "accepted"};
}

class IdxRefusal : public ::testing::TestWithParam<BadInput> {};

// Returns how much memory a reader may take: all that the file can hold, inflated if it is packed,
// plus a buffer for reading. Messages and names need less.
std::size_t most_memory_of(const Bytes& file) {
  const bool is_packed = file.size() > 1 && file[0] == 0x1f && file[1] == 0x8b;
  return (is_packed ? 1032 : 1) * file.size() + (std::size_t{64} << 10);
}

// Method: the program's own operator new records the largest allocation.
TEST_P(IdxRefusal, NamesTheFileAndTheReasonAndTakesLittleMemory) {
  const BadInput& bad = GetParam();
  TemporaryFolder folder;
  const auto images = folder.write("images", bad.images);
  const auto labels = folder.write("labels", bad.labels);
  largest_allocation = 0;
  const Refusal refusal = refusal_of([&] { read_idx(images, labels); });
  const std::size_t allocated = largest_allocation;
  EXPECT_EQ(refusal.code, ErrorCode::kBadData) << refusal.text;
  EXPECT_THAT(refusal.text, ::testing::HasSubstr(bad.reason));
  EXPECT_THAT(refusal.text,
              ::testing::StartsWith((bad.labels_are_wrong ? labels : images).string() + ": "));
  EXPECT_LE(allocated, std::max(most_memory_of(bad.images), most_memory_of(bad.labels)));
}

std::string name_of(const ::testing::TestParamInfo<BadInput>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Images, IdxRefusal, ::testing::ValuesIn(bad_images()), name_of);
INSTANTIATE_TEST_SUITE_P(Labels, IdxRefusal, ::testing::ValuesIn(bad_labels()), name_of);

TEST(IdxRefusal, OfALabelBeyondTheClassesGiven) {
  TemporaryFolder folder;
  const auto images = folder.write("images", kGoodImages);
  const auto labels = folder.write("labels", kGoodLabels);
  const Refusal refusal = refusal_of([&] { read_idx(images, labels, 9); });
  EXPECT_EQ(refusal.code, ErrorCode::kBadData);
  EXPECT_EQ(
      refusal.text,
      labels.string() + ": sample 9 has label 9, expected less than 9, the number of classes");
}

TEST(IdxRefusal, OfWhatIsNotThere) {
  TemporaryFolder folder;
  const auto labels = folder.write("labels", kGoodLabels);
  const auto missing = folder.path() / "missing";
  const Refusal refusal = refusal_of([&] { read_idx(missing, labels); });
  EXPECT_EQ(refusal.code, ErrorCode::kNotFound);
  EXPECT_EQ(refusal.text, missing.string() + ": No such file or directory");
}

// The file may exist, so it is not called missing.
TEST(IdxRefusal, OfALinkToItself) {
  TemporaryFolder folder;
  const auto labels = folder.write("labels", kGoodLabels);
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(link, link);
  const Refusal refusal = refusal_of([&] { read_idx(link, labels); });
  EXPECT_EQ(refusal.code, ErrorCode::kSystem);
  EXPECT_EQ(refusal.text, link.string() + ": Too many levels of symbolic links");
  EXPECT_THROW(read_idx(link, labels), UnreadableFile);
}

TEST(IdxRefusal, OfAFolder) {
  TemporaryFolder folder;
  const auto labels = folder.write("labels", kGoodLabels);
  const Refusal refusal = refusal_of([&] { read_idx(folder.path(), labels); });
  EXPECT_EQ(refusal.code, ErrorCode::kBadData);
  EXPECT_EQ(refusal.text, folder.path().string() + ": is a directory, expected an IDX file");
}

// Opening a pipe without a writer would wait for ever.
TEST(IdxRefusal, OfAPipeAtOnce) {
  TemporaryFolder folder;
  const auto images = folder.write("images", kGoodImages);
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Refusal refusal = refusal_of([&] { read_idx(images, pipe); });
  EXPECT_EQ(refusal.text, pipe.string() + ": is a pipe, expected an IDX file");
}

class IdxFolderRefusal : public ::testing::Test {
 protected:
  IdxFolderRefusal() {
    folder_.write("train-images-idx3-ubyte", kGoodImages);
    folder_.write("train-labels-idx1-ubyte", kGoodLabels);
    folder_.write("t10k-images-idx3-ubyte", idx_images(10, 6, 5));
    folder_.write("t10k-labels-idx1-ubyte", idx_labels(10, 10));
  }
  Refusal refusal() {
    return refusal_of([&] { read_idx_folder(folder_.path()); });
  }
  TemporaryFolder folder_;
};

TEST_F(IdxFolderRefusal, IsNotForWhatIsWhole) { EXPECT_EQ(refusal().text, "accepted"); }

TEST_F(IdxFolderRefusal, NamesBothSpellingsOfAMissingFile) {
  std::filesystem::remove(folder_.path() / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(refusal().code, ErrorCode::kNotFound);
  EXPECT_THAT(refusal().text,
              ::testing::StartsWith("neither t10k-labels-idx1-ubyte nor t10k-labels.idx1-ubyte, "
                                    "with or without .gz, is in " +
                                    folder_.path().string()));
}

TEST_F(IdxFolderRefusal, OfAFolderThatIsNotThere) {
  const Refusal missing = refusal_of([&] { read_idx_folder(folder_.path() / "nowhere"); });
  EXPECT_EQ(missing.code, ErrorCode::kNotFound);
}

TEST_F(IdxFolderRefusal, OfATestSetOfAnotherShape) {
  folder_.write("t10k-images-idx3-ubyte", idx_images(10, 5, 6));
  EXPECT_EQ(refusal().code, ErrorCode::kBadData);
  EXPECT_THAT(refusal().text, ::testing::HasSubstr("holds images of 5 x 6, but "));
}

TEST_F(IdxFolderRefusal, OfATestLabelBeyondTheClassesOfTheTrainingSet) {
  folder_.write("t10k-labels-idx1-ubyte", idx_labels(10, 10));
  folder_.write("train-labels-idx1-ubyte", idx_labels(100, 9));
  EXPECT_EQ(refusal().code, ErrorCode::kBadData);
  EXPECT_THAT(refusal().text, ::testing::HasSubstr("sample 9 has label 9, expected less than 9"));
}

}  // namespace
}  // namespace rota

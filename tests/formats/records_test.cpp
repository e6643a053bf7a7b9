// Records survive the way into a file and back, and each kind of damage is found and named.
// Method: every bit of a short file is flipped, and the file is cut at every byte.
#include "formats/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/error.h>

#include "base/byte_stream.h"
#include "base/hex.h"

namespace rota::formats {
namespace {

using Fault = Record::Fault;
using ::testing::HasSubstr;

// Returns the records of a file, up to and including the first record with a fault.
std::vector<Record> records_of(const std::string& file) {
  const auto bytes = base::bytes_of(file);
  std::vector<Record> records;
  for (std::uint64_t offset = 0; offset < bytes.size(); offset = records.back().end) {
    records.push_back(record_at(bytes, offset));
    if (records.back().fault != Fault::kNone) break;
  }
  return records;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string three_records() {
  std::string file;
  append_record(file, "one");
  append_record(file, "");
  append_record(file, "three");
  return file;
}

// These bytes are what TensorFlow's TFRecordWriter writes for b"rota".
TEST(Records, HaveTheBytesOfTensorFlow) {
  std::string file;
  append_record(file, "rota");
  EXPECT_EQ(base::to_hex(base::bytes_of(file)), "040000000000000042455204726f74610abf1bcf");
}

TEST(Records, AreReadInTheirOrder) {
  const std::string file = three_records();
  const auto records = records_of(file);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(text_of(records[0].data), "one");
  EXPECT_EQ(text_of(records[1].data), "");
  EXPECT_EQ(text_of(records[2].data), "three");
  EXPECT_EQ(records[2].end, file.size());
}

TEST(Records, AreDamagedByEachFlippedBit) {
  const std::string good = three_records();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const auto records = records_of(bad);
    ASSERT_FALSE(records.empty());
    ASSERT_NE(records.back().fault, Fault::kNone) << "bit " << bit;
  }
}

TEST(Records, EndEarlyIfTheFileIsCutOff) {
  const std::string good = three_records();
  const auto whole = records_of(good);
  for (std::size_t bytes = 1; bytes < good.size(); ++bytes) {
    if (bytes == whole[0].end || bytes == whole[1].end) continue;  // Between two records.
    const Fault fault = records_of(good.substr(0, bytes)).back().fault;
    ASSERT_TRUE(fault == Fault::kEndsInHead || fault == Fault::kEndsInData) << bytes;
  }
}

// The length is correct for its checksum, but larger than any file.
TEST(Records, EndEarlyIfTheirLengthOverflows) {
  for (const std::uint64_t length : {~std::uint64_t{0}, ~std::uint64_t{0} - 15, std::uint64_t{5}}) {
    const auto head = record_head(length);
    const std::string file = text_of(head) + "data" + "sums";
    EXPECT_EQ(records_of(file).back().fault, Fault::kEndsInData) << length;
  }
}

TEST(Records, SayWhatIsDamagedAndWhere) {
  std::string file = three_records();
  file[file.size() - 5] ^= 1;
  const Record damaged = records_of(file).back();
  const std::string said = to_text(damaged, 2, 35);
  EXPECT_THAT(said, HasSubstr("record 2 at byte 35: the checksum of its 5 bytes is 0x"));
  EXPECT_THAT(said, HasSubstr(", expected 0x"));
  EXPECT_NE(damaged.stored, damaged.computed);
}

const std::vector<std::uint64_t> kEnds = {19, 35, 56};

std::string refusal(const std::string& index, std::uint64_t file_bytes) {
  try {
    decode_index(base::bytes_of(index), file_bytes, "index");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    return error.what();
  }
  return "accepted";
}

TEST(RecordIndex, IsReadAsItWasWritten) {
  const std::string index = encode_index(kEnds);
  EXPECT_EQ(decode_index(base::bytes_of(index), 56, "index"), kEnds);
  EXPECT_TRUE(decode_index(base::bytes_of(encode_index({})), 0, "index").empty());
}

TEST(RecordIndex, IsRefusedIfItBelongsToAnotherFile) {
  EXPECT_THAT(refusal(encode_index(kEnds), 57),
              HasSubstr("belongs to another file: it describes 56 bytes, but the file has 57"));
  const std::vector<std::uint64_t> backwards = {35, 19};
  EXPECT_THAT(refusal(encode_index(backwards), 19),
              HasSubstr("record 1 ends at byte 19, but it begins at byte 35"));
  const std::vector<std::uint64_t> narrow = {16, 31};
  EXPECT_THAT(refusal(encode_index(narrow), 31), HasSubstr("record 1 ends at byte 31"));
}

TEST(RecordIndex, IsRefusedWithAnyBitFlippedOrCutOff) {
  const std::string good = encode_index(kEnds);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_THAT(refusal(bad, 56), ::testing::StartsWith("index: ")) << "bit " << bit;
  }
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    ASSERT_THAT(refusal(good.substr(0, bytes), 56), ::testing::StartsWith("index: ")) << bytes;
  }
}

}  // namespace
}  // namespace rota::formats

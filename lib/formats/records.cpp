// Writes and reads records, and the index of a file of records.
#include "formats/records.h"

#include <cstdio>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "kernels/crc32c.h"

namespace rota::formats {
namespace {

constexpr std::string_view kIndexMagic = "rotaidx1";
constexpr std::size_t kIndexHeadBytes = 16;  // The magic, and the number of records.

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string hex_of(std::uint32_t sum) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", sum);
  return text.data();
}

template <class T>
std::array<std::byte, sizeof(T)> little_endian(T value) noexcept {
  std::array<std::byte, sizeof(T)> bytes{};
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  return bytes;
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
  return base::ByteReader(bytes.subspan(offset, sizeof(T))).read<T>();
}

}  // namespace

std::uint32_t masked_sum(std::span<const std::byte> bytes) noexcept {
  const std::uint32_t sum = kernels::crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xa282'ead8;
}

std::array<std::byte, kRecordHeadBytes> record_head(std::uint64_t data_bytes) noexcept {
  std::array<std::byte, kRecordHeadBytes> head{};
  const auto length = little_endian(data_bytes);
  const auto sum = little_endian(masked_sum(length));
  std::copy(length.begin(), length.end(), head.begin());
  std::copy(sum.begin(), sum.end(), head.begin() + length.size());
  return head;
}

std::array<std::byte, kRecordTailBytes> record_tail(std::span<const std::byte> data) noexcept {
  return little_endian(masked_sum(data));
}

void append_record(std::string& file, std::string_view data) {
  const auto bytes = base::bytes_of(data);
  file += text_of(record_head(data.size()));
  file += data;
  file += text_of(record_tail(bytes));
}

Record unchecked_record_at(std::span<const std::byte> file, std::uint64_t offset) noexcept {
  Record record;
  const auto rest = file.subspan(static_cast<std::size_t>(offset));
  if (rest.size() < kRecordHeadBytes) {
    record.fault = Record::Fault::kEndsInHead;
    return record;
  }
  const auto length = number_at<std::uint64_t>(rest, 0);
  record.stored = number_at<std::uint32_t>(rest, sizeof(length));
  record.computed = masked_sum(rest.first(sizeof(length)));
  if (record.stored != record.computed) {
    record.fault = Record::Fault::kLengthSum;
    return record;
  }
  const auto after = rest.subspan(kRecordHeadBytes);
  if (after.size() < kRecordTailBytes || length > after.size() - kRecordTailBytes) {
    record.fault = Record::Fault::kEndsInData;
    return record;
  }
  record.data = after.first(static_cast<std::size_t>(length));
  record.end = offset + kRecordHeadBytes + length + kRecordTailBytes;
  return record;
}

Record record_at(std::span<const std::byte> file, std::uint64_t offset) noexcept {
  Record record = unchecked_record_at(file, offset);
  if (record.fault != Record::Fault::kNone) return record;
  const auto sum_place = static_cast<std::size_t>(record.end) - kRecordTailBytes;
  record.stored = number_at<std::uint32_t>(file, sum_place);
  record.computed = masked_sum(record.data);
  if (record.stored != record.computed) record.fault = Record::Fault::kDataSum;
  return record;
}

std::string to_text(const Record& record, std::size_t index, std::uint64_t offset) {
  const std::string where =
      "record " + std::to_string(index) + " at byte " + std::to_string(offset) + ": ";
  const std::string sums = " is " + hex_of(record.computed) + ", expected " + hex_of(record.stored);
  switch (record.fault) {
    case Record::Fault::kEndsInHead:
      return where + "the file ends within its length: it was cut off";
    case Record::Fault::kLengthSum:
      return where + "the checksum of its length" + sums + ": it is damaged, or no record";
    case Record::Fault::kEndsInData:
      return where + "the file ends within its data: it was cut off";
    case Record::Fault::kDataSum:
      return where + "the checksum of its " + std::to_string(record.data.size()) + " bytes" + sums +
             ": it is damaged";
    case Record::Fault::kOtherEnd:
      return where + "it ends at byte " + std::to_string(record.end) +
             ", but not according to the index, which is of another file: delete the index";
    case Record::Fault::kNone:
      break;
  }
  return where + "it is whole";
}

std::string encode_index(std::span<const std::uint64_t> ends) {
  base::ByteWriter writer;
  writer.reserve(kIndexHeadBytes + (ends.size() + 1) * sizeof(std::uint64_t));
  writer.append(base::bytes_of(kIndexMagic));
  writer.write(std::uint64_t{ends.size()});
  for (const std::uint64_t end : ends) writer.write(end);
  std::vector<std::byte> bytes = writer.take();
  const auto sum = little_endian(masked_sum(bytes));
  bytes.insert(bytes.end(), sum.begin(), sum.end());
  return std::string(text_of(bytes));
}

std::vector<std::uint64_t> decode_index(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                        const std::string& index) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadData,
                index + ": " + why + ": delete the index, and rota finds the records itself");
  };
  if (!text_of(bytes).starts_with(kIndexMagic)) refuse("is not an index of records");
  if (bytes.size() < kIndexHeadBytes + kRecordTailBytes) refuse("was cut off");
  const std::size_t sum_place = bytes.size() - kRecordTailBytes;
  const auto stored = number_at<std::uint32_t>(bytes, sum_place);
  const std::uint32_t computed = masked_sum(bytes.first(sum_place));
  const auto count = number_at<std::uint64_t>(bytes, kIndexMagic.size());
  if (stored != computed || count != (sum_place - kIndexHeadBytes) / sizeof(std::uint64_t) ||
      (sum_place - kIndexHeadBytes) % sizeof(std::uint64_t) != 0) {
    refuse("is damaged: its checksum is " + hex_of(computed) + ", expected " + hex_of(stored));
  }
  std::vector<std::uint64_t> ends(static_cast<std::size_t>(count));
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i] = number_at<std::uint64_t>(bytes, kIndexHeadBytes + i * sizeof(std::uint64_t));
    if (ends[i] < before || ends[i] - before < kRecordHeadBytes + kRecordTailBytes) {
      refuse("says that record " + std::to_string(i) + " ends at byte " + std::to_string(ends[i]) +
             ", but it begins at byte " + std::to_string(before));
    }
    before = ends[i];
  }
  if (before != file_bytes) {
    refuse("belongs to another file: it describes " + std::to_string(before) +
           " bytes, but the file has " + std::to_string(file_bytes));
  }
  return ends;
}

}  // namespace rota::formats

// The records of TFRecord files and of TensorBoard's event files. Without this file, rota could
// neither read such files nor notice damage in them.
//
// A record has the length of its data (eight bytes, little-endian), the masked checksum of the
// length, the data, and the masked checksum of the data. The checksum is CRC-32C, and the mask is
// TensorFlow's. An index, a file of rota's own, says where each record of a file begins.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rota::formats {

inline constexpr std::size_t kRecordHeadBytes = 12;
inline constexpr std::size_t kRecordTailBytes = 4;

// Returns the masked checksum of `bytes`, as a record has it.
std::uint32_t masked_sum(std::span<const std::byte> bytes) noexcept;

// What comes before and after the data of a record.
std::array<std::byte, kRecordHeadBytes> record_head(std::uint64_t data_bytes) noexcept;
std::array<std::byte, kRecordTailBytes> record_tail(std::span<const std::byte> data) noexcept;

// Appends a record with this data.
void append_record(std::string& file, std::string_view data);

struct Record {
  enum class Fault : std::uint8_t {
    kNone,
    kEndsInHead,  // The file ends before the record's data.
    kLengthSum,   // The length is damaged, so the end of the record is unknown.
    kEndsInData,
    kDataSum,
    kOtherEnd,  // An index says that the record ends elsewhere.
  };
  Fault fault = Fault::kNone;
  std::span<const std::byte> data;  // A part of the file. Damaged if the fault is kDataSum.
  std::uint64_t end = 0;            // Where the next record begins. Only with kNone and kDataSum.
  // The sums that differ, masked. Only with kLengthSum and kDataSum.
  std::uint32_t stored = 0;
  std::uint32_t computed = 0;
};

// Returns the record that begins at byte `offset` of a file. Requires offset <= file.size().
Record record_at(std::span<const std::byte> file, std::uint64_t offset) noexcept;

// Does what record_at() does, but does not look at the checksum of the data.
Record unchecked_record_at(std::span<const std::byte> file, std::uint64_t offset) noexcept;

// Says what is wrong with the record of number `index`, which begins at `offset`, in words that
// follow the name of a file: "record 5 at byte 112: …".
std::string to_text(const Record& record, std::size_t index, std::uint64_t offset);

// Returns the contents of the index of a file. `ends` are the places where its records end, in
// order.
std::string encode_index(std::span<const std::uint64_t> ends);

// Returns the places where the records end, according to an index. `file_bytes` is the size of the
// file of records. `index` is the index's name in messages. Throws Error kBadData if the index is
// damaged or belongs to another file.
std::vector<std::uint64_t> decode_index(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                        const std::string& index);

}  // namespace rota::formats

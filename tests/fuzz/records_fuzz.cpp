// Fuzzes files of records, and their indexes. The first byte chooses whether the rest is a file of
// records or an index.
#include "formats/records.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;

void read_records(std::span<const std::byte> file) {
  std::string again;
  std::uint64_t offset = 0;
  while (offset < file.size()) {
    const formats::Record record = formats::record_at(file, offset);
    using Fault = formats::Record::Fault;
    if (record.fault != Fault::kNone && record.fault != Fault::kDataSum) break;
    fuzz::require(record.end > offset && record.end <= file.size(), "a record is in its file");
    if (record.fault != Fault::kNone) return;
    formats::append_record(again,
                           {reinterpret_cast<const char*>(record.data.data()), record.data.size()});
    offset = record.end;
  }
  const auto written = std::as_bytes(std::span(again));
  fuzz::require(std::equal(written.begin(), written.end(), file.begin()),
                "records are read as they were written");
}

void read_index(std::span<const std::byte> index) {
  constexpr std::uint64_t kFileBytes = 56;
  try {
    const auto ends = formats::decode_index(index, kFileBytes, "index");
    fuzz::require(ends.empty() ? false : ends.back() == kFileBytes, "an index describes its file");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::kBadData, "a refusal says that the data is bad");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  if (count == 0) return 0;
  const auto rest = std::as_bytes(std::span(data, count)).subspan(1);
  if (data[0] == 'i') {
    read_index(rest);
  } else {
    read_records(rest);
  }
  return 0;
}

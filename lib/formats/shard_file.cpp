// Opens a file of records, and finds the places of its records.
#include "formats/shard_file.h"

#include <system_error>

#include <rota/error.h>
#include <rota/records.h>

#include "formats/replacing_file.h"

namespace rota::formats {
namespace {

// Reads the file, and returns the places where its records end.
std::vector<std::uint64_t> scan(std::span<const std::byte> file, const std::string& name) {
  if (file.empty()) {
    throw Error(ErrorCode::kBadData, name + ": is empty and has no index: it was cut off");
  }
  std::vector<std::uint64_t> ends;
  std::uint64_t offset = 0;
  while (offset < file.size()) {
    const Record record = unchecked_record_at(file, offset);
    if (record.fault != Record::Fault::kNone) {
      throw Error(ErrorCode::kBadData,
                  name + ": " + to_text(record, ends.size(), offset) +
                      "; without an index, the records after it cannot be found");
    }
    offset = record.end;
    ends.push_back(offset);
  }
  return ends;
}

}  // namespace

ShardFile::ShardFile(const std::filesystem::path& path)
    : name_(path.string()), file_(resolved(path)), bytes_(file_.map()) {
  const std::filesystem::path index = index_path(path);
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(index, ignored))) {
    os::MappedFile index_file(resolved(index));
    ends_ = decode_index(index_file.map(), bytes_.size(), index.string());
  } else {
    ends_ = scan(bytes_, name_);
  }
  file_.close_descriptor();
}

Record ShardFile::record(std::size_t index) const noexcept {
  Record record = record_at(bytes_, begin_of(index));
  using Fault = Record::Fault;
  const bool has_end = record.fault == Fault::kNone || record.fault == Fault::kDataSum;
  if (has_end && record.end != ends_[index]) record.fault = Fault::kOtherEnd;
  return record;
}

std::uint64_t ShardFile::begin_of(std::size_t index) const noexcept {
  return index == 0 ? 0 : ends_[index - 1];
}

}  // namespace rota::formats

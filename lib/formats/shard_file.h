// One file of records, open for reading, and the places of its records.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/records.h"
#include "os/mapped_file.h"

namespace rota::formats {

class ShardFile {
 public:
  // Takes the places from the file's index or, if it has none, from the file. Throws as the
  // constructor of RecordReader does.
  explicit ShardFile(const std::filesystem::path& path);

  // Returns the name of the file in messages.
  const std::string& name() const noexcept { return name_; }
  std::size_t count() const noexcept { return ends_.size(); }

  // Requires index < count(). The fault of the record says whether it is damaged.
  Record record(std::size_t index) const noexcept;
  std::uint64_t begin_of(std::size_t index) const noexcept;

 private:
  std::string name_;
  os::MappedFile file_;
  std::span<const std::byte> bytes_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace rota::formats

// Data sets as files of records, in the format of TFRecord: a record is any number of bytes. A data
// set has several files, its shards, so that several ranks can write it at the same time. Beside
// each file, rota writes an index, so that a reader finds a record without reading those before it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rota/export.h>

namespace rota {

// Returns the path of a shard: "data/train" and 0 of 4 give data/train-00000-of-00004.tfrecord.
// Throws Error kInvalidArgument unless shard < shard_count, and shard_count is 99,999 at most.
ROTA_EXPORT std::filesystem::path shard_path(const std::filesystem::path& prefix, std::size_t shard,
                                             std::size_t shard_count);

// Returns the paths of all shards of a data set, in order. `prefix` has the same form as for
// shard_path(). Throws Error kNotFound if there is none or one is missing; kBadData if there are
// shards of two counts, such as 4 and 8; kSystem.
ROTA_EXPORT std::vector<std::filesystem::path> shards_of(const std::filesystem::path& prefix);

// Returns the path of the index of a file of records: the path of the file, followed by ".index".
ROTA_EXPORT std::filesystem::path index_path(const std::filesystem::path& file);

// Writes one file of records and its index. Both get their names in close(), so a reader never sees
// a part of a file. One thread at a time may use a RecordWriter.
class ROTA_EXPORT RecordWriter {
 public:
  // Throws Error kCannotWrite. A file that is already at `path` is such an error: no data set is
  // overwritten.
  explicit RecordWriter(const std::filesystem::path& path);
  ~RecordWriter();  // Deletes what was written, unless close() was called.
  RecordWriter(RecordWriter&& other) noexcept;
  RecordWriter& operator=(RecordWriter&& other) noexcept;

  // `data` is borrowed for the call. Throws Error kCannotWrite. Then all further calls of append()
  // and close() throw, too: the file may end in half of this record.
  void append(std::span<const std::byte> data);

  // Returns the number of records so far.
  std::size_t count() const noexcept;

  // Returns when the disk has the file and its index. Call it once. Throws Error kCannotWrite.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads files of records in place: they are mapped into memory and not copied. The files must not
// be changed or shortened while they are open. Threads may share a const RecordReader.
class ROTA_EXPORT RecordReader {
 public:
  // Opens these files, such as shards_of("data/train"). All their records are numbered from 0, in
  // the order of the files. A file without an index is read once, to find its records. Throws Error
  // kNotFound if a file is missing; kBadData if a file is no regular file, is empty without an
  // index, was cut off, has a record whose length is damaged, or has an index that is damaged or
  // belongs to another file; kSystem; kNoMemory. Never waits.
  explicit RecordReader(const std::vector<std::filesystem::path>& files);
  RecordReader(RecordReader&& other) noexcept;
  RecordReader& operator=(RecordReader&& other) noexcept;
  ~RecordReader();

  // Returns the number of records in all files, including damaged records.
  std::size_t count() const noexcept;

  // Returns the number of records in each file, in order.
  std::vector<std::size_t> shard_counts() const;

  // Returns the data of a record. The data is in the mapped file, and lives as long as this object.
  // Each call computes the checksum of the data. Throws Error kBadData if the record is damaged:
  // the text has the file, the record's number and place in this file, and both checksums. Throws
  // kInvalidArgument unless index < count().
  std::span<const std::byte> record(std::size_t index) const;

  // Returns the data of a record, or nothing if the record is damaged. Counts damaged records.
  std::optional<std::span<const std::byte>> record_if_whole(std::size_t index) const;

  // Returns how often record_if_whole() has met a damaged record.
  std::uint64_t damaged_count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rota

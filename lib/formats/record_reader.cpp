// Finds a record in several files of records.
#include <rota/records.h>

#include <algorithm>
#include <atomic>
#include <string>

#include <rota/error.h>

#include "formats/shard_file.h"

namespace rota {

struct RecordReader::State {
  std::vector<formats::ShardFile> shards;
  std::vector<std::size_t> firsts;  // The number of each shard's first record.
  std::size_t count = 0;
  std::atomic<std::uint64_t> damaged_count = 0;

  struct Place {
    const formats::ShardFile& shard;
    std::size_t index;  // In the shard.
  };
  Place place_of(std::size_t index) const {
    if (index >= count) {
      throw Error(ErrorCode::kInvalidArgument, "there is no record " + std::to_string(index) +
                                                   ": the data set has " + std::to_string(count) +
                                                   ", counted from 0");
    }
    const auto next = std::upper_bound(firsts.begin(), firsts.end(), index);
    const auto shard = static_cast<std::size_t>(next - firsts.begin()) - 1;
    return {shards[shard], index - firsts[shard]};
  }
};

RecordReader::RecordReader(const std::vector<std::filesystem::path>& files)
    : state_(std::make_unique<State>()) {
  state_->shards.reserve(files.size());
  for (const std::filesystem::path& path : files) {
    state_->shards.emplace_back(path);
    state_->firsts.push_back(state_->count);
    state_->count += state_->shards.back().count();
  }
}

RecordReader::RecordReader(RecordReader&& other) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&& other) noexcept = default;
RecordReader::~RecordReader() = default;

std::size_t RecordReader::count() const noexcept { return state_->count; }

std::vector<std::size_t> RecordReader::shard_counts() const {
  std::vector<std::size_t> counts;
  counts.reserve(state_->shards.size());
  for (const formats::ShardFile& shard : state_->shards) counts.push_back(shard.count());
  return counts;
}

std::span<const std::byte> RecordReader::record(std::size_t index) const {
  const auto [shard, in_shard] = state_->place_of(index);
  const formats::Record record = shard.record(in_shard);
  if (record.fault == formats::Record::Fault::kNone) return record.data;
  throw Error(ErrorCode::kBadData,
              shard.name() + ": " + formats::to_text(record, in_shard, shard.begin_of(in_shard)));
}

std::optional<std::span<const std::byte>> RecordReader::record_if_whole(std::size_t index) const {
  const auto [shard, in_shard] = state_->place_of(index);
  const formats::Record record = shard.record(in_shard);
  if (record.fault == formats::Record::Fault::kNone) return record.data;
  ++state_->damaged_count;
  return std::nullopt;
}

std::uint64_t RecordReader::damaged_count() const noexcept { return state_->damaged_count; }

}  // namespace rota

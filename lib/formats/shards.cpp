// Names shards, and finds all shards of a data set.
#include <rota/records.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <rota/error.h>

#include "os/durable_file.h"

namespace rota {
namespace {

constexpr std::size_t kMostShards = 99'999;
constexpr std::size_t kShardDigits = 5;
constexpr std::string_view kShardEnding = ".tfrecord";

std::string shard_ending(std::size_t shard, std::size_t shard_count) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "-%05zu-of-%05zu%s", shard, shard_count,
                kShardEnding.data());
  return text.data();
}

// Returns the count in the name of a shard, "PREFIX-00000-of-00004.tfrecord", or nothing if this is
// not the name of a shard.
std::optional<std::size_t> shard_count_in(std::string_view name, std::string_view prefix) {
  const std::size_t bytes = shard_ending(0, 1).size();
  if (!name.starts_with(prefix) || name.size() != prefix.size() + bytes) return std::nullopt;
  const std::string_view ending = name.substr(prefix.size());
  const auto number_at = [&](std::size_t place) {
    std::size_t number = 0;
    std::from_chars(ending.data() + place, ending.data() + place + kShardDigits, number);
    return number;
  };
  const std::size_t shard = number_at(1);
  const std::size_t count = number_at(1 + kShardDigits + std::string_view("-of-").size());
  if (shard >= count || shard_ending(shard, count) != ending) return std::nullopt;
  return count;
}

}  // namespace

std::filesystem::path shard_path(const std::filesystem::path& prefix, std::size_t shard,
                                 std::size_t shard_count) {
  if (shard >= shard_count || shard_count > kMostShards) {
    throw Error(ErrorCode::kInvalidArgument, "there is no shard " + std::to_string(shard) + " of " +
                                                 std::to_string(shard_count) +
                                                 ": shards are counted from 0, and there are " +
                                                 std::to_string(kMostShards) + " at most");
  }
  std::filesystem::path path = prefix;
  path += shard_ending(shard, shard_count);
  return path;
}

std::filesystem::path index_path(const std::filesystem::path& file) {
  std::filesystem::path path = file;
  path += ".index";
  return path;
}

std::vector<std::filesystem::path> shards_of(const std::filesystem::path& prefix) {
  const std::filesystem::path folder = prefix.has_parent_path() ? prefix.parent_path() : ".";
  std::optional<std::size_t> count;
  for (const std::string& name : os::names_in(folder.string())) {
    const auto found = shard_count_in(name, prefix.filename().string());
    if (found && count && *found != *count) {
      throw Error(ErrorCode::kBadData, prefix.string() + ": there are files of a set of " +
                                           std::to_string(*count) + " shards and of a set of " +
                                           std::to_string(*found) +
                                           " shards: move the files of one of these sets away");
    }
    if (found) count = found;
  }
  if (!count) {
    throw Error(ErrorCode::kNotFound, prefix.string() + ": there are no files " +
                                          shard_path(prefix, 0, 1).string() +
                                          " or of more shards: say where the data set is");
  }
  std::vector<std::filesystem::path> shards;
  for (std::size_t shard = 0; shard < *count; ++shard) {
    shards.push_back(shard_path(prefix, shard, *count));
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(shards.back(), ignored))) continue;
    throw Error(ErrorCode::kNotFound, shards.back().string() + ": this shard is missing: the " +
                                          "data set has " + std::to_string(*count) + " shards");
  }
  return shards;
}

}  // namespace rota

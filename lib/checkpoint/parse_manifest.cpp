// Reads a manifest that may be damaged, or made by an attacker: its size, its depth and every
// member are checked.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <rota/error.h>

#include "base/counted.h"
#include "base/sizes.h"
#include "checkpoint/file_names.h"
#include "checkpoint/manifest.h"
#include "formats/header_reader.h"

namespace rota::checkpoint {
namespace {

using formats::shown_name;
using Json = nlohmann::json;

constexpr int kDeepest = 8;
constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 20;
constexpr std::size_t kDigitsFromEnd = 11;  // The digits of the sum, a quote, a brace, a newline.
constexpr DataType kTypes[] = {DataType::kByte,    DataType::kFloat16, DataType::kBfloat16,
                               DataType::kFloat32, DataType::kFloat64, DataType::kInt8,
                               DataType::kUint8,   DataType::kInt32,   DataType::kInt64};

std::string shown_value(const Json& value) {
  if (value.is_string()) return shown_name(value.get<std::string>());
  return value.is_structured() ? "a list or an object" : value.dump();
}

// Reads the members of one manifest. `path_` names it in errors.
class ManifestReader {
 public:
  explicit ManifestReader(const std::string& path) : path_(path) {}

  Manifest read(std::string_view text) const {
    check_sum(text);
    const Json root = parse(text);
    check_format(root);
    check_members(root, "the manifest", 13);
    Manifest manifest;
    manifest.run = run_of(root);
    manifest.start = number(root, "the manifest", "start", 1);
    manifest.view = number(root, "the manifest", "view", 1);
    manifest.world_size = number(root, "the manifest", "world_size", 1);
    if (manifest.world_size > kMostRanks) {
      refuse("says that " + std::to_string(manifest.world_size) +
             " ranks wrote the checkpoint; the most is " + std::to_string(kMostRanks));
    }
    manifest.step = number(root, "the manifest", "step", 0);
    manifest.ranks = ranks_of(root, "ranks", manifest.world_size);
    manifest.stateful_ranks = ranks_of(root, "stateful_ranks", manifest.world_size);
    if (!std::ranges::includes(manifest.stateful_ranks, manifest.ranks)) {
      refuse("stateful_ranks lacks a rank of ranks");
    }
    each(root, "facts", [&](const Json& entry, const std::string& place) {
      check_members(entry, place, 2);
      manifest.facts.push_back({text_of(entry, place, "name"), text_of(entry, place, "text")});
    });
    each(root, "counters", [&](const Json& entry, const std::string& place) {
      check_members(entry, place, 2);
      manifest.counters.push_back(
          {text_of(entry, place, "name"), number(entry, place, "value", 0)});
    });
    each(root, "tensors", [&](const Json& entry, const std::string& place) {
      manifest.tensors.push_back(tensor_of(entry, place));
    });
    each(root, "files", [&](const Json& entry, const std::string& place) {
      manifest.files.push_back(file_of(entry, place));
    });
    require_unique(manifest.facts, "facts");
    require_unique(manifest.counters, "counters");
    require_unique(manifest.tensors, "tensors");
    require_unique(manifest.files, "files");
    return manifest;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kBadData, path_ + ": " + why);
  }

  // Every later format of a manifest ends in the same way, so damage is never taken for a later
  // format.
  void check_sum(std::string_view text) const {
    if (text.size() > kMaxManifestBytes) {
      refuse("has " + std::to_string(text.size()) + " bytes, more than a manifest can have");
    }
    const std::size_t size = text.size() - std::min(seal("").size(), text.size());
    const std::string sealed = seal(std::string(text.substr(0, size)));
    if (sealed == text) return;
    const std::string_view end = text.substr(size);
    const std::string_view right = std::string_view(sealed).substr(size);
    const std::size_t digits = right.size() - kDigitsFromEnd;
    const bool has_sum = end.substr(0, digits) == right.substr(0, digits);
    refuse("is damaged or cut off: the CRC32C of its first " + std::to_string(size) + " bytes is " +
           std::string(right.substr(digits, 8)) + ", but " +
           (has_sum ? "the sum at its end is " + shown_name(end.substr(digits, 8))
                    : "its end is " + shown_name(end)));
  }

  // The JSON parser would keep the last of two equal keys, so a repeated key is refused.
  Json parse(std::string_view text) const {
    std::vector<std::set<std::string>> open;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
      using Event = Json::parse_event_t;
      if (event == Event::object_start || event == Event::array_start) {
        if (depth > kDeepest) refuse("is nested too deeply");
        open.emplace_back();
      } else if (event == Event::object_end || event == Event::array_end) {
        open.pop_back();
      } else if (event == Event::key && !open.back().insert(parsed.get<std::string>()).second) {
        refuse("has the member " + shown_name(parsed.get<std::string>()) + " twice");
      }
      return true;
    };
    try {
      return Json::parse(text, watch);
    } catch (const Json::exception&) {
      refuse("is not JSON, although its sum is right");
    }
  }

  void check_format(const Json& root) const {
    if (!root.is_object()) refuse("is not a JSON object");
    const std::uint64_t format = number(root, "the manifest", "format", 1);
    if (format > kManifestFormat) {
      throw LaterFormat(ErrorCode::kBadData,
                        path_ + ": was written by a newer rota, in format " +
                            std::to_string(format) + ", and this rota reads formats up to " +
                            std::to_string(kManifestFormat) + ": use the newer rota");
    }
  }

  void check_members(const Json& object, const std::string& place, std::size_t count) const {
    if (!object.is_object()) refuse(place + " is not a JSON object");
    if (object.size() > count) refuse(place + " has a member that its format does not have");
  }

  const Json& member(const Json& object, const std::string& place, const char* name) const {
    const auto found = object.find(name);
    if (found == object.end()) refuse(place + " has no " + name);
    return *found;
  }

  std::uint64_t number(const Json& object, const std::string& place, const char* name,
                       std::uint64_t least) const {
    return to_number(member(object, place, name), place + ": " + name, least);
  }

  std::uint64_t to_number(const Json& value, const std::string& what, std::uint64_t least) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least) {
      refuse(what + " is " + shown_value(value) + ": a whole number from " + std::to_string(least) +
             " on is needed");
    }
    return value.get<std::uint64_t>();
  }

  std::size_t to_size(const Json& value, const std::string& what, std::uint64_t least) const {
    const auto size = base::as_size(to_number(value, what, least));
    if (!size) refuse(what + " is " + shown_value(value) + ", which is too large for this machine");
    return *size;
  }

  std::string text_of(const Json& object, const std::string& place, const char* name) const {
    const Json& value = member(object, place, name);
    if (!value.is_string()) refuse(place + ": " + name + " is not a text");
    return value.get<std::string>();
  }

  const Json& list(const Json& object, const std::string& place, const char* name) const {
    const Json& value = member(object, place, name);
    if (!value.is_array()) refuse(place + ": " + name + " is not a list");
    return value;
  }

  template <class Take>
  void each(const Json& root, const char* name, const Take& take) const {
    std::size_t index = 0;
    for (const Json& entry : list(root, "the manifest", name)) {
      take(entry, std::string(name) + "[" + std::to_string(index++) + "]");
    }
  }

  template <class Entry>
  void require_unique(const std::vector<Entry>& entries, const char* what) const {
    std::set<std::string_view> names;
    for (const Entry& entry : entries) {
      if (!names.insert(entry.name).second) {
        refuse(std::string(what) + " has the name " + shown_name(entry.name) + " twice");
      }
    }
  }

  RunId run_of(const Json& root) const {
    const std::string text = text_of(root, "the manifest", "run");
    const auto run = run_id_from(text);
    if (!run) refuse("run is " + shown_name(text) + ": 32 hexadecimal digits are needed");
    return *run;
  }

  std::vector<std::size_t> ranks_of(const Json& root, const char* member,
                                    std::uint64_t world_size) const {
    std::vector<std::size_t> ranks;
    for (const Json& entry : list(root, "the manifest", member)) {
      const std::size_t rank =
          to_size(entry, "a rank of " + std::string(member), ranks.empty() ? 0 : ranks.back() + 1);
      if (rank >= world_size) {
        refuse(std::string(member) + " has rank " + std::to_string(rank) + " of " +
               base::counted_ranks(world_size));
      }
      ranks.push_back(rank);
    }
    return ranks;
  }

  TensorInfo tensor_of(const Json& entry, const std::string& place) const {
    check_members(entry, place, 3);
    TensorInfo tensor{.name = text_of(entry, place, "name")};
    const std::string type = text_of(entry, place, "type");
    const auto* found = std::ranges::find_if(
        kTypes, [&](DataType candidate) { return to_string(candidate) == type; });
    if (found == std::end(kTypes)) refuse(place + ": " + shown_name(type) + " is no type");
    tensor.type = *found;
    for (const Json& side : list(entry, place, "shape")) {
      tensor.shape.push_back(to_size(side, place + ": a side of its shape", 0));
    }
    if (!checked_bytes_of(tensor.type, tensor.shape)) {
      refuse(place + ": " + shown_name(tensor.name) + " has more bytes than can be counted");
    }
    return tensor;
  }

  ManifestFile file_of(const Json& entry, const std::string& place) const {
    check_members(entry, place, 3);
    ManifestFile file{.name = text_of(entry, place, "name")};
    if (!file_name_from(file.name)) {
      refuse(place + ": " + shown_name(file.name) + " is not the name of a file of a checkpoint");
    }
    file.bytes = number(entry, place, "bytes", 1);
    for (const Json& sum : list(entry, place, "crc32c")) {
      file.sums.push_back(sum_of(sum, place));
    }
    if (file.sums.size() != (file.bytes - 1) / kSumBytes + 1) {
      refuse(place + ": " + file.name + " has " + std::to_string(file.bytes) + " bytes, but " +
             std::to_string(file.sums.size()) + " sums, and not one for each MiB");
    }
    return file;
  }

  std::uint32_t sum_of(const Json& value, const std::string& place) const {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    std::uint32_t sum = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sum, 16);
    if (error != std::errc() || sum_text(sum) != text) {
      refuse(place + ": crc32c has " + shown_value(value) + ": 8 hexadecimal digits are needed");
    }
    return sum;
  }

  const std::string& path_;
};

}  // namespace

Manifest parse_manifest(const std::string& path, std::string_view text) {
  return ManifestReader(path).read(text);
}

}  // namespace rota::checkpoint

// Writes a manifest as JSON, in lines that people can read and compare.
#include "checkpoint/manifest.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "kernels/crc32c.h"

namespace rota::checkpoint {
namespace {

using nlohmann::json;

// Returns one line for each entry.
std::string lines_of(const char* member, const std::vector<json>& entries) {
  std::string text = "\"" + std::string(member) + "\": [";
  const char* before = "\n";
  for (const json& entry : entries) {
    text += before + entry.dump();
    before = ",\n";
  }
  return text + "],\n";
}

std::string number_line(const char* member, std::uint64_t number) {
  return "\"" + std::string(member) + "\": " + std::to_string(number) + ",\n";
}

std::string list_line(std::string_view member, const std::vector<std::size_t>& numbers) {
  return "\"" + std::string(member) + "\": " + json(numbers).dump() + ",\n";
}

json entry_of(const ManifestFile& file) {
  json sums = json::array();
  for (const std::uint32_t sum : file.sums) sums.push_back(sum_text(sum));
  return {{"name", file.name}, {"bytes", file.bytes}, {"crc32c", std::move(sums)}};
}

std::string body_of(const Manifest& manifest) {
  std::vector<json> facts;
  std::vector<json> counters;
  std::vector<json> tensors;
  std::vector<json> files;
  for (const Fact& fact : manifest.facts) {
    facts.push_back({{"name", fact.name}, {"text", fact.text}});
  }
  for (const Counter& counter : manifest.counters) {
    counters.push_back({{"name", counter.name}, {"value", counter.value}});
  }
  for (const TensorInfo& tensor : manifest.tensors) {
    tensors.push_back(
        {{"name", tensor.name}, {"type", to_string(tensor.type)}, {"shape", tensor.shape}});
  }
  for (const ManifestFile& file : manifest.files) files.push_back(entry_of(file));
  return "{\n" + number_line("format", kManifestFormat) + R"("run": ")" + to_text(manifest.run) +
         "\",\n" + number_line("start", manifest.start) + number_line("view", manifest.view) +
         number_line("world_size", manifest.world_size) + number_line("step", manifest.step) +
         list_line("ranks", manifest.ranks) + list_line("stateful_ranks", manifest.stateful_ranks) +
         lines_of("facts", facts) + lines_of("counters", counters) + lines_of("tensors", tensors) +
         lines_of("files", files);
}

}  // namespace

std::string sum_text(std::uint32_t sum) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(sum >> shift) & 15];
  return text;
}

std::string seal(std::string body) {
  const std::uint32_t sum = kernels::crc32c(base::bytes_of(body));
  return std::move(body) + R"("crc32c": ")" + sum_text(sum) + "\"}\n";
}

std::string encode(const Manifest& manifest) {
  std::string text;
  try {
    text = seal(body_of(manifest));
  } catch (const json::type_error&) {
    throw Error(ErrorCode::kInvalidArgument,
                "a checkpoint needs names and facts in UTF-8, but one of them is not");
  }
  if (text.size() > kMaxManifestBytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "the manifest of this checkpoint would have " + std::to_string(text.size()) +
                    " bytes, and at most " + std::to_string(kMaxManifestBytes) +
                    " are possible: it has too many tensors, or too long facts");
  }
  return text;
}

}  // namespace rota::checkpoint

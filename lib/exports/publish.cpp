// Writes a version of a model to a hidden folder, and then gives it the next free number.
#include <rota/error.h>
#include <rota/publish.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/hex.h"
#include "os/durable_file.h"
#include "os/host.h"

namespace rota {
namespace {

// Returns the number of a version, or 0 for a name that is not a version.
std::uint64_t version_named(const std::string& name) noexcept {
  std::uint64_t version = 0;
  const char* const end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data(), end, version);
  return error == std::errc() && last == end ? version : 0;
}

std::uint64_t highest_version(const std::filesystem::path& folder) {
  std::uint64_t highest = 0;
  for (const std::string& name : os::names_in(folder.string())) {
    highest = std::max(highest, version_named(name));
  }
  return highest;
}

// Returns a name that no other process uses, on this host or on another host with the same file
// system.
std::filesystem::path hidden_name() {
  std::uint64_t number = 0;
  os::fill_with_randomness(std::as_writable_bytes(std::span(&number, 1)));
  return ".publishing." + base::to_hex(number);
}

const char* name_of_type(OnnxType type) noexcept {
  switch (type) {
    case OnnxType::kFloat:
      return "float32";
    case OnnxType::kUint8:
      return "uint8";
    case OnnxType::kInt64:
      return "int64";
  }
  return "unknown";
}

nlohmann::ordered_json to_json(std::span<const OnnxValue> values) {
  auto list = nlohmann::ordered_json::array();
  for (const OnnxValue& value : values) {
    auto shape = nlohmann::ordered_json::array();
    for (const OnnxExtent& extent : value.shape) {
      std::visit([&](const auto& each) { shape.push_back(each); }, extent);
    }
    list.push_back({{"name", value.name}, {"type", name_of_type(value.type)}, {"shape", shape}});
  }
  return list;
}

std::string description_of(const OnnxGraph& graph) {
  nlohmann::ordered_json description = {{"inputs", to_json(graph.inputs())},
                                        {"outputs", to_json(graph.outputs())},
                                        {"metadata", nlohmann::ordered_json::object()}};
  for (const auto& [key, value] : graph.metadata()) description["metadata"][key] = value;
  return description.dump(2) + "\n";
}

void write_durably(const std::filesystem::path& path, const std::string& contents) {
  os::NewFile file(path.string());
  file.append(std::as_bytes(std::span(contents)));
  file.sync();
}

// Returns the contents of a file, which may change meanwhile, or an empty text if there is no file.
std::string contents_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};  // A pipe may never end.
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Removes the hidden folder unless it got its name.
class HiddenFolder {
 public:
  explicit HiddenFolder(const std::filesystem::path& folder) : path_(folder / hidden_name()) {
    os::make_folder(path_.string());
  }
  ~HiddenFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  HiddenFolder(const HiddenFolder&) = delete;
  HiddenFolder& operator=(const HiddenFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  // Returns false if `name` is taken.
  bool get_name(const std::filesystem::path& name) {
    if (!os::rename_to_free_name(path_.string(), name.string())) return false;
    path_.clear();
    return true;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

Published publish(const std::filesystem::path& folder, const OnnxGraph& graph,
                  std::span<const NamedTensor> tensors) {
  const std::string model = to_bytes(graph);
  const std::string description = description_of(graph);
  os::make_folders(folder.string());
  HiddenFolder hidden(folder);
  write_durably(hidden.path() / "model.onnx", model);
  write_durably(hidden.path() / "model.json", description);
  write_safetensors(hidden.path() / "model.safetensors", tensors,
                    {graph.metadata().begin(), graph.metadata().end()});
  os::sync_folder(hidden.path().string());
  std::uint64_t version = highest_version(folder) + 1;
  while (!hidden.get_name(folder / std::to_string(version))) ++version;
  os::sync_folder(folder.string());
  return {version, folder / std::to_string(version)};
}

std::optional<Published> find_published(const std::filesystem::path& folder,
                                        const OnnxGraph& graph) {
  if (!os::exists(folder.string())) return std::nullopt;
  const std::string description = description_of(graph);
  std::uint64_t newest = 0;
  for (const std::string& name : os::names_in(folder.string())) {
    const std::uint64_t version = version_named(name);
    if (version <= newest) continue;
    if (contents_of(folder / name / "model.json") == description) newest = version;
  }
  if (newest == 0) return std::nullopt;
  return Published{newest, folder / std::to_string(newest)};
}

std::string to_text(const Published& published) {
  return "published version " + std::to_string(published.version) + "  " + published.path.string();
}

std::string to_json(const Published& published) {
  const nlohmann::ordered_json json = {
      {"event", "exported"}, {"version", published.version}, {"path", published.path.string()}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace rota

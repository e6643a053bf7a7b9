// Runs the commands rota-checkpoint list, show and verify.
#include <filesystem>
#include <vector>

#include <rota/error.h>

#include "checkpoint/file_names.h"
#include "checkpoint/folder.h"
#include "checkpoint/reader.h"
#include "formats/header_reader.h"
#include "launcher/checkpoint/commands.h"
#include "launcher/checkpoint/text.h"
#include "os/durable_file.h"

namespace rota::launcher {
namespace {

using checkpoint::CheckpointFolder;
using checkpoint::Manifest;
using formats::shown_name;

constexpr std::size_t kRunDigits = 8;

// Returns the steps of the checkpoints in the folder, newest first. Throws Error kNotFound if there
// are none.
std::vector<std::uint64_t> steps_in(const CheckpointFolder& folder) {
  std::vector<std::uint64_t> steps = folder.steps();
  if (!steps.empty()) return steps;
  const bool exists = std::filesystem::exists(folder.path());
  throw Error(ErrorCode::kNotFound,
              folder.path() + (exists ? ": there is no checkpoint in this folder"
                                      : ": No such file or directory"));
}

std::vector<std::string> row_of(const Manifest& manifest) {
  return {checkpoint::folder_name(manifest.step),      std::to_string(manifest.world_size),
          std::to_string(manifest.tensors.size()),     size_text(bytes_of_files(manifest)),
          to_text(manifest.run).substr(0, kRunDigits), std::to_string(manifest.start)};
}

std::string removed_text(const std::string& path) { return path + ": was removed meanwhile"; }

// Returns a line about one checkpoint. Sets `code` if the checkpoint is damaged. Throws Error
// kNotFound if it is not there.
std::string verify_one(const std::string& path, int& code) {
  try {
    const checkpoint::CheckpointReader reader(path);
    return path + ": whole, " + std::to_string(reader.manifest().files.size()) + " files, " +
           size_text(bytes_of_files(reader.manifest())) + "\n";
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) throw;
    // A job that removes a checkpoint renames it first, and then deletes its files.
    if (!os::exists(path)) throw Error(ErrorCode::kNotFound, removed_text(path));
    if (error.code() != ErrorCode::kBadData) throw;
    code = kExitDamaged;
    return std::string(error.what()) + "\n";
  }
}

// Works like verify_one() for a checkpoint that was there when the folder was read.
std::string verify_listed(const std::string& path, int& code) {
  try {
    return verify_one(path, code);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound || os::exists(path)) throw;
    return removed_text(path) + "\n";
  }
}

}  // namespace

Answer list_checkpoints(const std::string& folder) {
  const CheckpointFolder checkpoints(folder);
  Answer answer;
  std::string unreadable;
  std::vector<std::vector<std::string>> rows = {
      {"checkpoint", "ranks", "tensors", "size", "run", "start"}};
  for (const std::uint64_t step : steps_in(checkpoints)) {
    const std::string path = checkpoints.path_of(step);
    try {
      rows.push_back(row_of(checkpoint::read_manifest(path)));
    } catch (const Error& error) {
      if (!os::exists(path)) {  // A job has removed it meanwhile.
        rows.push_back({checkpoint::folder_name(step), "removed"});
        continue;
      }
      if (error.code() != ErrorCode::kBadData) throw;
      const bool is_later = dynamic_cast<const checkpoint::LaterFormat*>(&error) != nullptr;
      rows.push_back({checkpoint::folder_name(step), is_later ? "newer" : "damaged"});
      unreadable += std::string(error.what()) + "\n";
      answer.code = kExitDamaged;
    }
  }
  answer.text = table_text(rows) + unreadable;
  return answer;
}

Answer show_checkpoint(const std::string& path) {
  const Manifest manifest = checkpoint::read_manifest(path);
  std::string text =
      "step " + std::to_string(manifest.step) + "\nrun " + to_text(manifest.run) + "\nstart " +
      std::to_string(manifest.start) + "\nview " + std::to_string(manifest.view) + "\nranks " +
      std::to_string(manifest.world_size) + "\nsize " + size_text(bytes_of_files(manifest)) + "\n";
  for (const auto& fact : manifest.facts) {
    text += "fact " + shown_name(fact.name) + " " + shown_name(fact.text) + "\n";
  }
  for (const auto& counter : manifest.counters) {
    text += "counter " + shown_name(counter.name) + " " + std::to_string(counter.value) + "\n";
  }
  for (const auto& tensor : manifest.tensors) {
    text += "tensor " + shown_name(tensor.name) + " " + std::string(to_string(tensor.type)) + " " +
            shape_text(tensor.shape) + "\n";
  }
  for (const auto& file : manifest.files) {
    text += "file " + file.name + " " + std::to_string(file.bytes) + "\n";
  }
  return {text};
}

Answer verify_checkpoints(const std::string& path) {
  Answer answer;
  const CheckpointFolder folder(path);
  const bool is_checkpoint = std::filesystem::exists(path + "/" + checkpoint::kManifestName);
  const std::string name = std::filesystem::path(path + "/").parent_path().filename().string();
  if (is_checkpoint || checkpoint::step_of_folder(name)) {
    answer.text = verify_one(path, answer.code);
    return answer;
  }
  for (const std::uint64_t step : steps_in(folder)) {
    answer.text += verify_listed(folder.path_of(step), answer.code);
  }
  return answer;
}

}  // namespace rota::launcher

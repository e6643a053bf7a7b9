// Runs the command rota-checkpoint export, which writes the model's parameters to a file.
#include <filesystem>
#include <string_view>
#include <vector>

#include <rota/error.h>

#include "checkpoint/file_names.h"
#include "checkpoint/file_writer.h"
#include "checkpoint/reader.h"
#include "launcher/checkpoint/commands.h"
#include "launcher/checkpoint/text.h"
#include "os/durable_file.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kModel = "model/";

}  // namespace

Answer export_parameters(const std::string& path, const std::string& file) {
  const checkpoint::CheckpointReader reader(path);
  if (os::exists(file)) {
    throw Error(ErrorCode::kCannotWrite, file + ": exists already: choose another name");
  }
  checkpoint::FileContents contents;
  std::vector<std::vector<std::byte>> whole;  // Tensors that the checkpoint has in several parts.
  for (const checkpoint::StoredTensor& tensor : reader.tensors()) {
    if (checkpoint::kind_of_shared(tensor.info.name) != checkpoint::FileKind::kParameters) continue;
    std::span<const std::byte> bytes = tensor.parts.front().bytes;
    if (tensor.parts.size() > 1) {
      copy_elements(tensor, whole.emplace_back(bytes_of(tensor.info)));
      bytes = whole.back();
    }
    checkpoint::TensorInfo info = tensor.info;
    info.name = info.name.substr(kModel.size());
    contents.tensors.push_back({info, all_rows_of(info), bytes});
  }
  if (contents.tensors.empty()) {
    throw Error(ErrorCode::kBadData, path + ": has no parameters of a model");
  }
  contents.facts = {{"run", to_text(reader.manifest().run)},
                    {"step", std::to_string(reader.manifest().step)}};
  const std::filesystem::path named = std::filesystem::absolute(file);
  const std::string folder = named.parent_path().string();
  const std::string hidden = "." + named.filename().string() + ".part";
  os::remove_all(folder + "/" + hidden);
  checkpoint::WrittenFile made = checkpoint::write_file(folder, hidden, contents);
  made.file.sync();
  os::rename(folder + "/" + hidden, named.string());
  os::sync_folder(folder);
  return {file + ": " + std::to_string(contents.tensors.size()) + " tensors, " +
          size_text(made.entry.bytes) + "\n"};
}

}  // namespace rota::launcher

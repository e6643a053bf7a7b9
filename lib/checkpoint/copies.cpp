// Lists the copies of a folder, and compares the lists of several folders.
#include "checkpoint/copies.h"

#include <algorithm>
#include <optional>

#include <rota/error.h>

#include "checkpoint/manifest.h"
#include "checkpoint/reader.h"

namespace rota::checkpoint {
namespace {

// Returns nothing if the manifest is missing or damaged. Any other failure may pass, and the save
// may be whole.
std::optional<SaveName> save_at(const std::string& path) {
  try {
    return save_of(read_manifest(path));
  } catch (const Error& error) {
    const bool is_none =
        error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kBadData;
    if (!is_none) throw;
    return std::nullopt;
  }
}

void write_saves(base::ByteWriter& writer, const std::vector<SaveName>& saves) {
  writer.write(static_cast<std::uint64_t>(saves.size()));
  for (const SaveName& save : saves) writer.write(std::string_view(hidden_name(save)));
}

std::vector<SaveName> read_saves(base::ByteReader& reader) {
  std::vector<SaveName> saves;
  const auto count = reader.read<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    if (const auto save = save_of_hidden(reader.read_text())) saves.push_back(*save);
  }
  return saves;
}

bool has(const std::vector<SaveName>& saves, const SaveName& save) {
  return std::ranges::find(saves, save) != saves.end();
}

}  // namespace

Copies copies_in(const CheckpointFolder& folder) {
  Copies copies;
  for (const std::uint64_t step : folder.steps()) {
    copies.has_checkpoints = true;
    if (const auto save = save_at(folder.path_of(step))) copies.named.push_back(*save);
  }
  for (const SaveName& save : folder.hidden_saves()) {
    if (save_at(folder.path_of_hidden(save)) == save) copies.prepared.push_back(save);
  }
  return copies;
}

void write(base::ByteWriter& writer, const Copies& copies) {
  writer.write(static_cast<std::uint8_t>(copies.has_checkpoints ? 1 : 0));
  write_saves(writer, copies.named);
  write_saves(writer, copies.prepared);
}

Copies read_copies(base::ByteReader& reader) {
  Copies copies;
  copies.has_checkpoints = reader.read<std::uint8_t>() != 0;
  copies.named = read_saves(reader);
  copies.prepared = read_saves(reader);
  return copies;
}

std::vector<SaveName> to_complete(const Copies& mine, std::span<const Copies> all) {
  if (all.size() == 1) return {};
  std::vector<SaveName> complete;
  for (const SaveName& save : mine.prepared) {
    const bool was_renamed =
        std::ranges::any_of(all, [&](const Copies& other) { return has(other.named, save); });
    const bool is_everywhere = std::ranges::all_of(all, [&](const Copies& other) {
      const bool has_nothing = !other.has_checkpoints && other.prepared.empty();
      return has(other.named, save) || has(other.prepared, save) || (was_renamed && has_nothing);
    });
    if (is_everywhere) complete.push_back(save);
  }
  return complete;
}

}  // namespace rota::checkpoint

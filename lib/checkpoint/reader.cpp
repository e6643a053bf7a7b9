// Checks the manifest, then each byte of each file, then that the files have each row once.
#include "checkpoint/reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "base/counted.h"
#include "checkpoint/file_names.h"
#include "checkpoint/metadata.h"
#include "checkpoint/pieces.h"
#include "formats/header_reader.h"
#include "formats/safetensors.h"
#include "kernels/crc32c.h"

namespace rota::checkpoint {
namespace {

using formats::shown_name;

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kBadData, path + ": " + why);
}

// Opens a file that the checkpoint must have.
os::MappedFile open_part(const std::string& path, const char* why_needed) {
  try {
    return os::MappedFile(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    refuse_file(path, std::string("is missing, but ") + why_needed);
  }
}

void check_size(const std::string& path, std::uint64_t size, const ManifestFile& entry) {
  if (size == entry.bytes) return;
  refuse_file(path, "has " + std::to_string(size) + " bytes, but the manifest says " +
                        std::to_string(entry.bytes));
}

// Several threads check parts of the bytes, and each calls `fetch` before it reads its part. Parts
// outside of `share` are fetched too: a disk that cannot read them is an error now, and not SIGBUS
// later.
void check_sums(const std::string& path, const ManifestFile& entry,
                std::span<const std::byte> bytes, const CheckShare& share,
                const std::function<void(std::size_t offset, std::size_t count)>& fetch) {
  for_each_piece(entry.sums.size(), [&](std::size_t i) {
    const std::size_t offset = i * kSumBytes;
    const auto piece = bytes.subspan(offset, std::min(kSumBytes, bytes.size() - offset));
    fetch(offset, piece.size());
    if (i % share.count != share.index) return;
    const std::uint32_t sum = kernels::crc32c(piece);
    if (sum == entry.sums[i]) return;
    refuse_file(path, "is damaged in MiB " + std::to_string(i) + " (from byte " +
                          std::to_string(offset) + " on): its CRC32C is " + sum_text(sum) +
                          ", but the manifest says " + sum_text(entry.sums[i]));
  });
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t pieces = (from.size() + kPieceBytes - 1) / kPieceBytes;
  for_each_piece(pieces, [&](std::size_t i) {
    const std::size_t offset = i * kPieceBytes;
    const auto piece = from.subspan(offset, std::min(kPieceBytes, from.size() - offset));
    std::ranges::copy(piece, to.subspan(offset).begin());
  });
}

std::string text_of_shape(std::span<const std::size_t> shape) {
  std::string text;
  for (const std::size_t side : shape) text += (text.empty() ? "" : ", ") + std::to_string(side);
  return "[" + text + "]";
}

std::string type_and_shape(DataType type, std::span<const std::size_t> shape) {
  return std::string(to_string(type)) + " " + text_of_shape(shape);
}

}  // namespace

// Gives the parts of one file to the tensors and ranks of a checkpoint.
class CheckpointReader::FileReader {
 public:
  FileReader(CheckpointReader& checkpoint, const std::string& path,
             std::span<const std::byte> bytes)
      : checkpoint_(checkpoint), path_(path) {
    parsed_ = formats::parse_header(bytes, bytes.size(), path_);
    data_ = bytes.subspan(parsed_.data_begin);
  }

  void take_shared(const std::map<std::string_view, std::size_t>& indices) const {
    for (const formats::TensorEntry& entry : parsed_.header.tensors) {
      const auto found = indices.find(entry.name);
      if (found == indices.end()) {
        refuse_file(path_, "has the tensor " + shown_name(entry.name) +
                               ", which the manifest does not list");
      }
      StoredTensor& tensor = checkpoint_.tensors_[found->second];
      tensor.parts.push_back({rows_of(entry, tensor.info), bytes_at(entry)});
    }
  }

  StoredRank take_rank() const {
    StoredRank rank;
    for (const formats::TensorEntry& entry : parsed_.header.tensors) {
      const TensorInfo info{.name = entry.name, .type = entry.type, .shape = entry.shape};
      rank.tensors.push_back({info, {{all_rows_of(info), bytes_at(entry)}}});
    }
    for (const auto& [key, text] : parsed_.header.metadata) {
      if (key.starts_with(kFactOf)) rank.facts.push_back({key.substr(kFactOf.size()), text});
      if (key.starts_with(kCounterOf)) {
        rank.counters.push_back({key.substr(kCounterOf.size()), number_of(key, text)});
      }
    }
    return rank;
  }

 private:
  std::span<const std::byte> bytes_at(const formats::TensorEntry& entry) const {
    return data_.subspan(entry.begin, entry.end - entry.begin);
  }

  // Returns the rows of `info` that the entry has.
  Rows rows_of(const formats::TensorEntry& entry, const TensorInfo& info) const {
    std::optional<Rows> rows = all_rows_of(info);
    std::vector<std::size_t> shape = info.shape;
    const auto text = parsed_.header.metadata.find(kRowsOf + entry.name);
    if (text != parsed_.header.metadata.end()) {
      rows = rows_from(text->second, rows->count);
      if (!rows || shape.empty()) {
        refuse_file(path_, "has the rows " + shown_name(text->second) + " of the tensor " +
                               shown_name(entry.name) + ", which has the shape " +
                               text_of_shape(info.shape));
      }
      shape.front() = rows->count;
    }
    if (entry.type != stored_type(info.type) || entry.shape != shape) {
      refuse_file(path_, "has the tensor " + shown_name(entry.name) + " as " +
                             type_and_shape(entry.type, entry.shape) + ", but the manifest needs " +
                             type_and_shape(stored_type(info.type), shape));
    }
    return *rows;
  }

  std::uint64_t number_of(const std::string& key, const std::string& text) const {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || std::to_string(number) != text) {
      refuse_file(path_,
                  "has " + shown_name(key) + " " + shown_name(text) + ": a whole number is needed");
    }
    return number;
  }

  CheckpointReader& checkpoint_;
  const std::string& path_;
  formats::ParsedHeader parsed_;
  std::span<const std::byte> data_;
};

CheckpointReader::CheckpointReader(std::string path, CheckShare share)
    : path_(std::move(path)), manifest_(read_manifest(path_)) {
  std::map<std::string_view, std::size_t> indices;
  for (const TensorInfo& tensor : manifest_.tensors) {
    indices.emplace(tensor.name, tensors_.size());
    tensors_.push_back({tensor, {}});
  }
  for (const ManifestFile& entry : manifest_.files) {
    os::MappedFile& file =
        files_.emplace_back(open_part(path_ + "/" + entry.name, "the manifest lists it"));
    check_size(file.path(), file.size(), entry);
    bytes_.push_back(file.map());
    check_sums(file.path(), entry, bytes_.back(), share,
               [&file](std::size_t offset, std::size_t count) { file.fetch(offset, count); });
    const FileName name = *file_name_from(entry.name);
    if (name.kind == FileKind::kRank) {
      take_rank(file.path(), name, bytes_.back());
    } else {
      FileReader(*this, file.path(), bytes_.back()).take_shared(indices);
    }
  }
  require_all_ranks();
  for (StoredTensor& tensor : tensors_) require_all_rows(tensor);
}

void CheckpointReader::take_rank(const std::string& path, const FileName& name,
                                 std::span<const std::byte> bytes) {
  if (name.count != manifest_.world_size) {
    refuse_file(path, "is of another world: the manifest's has " +
                          base::counted_ranks(manifest_.world_size));
  }
  ranks_.emplace(name.index, FileReader(*this, path, bytes).take_rank());
}

std::span<const std::byte> CheckpointReader::bytes_of_file(std::string_view name) const {
  const auto found = std::ranges::find(manifest_.files, name, &ManifestFile::name);
  ROTA_ASSERT(found != manifest_.files.end());
  return bytes_[static_cast<std::size_t>(found - manifest_.files.begin())];
}

void CheckpointReader::add_rank(const ManifestFile& file, std::vector<std::byte> bytes) {
  const std::string path = file.name + ", which another host has sent";
  check_size(path, bytes.size(), file);
  check_sums(path, file, bytes, {}, [](std::size_t, std::size_t) {});
  take_rank(path, file_name_from(file.name).value(), added_.emplace_back(std::move(bytes)));
}

void CheckpointReader::require_all_ranks() const {
  for (const std::size_t rank : manifest_.ranks) {
    if (ranks_.contains(rank)) continue;
    refuse_file(path_, "has no file of rank " + std::to_string(rank) +
                           ", although the manifest says that it has the state of this rank");
  }
  if (ranks_.size() == manifest_.ranks.size()) return;
  refuse_file(path_, "has files of " + std::to_string(ranks_.size()) +
                         " ranks, but the manifest names " +
                         std::to_string(manifest_.ranks.size()));
}

void CheckpointReader::require_all_rows(StoredTensor& tensor) const {
  const std::size_t all = all_rows_of(tensor.info).count;
  std::ranges::sort(tensor.parts, {}, [](const StoredRows& part) { return part.rows.first; });
  std::size_t next = 0;
  for (const StoredRows& part : tensor.parts) {
    if (part.rows.first != next) {
      const bool is_hole = part.rows.first > next;
      const std::size_t row = is_hole ? next : part.rows.first;
      refuse_file(path_, "has row " + std::to_string(row) + " of the tensor " +
                             shown_name(tensor.info.name) +
                             (is_hole ? " in no file" : " in two files"));
    }
    next += part.rows.count;
  }
  if (next < all || tensor.parts.empty()) {
    refuse_file(path_, "has row " + std::to_string(next) + " of the tensor " +
                           shown_name(tensor.info.name) + " in no file");
  }
}

void copy_elements(const StoredTensor& tensor, std::span<std::byte> to) {
  for (const StoredRows& part : tensor.parts) {
    ROTA_ASSERT(part.bytes.size() <= to.size());
    copy_bytes(part.bytes, to);
    to = to.subspan(part.bytes.size());
  }
  ROTA_ASSERT(to.empty());
}

Manifest read_manifest(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    const bool is_missing = std::filesystem::status_known(status);
    const std::string text = path + ": " + error.message();
    if (!is_missing) throw UnreadableFile(text);
    throw Error(ErrorCode::kNotFound, text);
  }
  if (!std::filesystem::is_directory(status)) {
    refuse_file(path, "is not a folder, and a checkpoint is a folder");
  }
  const os::MappedFile file = open_part(path + "/" + kManifestName, "each checkpoint has it");
  std::string text(
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kMaxManifestBytes + 1)), '\0');
  text.resize(file.read(0, std::as_writable_bytes(std::span(text))));
  Manifest manifest = parse_manifest(file.path(), text);
  const std::filesystem::path named = std::filesystem::path(path + "/").parent_path();
  const auto step = step_of_folder(named.filename().string());
  if (step && *step != manifest.step) {
    refuse_file(path, "has the manifest of step " + std::to_string(manifest.step) +
                          ": a checkpoint of another step has been moved there");
  }
  return manifest;
}

}  // namespace rota::checkpoint

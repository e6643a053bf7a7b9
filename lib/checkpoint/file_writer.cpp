// Sums the bytes of a file piece by piece while it writes them.
#include "checkpoint/file_writer.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/assert.h"
#include "base/byte_stream.h"
#include "checkpoint/metadata.h"
#include "formats/safetensors.h"
#include "kernels/crc32c.h"

namespace rota::checkpoint {
namespace {

// The disk begins to write so many bytes while the next ones are summed.
constexpr std::size_t kStartBytes = 8 * kSumBytes;

// Writes each piece of kSumBytes at once. A piece that lies in one tensor is not copied.
class SummedFile {
 public:
  explicit SummedFile(const std::string& path) : file_(path) { gathered_.reserve(kSumBytes); }

  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(kSumBytes - gathered_.size(), bytes.size()));
      bytes = bytes.subspan(part.size());
      if (part.size() == kSumBytes) {
        write(part);
        continue;
      }
      gathered_.insert(gathered_.end(), part.begin(), part.end());
      if (gathered_.size() == kSumBytes) write_gathered();
    }
  }

  WrittenFile finish(const std::string& name) && {
    if (!gathered_.empty()) write_gathered();
    file_.start_writing();
    return {.entry = {.name = name, .bytes = file_.written(), .sums = std::move(sums_)},
            .file = std::move(file_)};
  }

 private:
  void write(std::span<const std::byte> piece) {
    sums_.push_back(kernels::crc32c(piece));
    file_.append(piece);
    if (file_.written() % kStartBytes == 0) file_.start_writing();
  }
  void write_gathered() {
    write(gathered_);
    gathered_.clear();
  }

  os::NewFile file_;
  std::vector<std::byte> gathered_;  // The beginning of the next piece.
  std::vector<std::uint32_t> sums_;
};

formats::SafetensorsHeader header_of(const FileContents& contents) {
  formats::SafetensorsHeader header;
  for (const auto& [tensor, rows, bytes] : contents.tensors) {
    ROTA_ASSERT(bytes.size() == bytes_of(tensor, rows));
    formats::TensorEntry entry{
        .name = tensor.name, .type = stored_type(tensor.type), .shape = tensor.shape};
    if (rows != all_rows_of(tensor)) {
      entry.shape.front() = rows.count;
      header.metadata[kRowsOf + tensor.name] = to_text(rows, tensor.shape.front());
    }
    header.tensors.push_back(std::move(entry));
  }
  for (const Fact& fact : contents.facts) header.metadata[kFactOf + fact.name] = fact.text;
  for (const Counter& counter : contents.counters) {
    header.metadata[kCounterOf + counter.name] = std::to_string(counter.value);
  }
  formats::lay_out(header);
  return header;
}

}  // namespace

WrittenFile write_file(const std::string& folder, const std::string& name,
                       const FileContents& contents) {
  const formats::SafetensorsHeader header = header_of(contents);
  const std::string begin = formats::encode_header(header);
  std::map<std::string_view, std::span<const std::byte>> bytes;
  for (const TensorRows& part : contents.tensors) bytes[part.tensor.name] = part.bytes;
  SummedFile file(folder + "/" + name);
  file.append(base::bytes_of(begin));
  for (const formats::TensorEntry& entry : header.tensors) file.append(bytes.at(entry.name));
  return std::move(file).finish(name);
}

void write_manifest(const std::string& folder, const Manifest& manifest) {
  const std::string text = encode(manifest);
  os::NewFile file(folder + "/" + kManifestName);
  file.append(base::bytes_of(text));
  file.sync();
  os::sync_folder(folder);
}

}  // namespace rota::checkpoint

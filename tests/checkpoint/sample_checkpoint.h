// A small checkpoint with every kind of file: two writers, a tensor that is cut by rows, a tensor
// without elements, and ranks with a state of their own.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/file_names.h"
#include "checkpoint/file_writer.h"

namespace rota::checkpoint {

inline const TensorInfo kSampleWeights{"model/w", DataType::kFloat32, {5, 3}};
inline const TensorInfo kSampleScalar{"model/scalar", DataType::kFloat64, {}};
inline const TensorInfo kSampleMoments{"optimizer/m", DataType::kBfloat16, {5, 3}};
inline const TensorInfo kSampleBytes{"extra/bytes", DataType::kByte, {7}};
inline const TensorInfo kSampleEmpty{"extra/empty", DataType::kInt32, {0, 4}};
inline const TensorInfo kSampleFeedback{"feedback", DataType::kFloat32, {4}};

// Returns bytes that differ between tensors and ranks.
inline std::vector<std::byte> sample_bytes(const TensorInfo& tensor, std::size_t rank = 0) {
  std::vector<std::byte> bytes(bytes_of(tensor));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + tensor.name.size() * 31 + rank * 101);
  }
  return bytes;
}

// Writes files to a folder, and its manifest.
class SampleWriter {
 public:
  explicit SampleWriter(std::string folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    manifest.run = *run_id_from("0123456789abcdef0011223344556677");
    manifest.world_size = 2;
    manifest.step = 12;
    manifest.facts = {{"seed", "17"}};
    manifest.counters = {{"optimizer/step", 12}};
  }

  // Adds the rows of `tensor`, of rank 0, to the next file.
  void add(const TensorInfo& tensor, const Rows& rows) {
    const auto& bytes = kept_.emplace_back(sample_bytes(tensor));
    const std::size_t before = bytes_of(tensor, {0, rows.first});
    contents_.tensors.push_back(
        {tensor, rows, std::span(bytes).subspan(before, bytes_of(tensor, rows))});
  }
  void add(const TensorInfo& tensor) { add(tensor, all_rows_of(tensor)); }

  void write(const FileName& name) {
    add_file(write_file(folder_, to_text(name), contents_));
    contents_ = {};
    kept_.clear();
  }

  void write_rank(std::size_t rank) {
    const auto bytes = sample_bytes(kSampleFeedback, rank);
    const FileContents contents{.tensors = {{kSampleFeedback, all_rows_of(kSampleFeedback), bytes}},
                                .facts = {{"codec", "int8\n" + std::to_string(rank)}},
                                .counters = {{"seconds", UINT64_MAX - rank}}};
    const FileName name{FileKind::kRank, rank, manifest.world_size};
    add_file(write_file(folder_, to_text(name), contents));
    manifest.ranks.push_back(rank);
    manifest.stateful_ranks.push_back(rank);
  }

  void finish() { write_manifest(folder_, manifest); }

  Manifest manifest;

 private:
  void add_file(WrittenFile made) {
    made.file.sync();
    manifest.files.push_back(std::move(made.entry));
  }

  std::string folder_;
  FileContents contents_;
  std::vector<std::vector<std::byte>> kept_;
};

// Writes the sample, and returns its manifest.
inline Manifest write_sample(const std::string& folder) {
  SampleWriter writer(folder);
  writer.manifest.tensors = {kSampleWeights, kSampleScalar, kSampleMoments, kSampleBytes,
                             kSampleEmpty};
  writer.add(kSampleScalar);
  writer.add(kSampleWeights, {0, 2});
  writer.write({FileKind::kParameters, 0, 2});
  writer.add(kSampleWeights, {2, 3});
  writer.write({FileKind::kParameters, 1, 2});
  writer.add(kSampleMoments);
  writer.add(kSampleBytes);
  writer.add(kSampleEmpty);
  writer.write({FileKind::kOptimizer, 1, 2});
  writer.write_rank(0);
  writer.write_rank(1);
  writer.finish();
  return writer.manifest;
}

}  // namespace rota::checkpoint

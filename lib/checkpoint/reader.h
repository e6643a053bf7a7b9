// Opens a checkpoint. Everything in it has been checked before the first value can be read, by one
// reader, or by several that share this work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/manifest.h"
#include "checkpoint/tensor.h"
#include "os/mapped_file.h"

namespace rota::checkpoint {

// Rows of a tensor in a mapped file, row-major.
struct StoredRows {
  Rows rows;
  std::span<const std::byte> bytes;
};

struct StoredTensor {
  TensorInfo info;
  std::vector<StoredRows> parts;  // In the order of the rows. Together they have all rows.
};

// The state that one rank alone had.
struct StoredRank {
  std::vector<StoredTensor> tensors;
  std::vector<Fact> facts;
  std::vector<Counter> counters;
};

// A part of the MiBs of each file. MiB i is in it if i, divided by `count`, leaves `index`.
struct CheckShare {
  std::size_t index = 0;
  std::size_t count = 1;
};

class CheckpointReader {
 public:
  // Reads and checks the manifest and every byte of every file in the folder `path`. Never waits
  // for a pipe, and follows no link. Throws Error kNotFound if there is no folder, and
  // UnreadableFile if a file cannot be read. Throws kBadData if anything is damaged or missing, if
  // a file has what the manifest does not list, or if a later version of rota wrote the checkpoint.
  // The text names the file, and for a wrong sum the MiB and both sums.
  //
  // Computes the sums of `share` alone. The other readers of the same files must have found the
  // other shares whole before the first value is used.
  explicit CheckpointReader(std::string path, CheckShare share = {});

  const std::string& path() const noexcept { return path_; }
  const Manifest& manifest() const noexcept { return manifest_; }

  // Returns what all ranks share, in the order of the manifest.
  std::span<const StoredTensor> tensors() const noexcept { return tensors_; }

  // Returns the state of each rank of Manifest::ranks, and of each rank of add_rank().
  const std::map<std::size_t, StoredRank>& ranks() const noexcept { return ranks_; }

  // Returns the contents of a file of the manifest.
  std::span<const std::byte> bytes_of_file(std::string_view name) const;

  // Adds the state of a rank that another copy of this checkpoint has. `file` is from the manifest
  // of that copy, and `bytes` are the contents of the file. Throws Error kBadData if they are
  // damaged.
  void add_rank(const ManifestFile& file, std::vector<std::byte> bytes);

 private:
  class FileReader;

  void take_rank(const std::string& path, const FileName& name, std::span<const std::byte> bytes);

  void require_all_ranks() const;
  void require_all_rows(StoredTensor& tensor) const;

  std::string path_;
  Manifest manifest_;
  std::vector<os::MappedFile> files_;              // In the order of the manifest.
  std::vector<std::span<const std::byte>> bytes_;  // Of files_.
  std::vector<std::vector<std::byte>> added_;      // The files of add_rank().
  std::vector<StoredTensor> tensors_;
  std::map<std::size_t, StoredRank> ranks_;
};

// Copies all elements of `tensor` to `to`, which must have its size in bytes.
void copy_elements(const StoredTensor& tensor, std::span<std::byte> to);

// Reads and checks the manifest alone, for a list of checkpoints. Throws as CheckpointReader does.
Manifest read_manifest(const std::string& path);

}  // namespace rota::checkpoint

// Writes the files of a checkpoint, with a sum of every piece. Without the sums, damage on a disk
// would only show in what the model does.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"
#include "checkpoint/tensor.h"
#include "os/durable_file.h"

namespace rota::checkpoint {

// Rows of a tensor in memory, row-major. `bytes` are borrowed for the call.
struct TensorRows {
  TensorInfo tensor;  // The whole tensor.
  Rows rows;
  std::span<const std::byte> bytes;
};

// What one file has. Facts and counters are only in the file of a rank.
struct FileContents {
  std::vector<TensorRows> tensors;
  std::vector<Fact> facts;
  std::vector<Counter> counters;
};

struct WrittenFile {
  ManifestFile entry;
  os::NewFile file;  // Not synced yet, but its way to the disk has begun.
};

// Creates the file `name` in `folder`, and writes `contents` as safetensors. The caller syncs the
// file and the folder; a caller that has several files writes them all first, so that the disk
// works on all of them at the same time. Throws Error kCannotWrite if the file exists already, or
// if writing fails: the text names the file, the reason, and the bytes that were written. Throws
// Error kInvalidArgument if two tensors have the same name. What was written before a failure stays
// in the hidden folder, which is not a checkpoint.
WrittenFile write_file(const std::string& folder, const std::string& name,
                       const FileContents& contents);

// Creates manifest.json in `folder`, and syncs it and the folder. Throws Error kCannotWrite.
void write_manifest(const std::string& folder, const Manifest& manifest);

}  // namespace rota::checkpoint

// Which values of a state this rank writes into which file of a checkpoint.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "checkpoint/contents.h"
#include "checkpoint/file_writer.h"
#include "checkpoint/manifest.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/writers.h"

namespace rota::checkpoint {

struct PlannedTensor {
  TensorInfo tensor;
  Rows rows;
  std::size_t share = 0;  // The index of its bytes in SavePlan::shares.
};

struct PlannedFile {
  std::string name;
  std::vector<PlannedTensor> tensors;
  std::vector<Fact> facts;
  std::vector<Counter> counters;
};

struct SavePlan {
  std::vector<Share> shares;
  std::vector<PlannedFile> files;
};

// Returns the part of one rank. The pieces that all ranks share are dealt among the ranks of its
// group. A rank writes all of its own pieces.
SavePlan plan_save(const Contents& contents, const Writers& writers);

// Returns the manifest of a checkpoint with these contents. Its files, ranks, run, start, world
// size and step are missing: the caller adds them.
Manifest manifest_of(const Contents& contents);

// Returns what a writer gives to write_file(). `values`: index = share.
FileContents contents_of(const PlannedFile& file,
                         const std::vector<std::span<const std::byte>>& values);

}  // namespace rota::checkpoint

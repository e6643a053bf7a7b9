// Finds the saves that an interrupted job left incomplete on some hosts, and that the next job can
// complete. If the next job did not complete them, one host could have a checkpoint that another
// host has not. A run that had saved one checkpoint could then lose the state that the ranks of one
// host alone had.
//
// In a save, each host first prepares its copy: a hidden folder that the disk has, with a whole
// manifest. Only when all hosts have prepared their copies do they rename the hidden folders.
// So if one host has renamed its copy, all others have at least prepared theirs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/byte_stream.h"
#include "checkpoint/file_names.h"
#include "checkpoint/folder.h"

namespace rota::checkpoint {

// The saves of which one folder has a copy.
struct Copies {
  bool has_checkpoints = false;    // Damaged ones too.
  std::vector<SaveName> named;     // Those of checkpoints, if their manifests can be read.
  std::vector<SaveName> prepared;  // Those of hidden folders with a whole manifest.
};

// Reads manifests, and no other file. Throws UnreadableFile, and Error kNoMemory.
Copies copies_in(const CheckpointFolder& folder);

void write(base::ByteWriter& writer, const Copies& copies);
Copies read_copies(base::ByteReader& reader);

// The saves that the folder with `mine` has prepared, and of which every folder has a copy. `all`
// has the copies of every folder. A folder that has nothing does not count if another has renamed
// its copy: all hosts had prepared theirs by then, so this host has a new disk. If there is one
// folder alone, returns nothing: there, the rename decides.
std::vector<SaveName> to_complete(const Copies& mine, std::span<const Copies> all);

}  // namespace rota::checkpoint

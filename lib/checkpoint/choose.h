// Finds the checkpoint that all ranks restore: the newest that every rank has found whole.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/reader.h"
#include "checkpoint/writers.h"

namespace rota::checkpoint {

struct Choice {
  // Empty: there was nothing to choose from, or the folder of this rank's group has no checkpoint.
  std::optional<CheckpointReader> checkpoint;
  // The manifests of all copies of the checkpoint; index = group, empty for a group without a copy.
  // The same on every rank. All are empty: there was nothing to choose from.
  std::vector<std::optional<Manifest>> copies;
  std::string note;  // Which checkpoints were passed over, and why.
};

// Chooses among the checkpoints in `folder`. A checkpoint is chosen if each group has a copy, but a
// group whose folder has no checkpoint at all does not count: its host is new. If `from` is not
// empty, chooses the checkpoint at this path, and every group needs a copy there. Every rank reads
// the files of its group itself, and the ranks of a host share the check of the sums. Collective:
// every rank must call it. Throws Error kBadData, with the same text on every rank, if no
// checkpoint can be chosen, or if a newer rota wrote one; UnreadableFile, with the same text, if a
// rank cannot read one, since it may be whole; Error kNotFound if there is none at `from`, or if a
// rank does not see one that another rank of its group sees; and what collectives throw.
Choice choose(Communicator& communicator, const Writers& writers, const CheckpointFolder& folder,
              const std::string& from);

}  // namespace rota::checkpoint

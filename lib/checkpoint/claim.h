// A job's claim on its folders of checkpoints: the first rank of each group of writers owns the
// folder of the group, and all ranks know which run they continue. A claim finds out at the start
// whether all ranks of a group see the same folder.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <rota/communicator.h>

#include "checkpoint/file_names.h"
#include "checkpoint/folder.h"
#include "checkpoint/owner.h"
#include "checkpoint/run_id.h"
#include "checkpoint/writers.h"

namespace rota::checkpoint {

class Claim {
 public:
  // Makes the folder, takes it, and finds out whether folders in it can be renamed. Then completes
  // the saves that all hosts have prepared, and removes what else an interrupted save left there.
  // Begins a new run. Waits up to `patience` for another job to leave the folder. Collective: every
  // rank must make one. Throws Error kCannotWrite, with the same text on every rank, if a folder
  // cannot be owned, or renames no folder, or if what an interrupted save left there cannot be
  // completed or removed; UnreadableFile, with the same text on every rank, if the system cannot
  // read a folder or the manifest of a save there; kNotFound, which names the host, if a rank does
  // not see the folder of its group; and what collectives throw.
  Claim(Communicator& communicator, const Writers& writers, const CheckpointFolder& folder,
        std::chrono::nanoseconds patience);

  // Continues the run of a checkpoint in place of the new run. `start` becomes larger than the
  // start of each checkpoint of this run in the folders, so no two saves have the same run, start
  // and step. Not collective.
  void go_on(const RunId& run, std::uint64_t start);

  const RunId& run() const noexcept { return run_; }
  std::uint64_t start() const noexcept { return start_; }
  bool had_checkpoints() const noexcept { return had_checkpoints_; }  // In any of the folders.

  // Returns null on all ranks except the first rank of a group.
  const Owner* owner() const noexcept { return owner_ ? &*owner_ : nullptr; }

 private:
  std::optional<Owner> owner_;
  RunId run_;
  std::uint64_t start_ = 1;
  bool had_checkpoints_ = false;
  std::vector<SaveName> seen_;  // What the folders of all groups had; the same on every rank.
};

}  // namespace rota::checkpoint

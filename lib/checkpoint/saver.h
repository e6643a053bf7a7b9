// Saves one checkpoint together with the other ranks. Every rank writes its files into the hidden
// folder of its group. When all have written theirs, the first rank of each group gives the folder
// its name. So a checkpoint is there whole, or not at all, wherever a save is interrupted.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "base/time.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/owner.h"
#include "checkpoint/save_plan.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/writers.h"

namespace rota::checkpoint {

struct SaveJob {
  Contents contents;                  // Has what the plan borrows.
  SavePlan plan;                      // Of this rank.
  Manifest manifest;                  // Still without files and ranks.
  std::vector<std::uint64_t> spared;  // The steps that `keep` spares. Rank 0.
};

// The same on every rank, except for the path.
struct SaveOutcome {
  std::string failure;  // Empty: the checkpoint is there.
  std::string path;     // In the folder of this rank's group.
  std::uint64_t bytes = 0;
  std::string left;  // Why another one could not be set aside or removed. Or empty.
};

class Saver {
 public:
  // The communicator, the writers and the owner are borrowed. `owner` is null on all ranks but the
  // first of a group.
  Saver(Communicator& communicator, const Writers& writers, CheckpointFolder folder,
        std::size_t keep, const Owner* owner);

  // Copies the snapshot first. Collective. If a disk fails on any rank, the outcome's `failure`
  // says why. Throws what collectives throw.
  SaveOutcome save(const SaveJob& job, Snapshot& snapshot);

  // Returns since when save() has been in one piece of work at the disk, or nothing if it is not at
  // the disk: it waits for other ranks, or is not under way. Any thread may call it.
  std::optional<base::TimePoint> at_disk_since() const noexcept;

 private:
  class AtDisk;
  static constexpr base::Clock::rep kNotAtDisk = std::numeric_limits<base::Clock::rep>::min();

  struct Made {
    std::uint64_t bytes = 0;            // Of all files of all ranks.
    std::vector<std::uint64_t> spared;  // As in rank 0's job.
    bool is_named = false;              // This rank has given the folder its name.
  };

  std::string make(const SaveJob& job, const Snapshot& snapshot, Made& made);
  void prepare(const std::string& hidden, const Manifest& manifest) const;

  Communicator& communicator_;
  const Writers& writers_;
  CheckpointFolder folder_;
  std::size_t keep_;
  const Owner* owner_;
  // Only a time to compare with the clock: no other memory depends on it.
  std::atomic<base::Clock::rep> at_disk_since_{kNotAtDisk};
};

}  // namespace rota::checkpoint

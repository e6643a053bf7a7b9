// Checkpoints: the state of a training run in a folder, from which the run goes on with the same
// bits after its ranks have ended. Most programs use a Session, see <rota/session.h>, which has a
// Checkpointer. docs/checkpoints.md describes the files.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/training_state.h>

namespace rota {

enum class Resume : std::uint8_t {
  kAuto,        // From the newest whole checkpoint of the folder. If the folder has none: from the
                // checkpoint `from`, or without one from the beginning.
  kRequired,    // As kAuto, but it is an error if the folder has none and `from` is empty.
  kNever,       // As kAuto, but it is an error if the folder has checkpoints.
  kParameters,  // As kAuto, but `from`, which must not be empty, gives its parameters alone.
};

// Returns the Resume named "auto", "required", "never" or "parameters", or nothing for another
// name.
ROTA_EXPORT std::optional<Resume> resume_named(std::string_view name) noexcept;

enum class CheckpointStorage : std::uint8_t {
  kShared,   // One folder, which all hosts see. Each rank writes a share of a checkpoint.
  kPerHost,  // A folder on each host. It has a whole copy of what all ranks share, and what the
             // ranks of this host alone have.
};

// Returns the CheckpointStorage named "shared" or "per-host", or nothing for another name.
ROTA_EXPORT std::optional<CheckpointStorage> checkpoint_storage_named(
    std::string_view name) noexcept;

// Must be the same on every rank. With kPerHost, each host may name a `folder` of its own.
struct ROTA_EXPORT CheckpointOptions {
  // The folder of the checkpoints; it is made if it is not there. One job at a time uses it. Empty:
  // nothing is saved.
  std::filesystem::path folder;
  CheckpointStorage storage = CheckpointStorage::kShared;

  Resume resume = Resume::kAuto;
  // The checkpoint from which a run begins whose folder has no checkpoint: a folder with a
  // manifest.json, not in `folder`. Once the run has a checkpoint of its own, `from` is not used,
  // so a job that is started again with the same options loses no step. May be empty.
  std::filesystem::path from;

  std::uint64_t every_steps = 0;  // 0: not by steps. A save due while another runs is left out.
  double every_seconds = 600;     // By rank 0's clock. 0: not by time.
  std::size_t keep = 3;           // Older checkpoints are removed, except one marked as best.

  // true: training goes on while a thread copies and writes the state; the copy takes as much
  // memory as this rank's share of the state. false: training waits until the state is written.
  // Over MPI below MPI_THREAD_MULTIPLE, training waits in both cases, and Restored::note says so:
  // the thread calls collectives, and no thread of rota may call that MPI.
  bool asynchronous = true;

  // A save that fails is reported, and training goes on. After so many failures in a row, training
  // ends with Error kCannotWrite.
  std::size_t most_failures = 3;

  // The longest time for each part of a save. A write that takes nine tenths of it hangs. Then the
  // next call of this rank throws Error kCannotWrite. If there is one rank alone, only finish()
  // does: training goes on, with a warning on stderr, and each save() counts as one that has
  // failed. Without `asynchronous`, nothing ends such a write.
  std::chrono::nanoseconds save_timeout = std::chrono::seconds(600);

  // The longest wait for another job to leave the folder. A job that is asked to end may still save
  // for the 20 s of `--grace`, or the 30 s of a pod. Must be less than save_timeout, for which the
  // other ranks wait meanwhile. Unset: 60 s, but at most half of save_timeout.
  std::optional<std::chrono::nanoseconds> owner_wait;

  // Returns owner_wait, or what it means if it is unset.
  std::chrono::nanoseconds owner_wait_or_default() const noexcept {
    constexpr std::chrono::nanoseconds kUsual = std::chrono::seconds(60);
    return owner_wait.value_or(std::min(kUsual, save_timeout / 2));
  }
};

// Where a training run begins.
struct Restored {
  bool is_fresh = true;  // Nothing was restored, or parameters alone.
  std::string path;      // Of the checkpoint that was restored. Empty: none was.
  std::uint64_t step = 0;
  std::size_t world_size = 0;  // Of the ranks that wrote it.
  // For people: which checkpoints are damaged, which facts differ, what was lost, why training
  // waits for saves. Or empty. Rank 0's note also has what other ranks have lost. It prints its
  // note to stderr.
  std::string note;
  std::string run;  // The run: 32 hexadecimal digits, the same at each of its starts.
};

// How a save ended.
struct CheckpointReport {
  std::uint64_t step = 0;      // Steps that had been done since the first start of the run.
  std::string path;            // With kPerHost, of the copy of this rank's host.
  std::string failure;         // Why there is no checkpoint. Empty: it is complete.
  std::uint64_t bytes = 0;     // Of all files of all ranks.
  std::uint64_t left_out = 0;  // Saves due by steps while this one was under way. Rank 0 only.
  std::uint64_t stall_us = 0;  // How long training on this rank waited for the save, in µs.
  double seconds = 0;          // From the end of the step until the checkpoint was complete.
};

// Saves and restores the pieces that a visit names. One thread at a time may use a Checkpointer:
// the thread that uses its Communicator. Functions that are collective must be called by every
// rank, after the same step.
class ROTA_EXPORT Checkpointer {
 public:
  // `communicator` and what `visit` visits are borrowed, and must outlive this object. Takes the
  // folder for this job. Collective. Throws Error kCannotWrite if the folder cannot be made or
  // written, if what an interrupted save left there cannot be completed or removed, or if another
  // job uses it (the text names that job); UnreadableFile if the system cannot read the folder, or
  // the manifest of a checkpoint there; kNotFound, which names the host, if a rank does not see the
  // folder; kInvalidArgument for wrong options; and what collectives throw.
  Checkpointer(Communicator& communicator, const CheckpointOptions& options, StateVisit visit);
  // Waits for a save under way, unless a write hangs (save_timeout). If ranks have failed, the save
  // fails, and the earlier checkpoint stays.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Writes a whole checkpoint to the pieces: the one that CheckpointOptions::resume says. Checks
  // every file of the checkpoint first. If it is damaged, all ranks take the checkpoint before it,
  // and Restored::note names the damaged one. With kPerHost, takes the newest checkpoint that all
  // hosts have whole. If a host has none, another host sends it this one; what the ranks of that
  // host alone had may be lost, such as the feedback of a codec, and Restored::note and stderr say
  // so. Collective. Throws Error kBadData if all are damaged; UnreadableFile if a file cannot be
  // read, as it may be whole; kNotFound; kMismatch, with no piece changed, if the checkpoint is
  // of another model, optimizer, data or seed, or if ranks visit different pieces of the world (the
  // text shows both sides); kCannotWrite if a host cannot write what it is sent; what visits throw;
  // and what collectives throw.
  Restored restore();

  // Rank 0 decides when to save, and the caller tells the other ranks. Returns on rank 0 whether a
  // checkpoint of `step` is due and no save is under way. Counts the saves that fall due while
  // another is under way. Returns false on other ranks.
  bool is_due(std::uint64_t step);

  // Saves come after restore(). save(), finish(), complete() and go_on() throw Error
  // kInvalidArgument if the folder had checkpoints, and nothing was restored: a run that begins
  // anew there would set them aside, or remove them.

  // First waits for an earlier save that has not ended. Then begins a checkpoint of `step`.
  // Collective. Without `asynchronous`, returns when the checkpoint is written. Throws Error
  // kCannotWrite on every rank if too many saves in a row have failed; and what visits throw.
  void save(std::uint64_t step);

  // Must be called before a step sends bucket `bucket` of gradients with a codec, and before it
  // updates parameter `parameter`. Each waits only until the values that are about to change are
  // copied, and returns immediately if no copy is under way. before_send(SIZE_MAX) waits for all
  // buckets, and before_update(0) for all parameters.
  void before_send(std::size_t bucket) noexcept;
  void before_update(std::size_t parameter) noexcept;

  // Returns how a save has ended since the last call, if one has. Not collective: on another rank,
  // the save may end between other steps. Throws as save() does.
  std::optional<CheckpointReport> finished();

  // Waits for a save under way. Then saves a checkpoint of `step`, unless there is one already, and
  // waits until it is complete. Collective. Throws Error kCannotWrite on every rank if that fails;
  // what visits throw; and what collectives throw.
  void finish(std::uint64_t step);

  // Says whether the run has more to do, for an evaluator in another process. Rank 0 writes or
  // removes the file ended.json. complete(): after finish(), there is nothing left to do.
  // Collective. Throws Error kCannotWrite on every rank if that fails. go_on(): before each further
  // step. Not collective. Throws Error kCannotWrite on rank 0.
  void complete(std::uint64_t step);
  void go_on();

  std::optional<std::uint64_t> last_step() const noexcept;  // Of the newest save that has begun.
  double stalled_seconds() const noexcept;  // How long this rank has waited for saves.
  // Keeps the checkpoint of this step when it is old, instead of the one that `marker` has marked
  // before. Call it before the save() of this step, or later. Has no effect if that save fails, or
  // if the checkpoint has been removed already. Rank 0 only.
  void mark_best(std::uint64_t step, std::size_t marker = 0);

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota

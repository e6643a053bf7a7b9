// Decides when to save, and keeps the state of the save under way. The thread that trains begins a
// save and reports its end; the writer's thread does the rest.
#include <rota/checkpoint.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <rota/error.h>
#include <rota/own_threads.h>

#include "base/time.h"
#include "checkpoint/agreed_pieces.h"
#include "checkpoint/choose.h"
#include "checkpoint/claim.h"
#include "checkpoint/contents.h"
#include "checkpoint/ended.h"
#include "checkpoint/exchange.h"
#include "checkpoint/folder.h"
#include "checkpoint/marks.h"
#include "checkpoint/restore.h"
#include "checkpoint/save_plan.h"
#include "checkpoint/saver.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/spread.h"
#include "checkpoint/writer_thread.h"
#include "checkpoint/writers.h"
#include "os/durable_file.h"
#include "os/origin.h"

namespace rota {
namespace {

using base::Clock;
using checkpoint::SaveJob;
using checkpoint::SaveOutcome;

// How often a thread that waits for a save looks whether a write hangs.
constexpr std::chrono::milliseconds kLook{100};

constexpr std::array<std::string_view, 4> kResumes = {"auto", "required", "never", "parameters"};
constexpr std::array<std::string_view, 2> kStorages = {"shared", "per-host"};

template <class Choice>
std::optional<Choice> choice_named(std::span<const std::string_view> names,
                                   std::string_view name) noexcept {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Choice>(found - names.begin());
}

// Returns whether the checkpoint `from` is one of those in `folder`.
bool is_inside(const std::filesystem::path& from, const std::filesystem::path& folder) {
  const auto above = (from / "").parent_path().parent_path();  // A path may end with a slash.
  std::error_code ignored;  // A folder that is missing has no checkpoint.
  return std::filesystem::equivalent(above.empty() ? "." : above, folder, ignored);
}

const CheckpointOptions& checked(const CheckpointOptions& options) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); };
  if (options.folder.empty()) refuse("a Checkpointer needs a folder");
  for (const auto& path : {options.folder, options.from}) {
    if (const std::string why = os::why_no_path(path.string()); !why.empty()) refuse(why);
  }
  if (options.from.empty() && options.resume == Resume::kParameters) {
    refuse(
        "resume is 'parameters', but no checkpoint is named: name in `from` the checkpoint whose "
        "parameters the run begins with");
  }
  if (!options.from.empty() && is_inside(options.from, options.folder)) {
    refuse("the checkpoint " + options.from.string() +
           " to begin from is in the folder of this run, which goes on from its newest checkpoint: "
           "choose another folder for the run that begins from this checkpoint");
  }
  if (options.keep == 0) refuse("keep 0: expected at least 1 checkpoint");
  if (!(options.every_seconds >= 0)) refuse("every_seconds must be 0 or more");
  if (options.most_failures == 0) refuse("most_failures 0: expected 1 or more");
  if (options.owner_wait && *options.owner_wait >= options.save_timeout) {
    refuse("owner_wait is " + base::to_text(*options.owner_wait) +
           ": expected less than save_timeout, which is " + base::to_text(options.save_timeout));
  }
  return options;
}

}  // namespace

std::optional<Resume> resume_named(std::string_view name) noexcept {
  return choice_named<Resume>(kResumes, name);
}

std::optional<CheckpointStorage> checkpoint_storage_named(std::string_view name) noexcept {
  return choice_named<CheckpointStorage>(kStorages, name);
}

class Checkpointer::Impl {
 public:
  Impl(Communicator& communicator, const CheckpointOptions& options, StateVisit visit)
      : options_(checked(options)),
        visit_(std::move(visit)),
        communicator_(communicator.split(0, communicator.rank(), {}, options.save_timeout)),
        writers_(checkpoint::writers_of(communicator_, options)),
        folder_(options.folder.string()),
        claim_(communicator_, writers_, folder_, options.owner_wait_or_default()),
        saver_(communicator_, writers_, folder_, options.keep, claim_.owner()) {
    if (options.asynchronous && allows_own_threads(communicator_)) thread_.emplace();
  }

  const os::Origin& origin() const noexcept { return origin_; }

  // Returns this object. Throws Error kInvalidArgument if another process made it.
  Impl& here() {
    origin_.require_here("this Checkpointer");
    return *this;
  }

  Restored restore() {
    refuse_checkpoints_if_asked();
    checkpoint::require_equal_pieces(communicator_, writers_, visit_);
    // The folder's own checkpoints come first: a pod that is started again has the same options.
    const bool has_own = claim_.had_checkpoints();
    checkpoint::Choice choice =
        checkpoint::choose(communicator_, writers_, folder_, has_own ? "" : options_.from.string());
    const std::string lost =
        checkpoint::spread(communicator_, writers_, folder_, claim_.owner(), choice);
    Restored restored;
    restored.note = choice.note;
    add_note(restored, lost);
    add_note(restored, why_no_thread());
    if (has_own && !options_.from.empty()) {
      add_note(restored, "the folder has checkpoints of its own, so " + options_.from.string() +
                             " is not used");
    }
    if (choice.checkpoint) {
      take(*choice.checkpoint, restored, has_own);
    } else if (options_.resume == Resume::kRequired) {
      throw Error(ErrorCode::kNotFound,
                  "there is no checkpoint in " + folder_.path() +
                      ": name the folder of an earlier run, or set resume to 'auto', which starts "
                      "from the beginning if there is no checkpoint");
    }
    if (!restored.note.empty() && communicator_.rank() == 0) {
      std::fprintf(stderr, "rota: %s\n", restored.note.c_str());
    }
    // The folder of the run does not have the checkpoint `from`.
    if (!restored.is_fresh && has_own) last_step_ = last_saved_ = restored.step;
    restored.run = checkpoint::to_text(claim_.run());
    last_begin_ = Clock::now();
    has_restored_ = true;
    return restored;
  }

  bool is_due(std::uint64_t step) {
    if (communicator_.rank() != 0 || step == last_step_) return false;
    const bool by_steps = options_.every_steps > 0 && step % options_.every_steps == 0;
    const bool by_time = options_.every_seconds > 0 &&
                         base::to_seconds(Clock::now() - last_begin_) >= options_.every_seconds;
    if (!by_steps && !by_time) return false;
    if (!thread_ || !thread_->is_working()) return true;
    if (by_steps) ++left_out_;  // A save that is due by time becomes due again at the next step.
    return false;
  }

  void save(std::uint64_t step) {
    require_restored();
    const base::TimePoint call = Clock::now();
    const bool hangs = !collect(true);
    const base::TimePoint begin = Clock::now();
    stalled_ += begin - call;
    last_begin_ = begin;
    last_step_ = step;
    if (hangs) return note_end({.step = step, .failure = why_it_hangs()});
    job_.contents = checkpoint::contents_of(visit_);
    job_.plan = checkpoint::plan_save(job_.contents, writers_);
    job_.manifest = checkpoint::manifest_of(job_.contents);
    job_.manifest.run = claim_.run();
    job_.manifest.start = claim_.start();
    job_.manifest.world_size = communicator_.world_size();
    job_.manifest.step = step;
    job_.spared = marks_.spared_by(step);
    begin_ = begin;
    stall_ = {};
    // If one of these throws, no save is under way: outcome_ is still that of the save before.
    if (thread_) {
      begin_in_background();
    } else {
      snapshot_.borrow(job_.plan.shares);
      run_job();
    }
    is_under_way_ = true;
    stall_for(Clock::now() - begin);
    if (!thread_) collect(true);
  }

  void before(StateWriter writer, std::size_t index) noexcept {
    if (is_under_way_ && thread_ && origin_.is_here())
      stall_for(snapshot_.wait_before(writer, index));
  }

  double stalled_seconds() const noexcept { return base::to_seconds(stalled_); }

  std::optional<CheckpointReport> finished() {
    collect(false);
    if (reports_.empty()) return std::nullopt;
    CheckpointReport report = std::move(reports_.front());
    reports_.erase(reports_.begin());
    return report;
  }

  void finish(std::uint64_t step) {
    collect_last(step);
    if (last_saved_ == step) return;
    save(step);
    collect_last(step);
    if (last_saved_ != step) refuse_end(step, outcome_.failure);
  }

  // Waits for the save under way. Returns false if a write of this rank hangs: if the server of a
  // network file system is gone, the write may never end.
  bool ends_in_time() {
    while (thread_ && !thread_->ends_by(Clock::now() + kLook)) {
      if (time_of_hanging()) return false;
    }
    return true;
  }

  void complete(std::uint64_t step) {
    require_restored();
    std::string failure;
    if (communicator_.rank() == 0) {
      failure = checkpoint::failure_of([&] {
        claim_.owner()->require_ownership();
        checkpoint::write_ended(folder_.path(),
                                {.run = claim_.run(), .start = claim_.start(), .step = step});
      });
    }
    may_have_ended_ = true;
    failure = checkpoint::text_of_rank_0(communicator_, failure);
    if (!failure.empty()) throw Error(ErrorCode::kCannotWrite, failure, 0);
  }

  void go_on() {
    require_restored();
    if (!may_have_ended_) return;
    may_have_ended_ = false;
    if (communicator_.rank() == 0) checkpoint::remove_ended(folder_.path());
  }

  std::optional<std::uint64_t> last_step() const noexcept { return last_step_; }
  void mark_best(std::uint64_t step, std::size_t marker) { marks_.move(marker, step); }

 private:
  // Returns why training waits for saves although it need not, or an empty text.
  std::string why_no_thread() const {
    if (!options_.asynchronous || thread_) return {};
    return "training waits until each checkpoint is written, since no thread of rota may call this "
           "MPI: initialise MPI with MPI_THREAD_MULTIPLE, or set asynchronous to false";
  }

  void refuse_checkpoints_if_asked() const {
    if (options_.resume != Resume::kNever || !claim_.had_checkpoints()) return;
    throw Error(ErrorCode::kInvalidArgument, "the folder " + folder_.path() +
                                                 " has checkpoints, but the run must not resume: "
                                                 "choose an empty folder, or set resume "
                                                 "to 'auto'");
  }

  // A run that begins anew here would set the newer checkpoints aside, and remove the older ones.
  void require_restored() const {
    if (has_restored_ || !claim_.had_checkpoints()) return;
    throw Error(ErrorCode::kInvalidArgument,
                "the folder " + folder_.path() +
                    " has checkpoints that were not restored: call restore() before the first "
                    "step, or choose an empty folder");
  }

  static void add_note(Restored& restored, const std::string& note) {
    if (note.empty()) return;
    restored.note += (restored.note.empty() ? "" : "; ") + note;
  }

  // `is_own`: the checkpoint is from the folder of this run, and not the one of `from`.
  void take(const checkpoint::CheckpointReader& found, Restored& restored, bool is_own) {
    const checkpoint::Manifest& manifest = found.manifest();
    restored.path = found.path();
    restored.world_size = static_cast<std::size_t>(manifest.world_size);
    if (!is_own && options_.resume == Resume::kParameters) {
      checkpoint::restore_parameters(found, visit_);
      return;
    }
    const std::string why = checkpoint::why_not_restored(found, visit_);
    if (!why.empty()) refuse_misfit(found, why, is_own);
    const checkpoint::RestoreNotes notes =
        checkpoint::restore(found, visit_, {communicator_.rank(), communicator_.world_size()});
    for (const std::string& note :
         {notes.differences, notes.losses, checkpoint::other_texts(communicator_, notes.losses)}) {
      add_note(restored, note);
    }
    restored.is_fresh = false;
    restored.step = manifest.step;
    claim_.go_on(manifest.run, manifest.start + 1);
  }

  [[noreturn]] void refuse_misfit(const checkpoint::CheckpointReader& found, const std::string& why,
                                  bool is_own) const {
    std::string advice = "choose another folder for this run";
    if (!is_own) {
      advice = checkpoint::do_parameters_fit(found, visit_)
                   ? "set resume to 'parameters' to begin with its parameters alone"
                   : "name another checkpoint in `from`";
    }
    throw Error(ErrorCode::kMismatch,
                "the checkpoint " + found.path() + " does not fit: " + why + "; " + advice);
  }

  void stall_for(base::Duration duration) noexcept {
    stall_ += duration;
    stalled_ += duration;
  }

  void begin_in_background() {
    try {
      snapshot_.begin(job_.plan.shares);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kNoMemory,
                  "there is no memory for a copy of this rank's share of the state: set "
                  "CheckpointOptions::asynchronous to false");
    }
    thread_->begin([this] { run_job(); });
  }

  // Runs on the writer's thread, if there is one.
  void run_job() {
    outcome_ = saver_.save(job_, snapshot_);
    end_ = Clock::now();
  }

  // Takes note of the end of the save under way, once it has ended. Returns whether no save is
  // under way any more.
  bool collect(bool waits) {
    if (!is_under_way_) return true;
    const bool has_ended = !thread_ || (waits ? ends_in_time() : !thread_->is_working());
    if (!has_ended) {
      if (time_of_hanging()) report_hanging();
      return false;
    }
    is_under_way_ = has_warned_ = false;
    if (thread_) thread_->wait();
    note_end({.step = job_.manifest.step,
              .path = outcome_.path,
              .failure = outcome_.failure,
              .bytes = outcome_.bytes,
              .left_out = std::exchange(left_out_, 0),
              .stall_us = static_cast<std::uint64_t>(stall_ / std::chrono::microseconds(1)),
              .seconds = base::to_seconds(end_ - begin_)});
    if (outcome_.left.empty() || communicator_.rank() != 0) return true;
    std::fprintf(
        stderr,
        "rota: the checkpoint of step %llu is saved, but another one could not be set aside or "
        "removed: %s; the next save tries again\n",
        static_cast<unsigned long long>(job_.manifest.step), outcome_.left.c_str());
    return true;
  }

  void note_end(const CheckpointReport& report) {
    failures_ = report.failure.empty() ? 0 : failures_ + 1;
    if (failures_ == 0) {
      last_saved_ = report.step;
      marks_.note_saved(report.step);
    }
    reports_.push_back(report);
    if (failures_ > 0) complain(report);
  }

  // The last checkpoint is of step `step`. If a write hangs, throws.
  void collect_last(std::uint64_t step) {
    if (!collect(true)) refuse_end(step, why_it_hangs());
  }

  [[noreturn]] static void refuse_end(std::uint64_t step, const std::string& why) {
    throw Error(ErrorCode::kCannotWrite,
                "the last checkpoint, of step " + std::to_string(step) + ", was not saved: " + why);
  }

  // Returns for how long this rank has been in one piece of work at the disk, or nothing if that is
  // not too long. A save that waits for other ranks ends by itself: they time out, a little later
  // than this rank has lost its patience.
  std::optional<base::Duration> time_of_hanging() const noexcept {
    const auto since = saver_.at_disk_since();
    if (!since) return std::nullopt;
    const base::Duration time = Clock::now() - *since;
    return time > options_.save_timeout / 10 * 9 ? std::optional(time) : std::nullopt;
  }

  std::string why_it_hangs() const {
    return "the save of step " + std::to_string(job_.manifest.step) + " has not ended after " +
           base::to_text(time_of_hanging().value_or(options_.save_timeout)) + ": a write of rank " +
           std::to_string(communicator_.rank()) + " to " + folder_.path() +
           " hangs; look at the disk, or at the server of the file system";
  }

  // Warns once if this rank is alone. Otherwise throws, since the other ranks wait for this one.
  void report_hanging() {
    if (communicator_.world_size() > 1) throw Error(ErrorCode::kCannotWrite, why_it_hangs());
    if (std::exchange(has_warned_, true)) return;
    std::fprintf(stderr, "rota: %s; training goes on\n", why_it_hangs().c_str());
  }

  // Reports a failed save. Training goes on unless too many saves in a row have failed: a disk may
  // be full for a while, and one checkpoint is worth less than the training run.
  void complain(const CheckpointReport& report) const {
    const std::string what = "the checkpoint of step " + std::to_string(report.step) +
                             " was not saved: " + report.failure;
    if (failures_ == options_.most_failures) {
      throw Error(ErrorCode::kCannotWrite,
                  what + "; so " + std::to_string(failures_) + " saves in a row have failed");
    }
    if (communicator_.rank() != 0) return;
    std::fprintf(stderr, "rota: %s; training goes on\n", what.c_str());
  }

  os::Origin origin_;  // In another process there is no writer's thread.
  CheckpointOptions options_;
  StateVisit visit_;
  Communicator communicator_;  // The writer's thread uses it while a save is under way.
  checkpoint::Writers writers_;
  checkpoint::CheckpointFolder folder_;
  checkpoint::Claim claim_;
  checkpoint::Saver saver_;
  checkpoint::Snapshot snapshot_;
  checkpoint::Marks marks_{folder_};

  SaveJob job_;  // Of the save under way, like the members below.
  bool is_under_way_ = false;
  bool has_warned_ = false;  // That it hangs.
  SaveOutcome outcome_;      // Written by run_job().
  base::TimePoint begin_{};
  base::TimePoint end_{};
  base::Duration stall_{0};

  base::Duration stalled_{0};                // By all saves.
  std::vector<CheckpointReport> reports_;    // For finished().
  std::optional<std::uint64_t> last_step_;   // Of the newest save that has begun.
  std::optional<std::uint64_t> last_saved_;  // Of the newest complete checkpoint of this run.
  base::TimePoint last_begin_ = Clock::now();
  std::uint64_t left_out_ = 0;
  std::size_t failures_ = 0;
  bool has_restored_ = false;
  bool may_have_ended_ = true;                      // The file ended.json may be there.
  std::optional<checkpoint::WriterThread> thread_;  // Last: it uses the other members.
};

Checkpointer::Checkpointer(Communicator& communicator, const CheckpointOptions& options,
                           StateVisit visit)
    : impl_(std::make_unique<Impl>(communicator, options, std::move(visit))) {}
Checkpointer::~Checkpointer() {
  impl_->origin().leave_elsewhere(impl_);
  // A thread whose write hangs cannot be joined. What it uses stays until the process ends.
  if (impl_ && !impl_->ends_in_time()) static_cast<void>(impl_.release());
}

Restored Checkpointer::restore() { return impl_->here().restore(); }
bool Checkpointer::is_due(std::uint64_t step) { return impl_->is_due(step); }
void Checkpointer::save(std::uint64_t step) { impl_->here().save(step); }
void Checkpointer::before_send(std::size_t bucket) noexcept {
  impl_->before(StateWriter::kSend, bucket);
}
void Checkpointer::before_update(std::size_t parameter) noexcept {
  impl_->before(StateWriter::kUpdate, parameter);
}
std::optional<CheckpointReport> Checkpointer::finished() { return impl_->here().finished(); }
void Checkpointer::finish(std::uint64_t step) { impl_->here().finish(step); }
void Checkpointer::complete(std::uint64_t step) { impl_->here().complete(step); }
void Checkpointer::go_on() { impl_->here().go_on(); }
std::optional<std::uint64_t> Checkpointer::last_step() const noexcept { return impl_->last_step(); }
double Checkpointer::stalled_seconds() const noexcept { return impl_->stalled_seconds(); }
void Checkpointer::mark_best(std::uint64_t step, std::size_t marker) {
  impl_->mark_best(step, marker);
}

}  // namespace rota

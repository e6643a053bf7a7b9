// Looks at the folder of checkpoints, reads the next one, scores it, and writes the score down.
#include <rota/evaluator_loop.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include <rota/end_signal.h>
#include <rota/error.h>
#include <rota/role.h>
#include <rota/safetensors.h>

#include "base/time.h"
#include "checkpoint/ended.h"
#include "checkpoint/evaluations.h"
#include "checkpoint/file_names.h"
#include "checkpoint/folder.h"
#include "checkpoint/reader.h"
#include "checkpoint/restore.h"
#include "os/durable_file.h"
#include "os/host.h"
#include "os/system_error.h"
#include "training/evaluation_order.h"
#include "training/evaluator_curves.h"
#include "training/parameter_memory.h"
#include "training/sample_facts.h"

namespace rota {
namespace {

using checkpoint::CheckpointReader;
using training::SeenCheckpoint;
using ScoredSums = BasicCheckpointScore<ScoreSums>;

constexpr std::chrono::seconds kOtherEvaluatorWait{10};
constexpr int kMostTries = 5;                          // Of what the system could not read.
constexpr std::chrono::milliseconds kMostPause{1000};  // Between two tries.

// When this process began: before its program has read any data.
const base::TimePoint kProcessStart = base::Clock::now();

// Returns the time when this process began, by the clock that stamps the files of `folder`. The
// clock of this host may be set meanwhile, and that of a file server may differ from it.
std::filesystem::file_time_type process_start_in(const std::string& folder) {
  const std::string probe =
      folder + "/.clock." + os::host_name() + "." + std::to_string(os::own_process());
  auto now = std::filesystem::file_time_type::clock::now();
  try {
    os::remove_all(probe);
    os::NewFile(probe).close();
    std::error_code error;
    const auto stamped = std::filesystem::last_write_time(probe, error);
    if (!error) now = stamped;
    os::remove_all(probe);
  } catch (const Error&) {
    // Ignored here: a disk that takes no file leaves the clock of this host.
  }
  return now - std::chrono::duration_cast<std::filesystem::file_time_type::duration>(
                   base::Clock::now() - kProcessStart);
}

const EvaluatorOptions& checked_evaluator(const EvaluatorOptions& options, std::size_t samples) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); };
  if (samples == 0) refuse("the set of an evaluator is empty: it needs samples");
  if (options.batch_size == 0) refuse("batch size 0 of an evaluator: expected 1 or more");
  if (options.interval.count() <= 0) refuse("the interval of an evaluator must be more than 0");
  return options;
}

// Of a file without the metadata, 0.
std::uint64_t step_of(const SafetensorsFile& file) {
  const auto found = file.metadata().find("step");
  std::uint64_t step = 0;
  if (found == file.metadata().end()) return step;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), step);
  return step;
}

// Returns when the checkpoint was saved: since then, nothing has changed its folder.
double seconds_since_1970(const SeenCheckpoint& seen) {
  using Files = std::filesystem::file_time_type;
  const auto saved = Files::clock::to_sys(Files(Files::duration(seen.changed)));
  return std::chrono::duration<double>(saved.time_since_epoch()).count();
}

bool is_of_file(const Error& error) {
  return error.code() == ErrorCode::kBadData || error.code() == ErrorCode::kNotFound ||
         error.code() == ErrorCode::kSystem;
}

void require_training_set(const CheckpointReader& found, const SampleFacts& ours) {
  const auto& facts = found.manifest().facts;
  const auto fact = std::ranges::find(facts, training::kTrainingSetFact, &checkpoint::Fact::name);
  const std::string text = training::to_text(ours);
  const std::string theirs = fact == facts.end() ? "an unknown set" : fact->text;
  if (theirs == text) return;
  throw Error(ErrorCode::kMismatch,
              "the checkpoint " + found.path() + " was trained on " + theirs +
                  ", but the evaluator expects " + text +
                  ": give the evaluator the data, the split and the seed of the ranks");
}

}  // namespace

class EvaluatorLoop::Impl {
 public:
  Impl(EvaluatorLoop& loop, const EvaluatorOptions& options,
       std::span<const ParameterInfo> parameters, DataType type, std::size_t sample_count,
       std::size_t sum_count)
      : loop_(loop),
        options_(checked_evaluator(options, sample_count)),
        folder_(options.folder.string()),
        memory_(parameters, type),
        samples_(sample_count),
        sums_(sum_count),
        curves_(options_.logs, options_.curves) {
    for (std::size_t i = 0; i < sample_count; ++i) samples_[i] = i;
  }

  const training::ParameterMemory& memory() const noexcept { return memory_; }

  EvaluatorReport run() {
    if (options_.folder.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "an evaluator needs the folder of the checkpoints");
    }
    if (const std::string why = os::why_no_path(options_.folder.string()); !why.empty()) {
      throw Error(ErrorCode::kInvalidArgument, why);
    }
    report_ = {};
    try {
      follow();
    } catch (...) {
      close();
      throw;
    }
    close();
    report_.missed = order_.missed();
    report_.left = order_.waiting_count();
    return report_;
  }

  ScoredSums score_path(const std::filesystem::path& path) {
    ScoredSums score = load_path(path);
    compute(score, [] { return true; });
    return score;
  }

  // Makes the parameters those of the checkpoint or file. Returns a score without sums.
  ScoredSums load_path(const std::filesystem::path& path) {
    ScoredSums score;
    score.path = path.string();
    std::error_code ignored;  // SafetensorsFile finds out what is wrong with the path.
    if (std::filesystem::is_directory(path, ignored)) {
      const CheckpointReader found(score.path);
      take(found, score);
    } else {
      const SafetensorsFile file(path);
      memory_.load(file);
      score.step = step_of(file);
    }
    return score;
  }

 private:
  void follow() {
    const EndSignal& end_signal = end_signal_.emplace();
    const auto old_end = time_of_old_end();
    if (!read_patiently([this] { return os::exists(folder_.path()); })) {
      std::fprintf(stderr, "rota: the evaluator waits for the folder %s, which is not there yet\n",
                   folder_.path().c_str());
    }
    for (;;) {
      const bool is_asked = end_signal.has_come();
      // The last checkpoint is older than this file. So it is found if the file was.
      const auto end = time_of_end();
      look();
      name_missed();
      ended_ = end && end != old_end ? read_end() : std::nullopt;
      report_.has_ended = ended_.has_value();
      if (const auto seen = next(is_asked)) {
        evaluate(*seen);
      } else if (is_asked || report_.has_ended) {
        return;
      } else {
        flush_lines();  // The disk may have room now.
        end_signal.wait_for(options_.interval);
      }
    }
  }

  // Other evaluators may use the folder from here on.
  void close() noexcept {
    if (const std::string failure = flush_lines(); !failure.empty()) {
      std::fprintf(stderr,
                   "rota: warning: the evaluator ends without having written the last scores (%zu "
                   "lines): %s; start it again, and it evaluates their checkpoints again\n",
                   file_->unwritten_count(), failure.c_str());
    }
    end_signal_.reset();
    file_.reset();
    curves_.close();
  }

  // Calls `read` again if the system could not read, which may pass in a network file system. After
  // SIGTERM, there is no time to wait between the tries. Throws the Error of the last try.
  template <class Read>
  std::invoke_result_t<Read> read_patiently(const Read& read) const {
    for (int tries = 1;; ++tries) {
      try {
        return read();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kSystem || tries == kMostTries) throw;
      }
      end_signal_->wait_for(std::min(options_.interval, kMostPause));
    }
  }

  std::optional<std::filesystem::file_time_type> time_of_end() const {
    return read_patiently([this] { return checkpoint::time_of_ended(folder_.path()); });
  }

  // Returns the time of an end that does not count: beside ranks, the end of an earlier job,
  // because the run may be about to go on. A run that ends again writes a new file, even if it has
  // the same contents. A short run may end while this process still reads its data: such an end
  // counts.
  std::optional<std::filesystem::file_time_type> time_of_old_end() const {
    const auto end = is_beside_ranks() ? time_of_end() : std::nullopt;
    return end && *end < process_start_in(folder_.path()) ? end : std::nullopt;
  }

  std::optional<checkpoint::Ended> read_end() const {
    return read_patiently([this] { return checkpoint::read_ended(folder_.path()); });
  }

  void look() {
    seen_ = read_patiently([this] { return read_folder(); });
    order_.look(seen_);
  }

  std::set<SeenCheckpoint> read_folder() const {
    std::set<SeenCheckpoint> now;
    for (const std::uint64_t step : folder_.steps()) {
      const std::string path = folder_.path_of(step);
      std::error_code error;
      const auto changed = std::filesystem::last_write_time(path, error);
      if (!error) now.insert({step, changed.time_since_epoch().count()});
      // It may be removed at any time.
      if (error && error != std::errc::no_such_file_or_directory) {
        os::throw_unreadable(path, error.value());
      }
    }
    return now;
  }

  // After SIGTERM, there may be time for the last checkpoint alone. But rotarun also sends SIGTERM
  // when all ranks have ended. Then there is time for others, until rotarun kills this process.
  std::optional<SeenCheckpoint> next(bool is_asked) {
    if (!is_asked) return order_.next();
    if (const auto last = last_that_waits()) return last;
    return is_beside_ranks() && ended_ ? order_.next() : std::nullopt;
  }

  // Reads the manifests of the checkpoints that are new in the folder. Each is read once, because
  // there is little time after SIGTERM, and a manifest never changes.
  void read_new_manifests() {
    std::erase_if(saved_, [&](const auto& each) { return !seen_.contains(each.first); });
    std::erase_if(unreadable_, [&](const auto& each) { return !seen_.contains(each); });
    for (const SeenCheckpoint& seen : seen_) {
      if (saved_.contains(seen) || unreadable_.contains(seen)) continue;
      try {
        const auto manifest =
            read_patiently([&] { return checkpoint::read_manifest(folder_.path_of(seen.step)); });
        saved_[seen] = {.run = to_text(manifest.run), .start = manifest.start};
      } catch (const Error& error) {
        if (!is_of_file(error)) throw;
        unreadable_.insert(seen);
      }
    }
  }

  // Returns the last checkpoint of the run, unless it is settled. A checkpoint whose manifest is
  // damaged or gone is not the last one.
  std::optional<SeenCheckpoint> last_that_waits() {
    read_new_manifests();
    const auto step = ended_ ? std::optional(ended_->step) : std::nullopt;
    const auto last = training::last_of(saved_, step);
    return last && order_.waits(*last) ? last : std::nullopt;
  }

  // Returns whether the training run has set aside a checkpoint that is gone. The folder has
  // another name then, but still the same time.
  bool is_set_aside(const SeenCheckpoint& gone) const {
    for (std::size_t number = 1;; ++number) {
      std::error_code error;
      const std::string name = checkpoint::set_aside_name(gone.step, number);
      const auto changed = std::filesystem::last_write_time(folder_.path() + "/" + name, error);
      if (error) return false;
      if (changed.time_since_epoch().count() == gone.changed) return true;
    }
  }

  // Names the checkpoints that are gone before their turn, and says why.
  void name_missed() {
    for (const SeenCheckpoint& missed : order_.take_missed()) {
      std::fprintf(stderr, "rota: the evaluator passes over a checkpoint: %s: %s\n",
                   folder_.path_of(missed.step).c_str(),
                   is_set_aside(missed) ? "was set aside before its turn: the training run has "
                                          "gone on from another checkpoint"
                                        : "was removed before its turn; let the training run keep "
                                          "more checkpoints");
    }
  }

  // Makes the parameters those of the checkpoint.
  void take(const CheckpointReader& found, ScoredSums& score) {
    if (options_.training_set) require_training_set(found, *options_.training_set);
    checkpoint::restore_parameters(found,
                                   [this](StateVisitor& visitor) { memory_.visit(visitor); });
    score.run = to_text(found.manifest().run);
    score.start = found.manifest().start;
    score.step = found.manifest().step;
  }

  void evaluate(const SeenCheckpoint& seen) {
    if (!file_) read_patiently([this] { file_.emplace(folder_.path(), kOtherEvaluatorWait); });
    ScoredSums score;
    score.path = folder_.path_of(seen.step);
    try {
      const checkpoint::Manifest manifest = checkpoint::read_manifest(score.path);
      if (file_->has(to_text(manifest.run), manifest.start, manifest.step)) {
        return order_.settle(seen);
      }
      take(CheckpointReader(score.path), score);
    } catch (const Error& error) {
      return pass_over(seen, error);
    }
    if (!compute(score, [&] { return is_worth_it(seen); })) return;
    write_down(score, seen);
    order_.settle(seen);
    ++report_.evaluated;
    loop_.tell_of_score(score);
  }

  // The training run may have removed the checkpoint while it was read. What the system could not
  // read, such as a file of a network file system, is tried again.
  void pass_over(const SeenCheckpoint& seen, const Error& error) {
    if (!is_of_file(error)) throw;
    look();
    if (!order_.waits(seen)) return;
    if (error.code() == ErrorCode::kSystem && ++tries_[seen] < kMostTries) {
      end_signal_->wait_for(options_.interval);
      return;
    }
    std::fprintf(stderr, "rota: the evaluator passes over a checkpoint: %s\n", error.what());
    order_.settle(seen);
    ++report_.damaged;
  }

  // After SIGTERM, the last checkpoint comes first.
  bool is_worth_it(const SeenCheckpoint& seen) {
    const base::TimePoint now = base::Clock::now();
    if (now - last_look_ < options_.interval) return true;
    last_look_ = now;
    look();
    if (!end_signal_->has_come()) return true;
    const auto last = last_that_waits();
    return !last || *last == seen;
  }

  // Sets the score of the parameters. False if `goes_on` has become false, which is asked after
  // each batch.
  template <class GoesOn>
  bool compute(ScoredSums& score, const GoesOn& goes_on) {
    const base::TimePoint start = base::Clock::now();
    std::ranges::fill(sums_, 0);
    score.score.samples = 0;
    for (std::size_t done = 0; done < samples_.size(); done += options_.batch_size) {
      const std::size_t count = std::min(options_.batch_size, samples_.size() - done);
      const ScoreSums some = loop_.evaluate_some(std::span(samples_).subspan(done, count));
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += some.sums[i];
      score.score.samples += some.samples;
      if (!goes_on()) return false;
    }
    score.score.sums = sums_;
    score.seconds = base::to_seconds(base::Clock::now() - start);
    return true;
  }

  // The point of the curve comes before the line: if the process is killed between them, the next
  // one evaluates the checkpoint again, and replaces the point.
  void write_down(const ScoredSums& score, const SeenCheckpoint& seen) {
    const SavedEvaluation evaluation{.run = score.run,
                                     .start = score.start,
                                     .step = score.step,
                                     .samples = score.score.samples,
                                     .sums = sums_,
                                     .time = seconds_since_1970(seen)};
    curves_.write(evaluation, file_->of_run(score.run));
    remember(evaluation, curves_.means_of(evaluation));
  }

  // Tries again to write the lines that the disk has not taken. Returns what failed, or an empty
  // text.
  std::string flush_lines() {
    try {
      if (file_) file_->flush();
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  // If the disk does not take the line, such as a full one, the score stays in memory, and the
  // evaluator goes on. Warns once.
  void remember(const SavedEvaluation& evaluation, const checkpoint::Means& means) {
    try {
      file_->add(evaluation, means);
    } catch (const Error& error) {
      if (std::exchange(is_line_warned_, true)) return;
      std::fprintf(stderr,
                   "rota: warning: the evaluator keeps its scores in memory, and tries again to "
                   "write them: %s\n",
                   error.what());
    }
  }

  EvaluatorLoop& loop_;
  EvaluatorOptions options_;
  checkpoint::CheckpointFolder folder_;
  training::ParameterMemory memory_;
  std::vector<std::uint64_t> samples_;  // 0, 1, 2, …
  std::vector<double> sums_;            // Of the latest score.
  training::EvaluatorCurves curves_;
  std::set<SeenCheckpoint> seen_;        // What the folder had at the last look.
  training::SavedCheckpoints saved_;     // Those in seen_ whose manifests were read.
  std::set<SeenCheckpoint> unreadable_;  // Those whose manifests are damaged or gone.
  training::EvaluationOrder order_;
  std::optional<checkpoint::Ended> ended_;           // How the training run has ended, once it has.
  std::optional<checkpoint::EvaluationsFile> file_;  // Once there is a checkpoint.
  bool is_line_warned_ = false;                      // Of lines that cannot be written.
  std::optional<EndSignal> end_signal_;              // Of run().
  base::TimePoint last_look_{};
  std::map<SeenCheckpoint, int> tries_;  // Of checkpoints that the system could not read.
  EvaluatorReport report_;
};

EvaluatorLoop::EvaluatorLoop(const EvaluatorOptions& options,
                             std::span<const ParameterInfo> parameters, DataType type,
                             std::size_t sample_count, std::size_t sum_count)
    : impl_(std::make_unique<Impl>(*this, options, parameters, type, sample_count, sum_count)) {}
EvaluatorLoop::~EvaluatorLoop() = default;

Values EvaluatorLoop::values_of(std::size_t parameter) { return impl_->memory().values(parameter); }
Values EvaluatorLoop::gradient_of(std::size_t parameter) {
  return impl_->memory().gradient(parameter);
}
EvaluatorReport EvaluatorLoop::run_loop() { return impl_->run(); }
BasicCheckpointScore<ScoreSums> EvaluatorLoop::score_path(const std::filesystem::path& path) {
  return impl_->score_path(path);
}
void EvaluatorLoop::load_path(const std::filesystem::path& path) { impl_->load_path(path); }

}  // namespace rota

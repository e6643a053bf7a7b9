// Decides which points the curves of a training run have, and at which steps.
#include <rota/summaries_hook.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include <rota/error.h>

#include "base/time.h"
#include "exports/event_file.h"

namespace rota {
namespace {

constexpr std::chrono::seconds kFlushLimit{1};
constexpr std::size_t kMostInHistogram = 65'536;

const SummariesOptions& checked_summaries(const SummariesOptions& options) {
  if (options.every_steps > 0) return options;
  throw Error(ErrorCode::kInvalidArgument, "every_steps of summaries is 0: expected 1 or more");
}

// Calls `function` with the elements as a span. Tensors of a Replica are floats or doubles.
template <class Function>
void with_elements(const ConstValues& values, const Function& function) {
  if (values.type() == DataType::kFloat32) {
    function(std::span(reinterpret_cast<const float*>(values.data()), values.count()));
  } else {
    function(std::span(reinterpret_cast<const double*>(values.data()), values.count()));
  }
}

double square_of(const ConstValues& values) {
  double square = 0;
  with_elements(values, [&](auto elements) {
    for (const auto element : elements) {
      square += static_cast<double>(element) * static_cast<double>(element);
    }
  });
  return square;
}

// Picks at most kMostInHistogram elements, and multiplies them by `scale`.
void pick(const ConstValues& values, double scale, std::vector<double>& picked) {
  const std::size_t count = std::min(values.count(), kMostInHistogram);
  picked.resize(count);
  with_elements(values, [&](auto elements) {
    for (std::size_t i = 0; i < count; ++i) {
      picked[i] = scale * static_cast<double>(elements[i * elements.size() / count]);
    }
  });
}

}  // namespace

class SummaryCurves::Impl {
 public:
  Impl(std::filesystem::path folder, const SummariesOptions& options, std::size_t sum_count)
      : folder_(std::move(folder)), options_(checked_summaries(options)), interval_(sum_count + 1) {
    options_.curves.resize(std::min(options_.curves.size(), sum_count));
  }

  void watch(std::vector<NamedTensor> parameters, std::vector<NamedTensor> gradients,
             std::function<void()> refresh) {
    parameters_ = std::move(parameters);
    gradients_ = std::move(gradients);
    refresh_ = std::move(refresh);
  }

  void watch_graph(std::function<OnnxGraph()> make_graph) { make_graph_ = std::move(make_graph); }

  // A state may have been saved between the last step of an epoch and the evaluation. If the run
  // goes on from such a state, the evaluation comes again. So the earlier point of this evaluation
  // is dropped.
  void begin(const BeginReport& report) {
    if (report.fresh) {
      evaluated_step_ = 0;
      std::ranges::fill(interval_, 0);
    }
    last_ = {report.step, report.samples, report.train_seconds};
    evaluation_wait_ = options_.writer.other_writer_wait;
    begin_writer(train_, "train", report.step + 1);
    write_graph(report.step + 1);
    first_evaluation_ = report.step + (evaluated_step_ == report.step ? 1 : 0);
    begin_writer(test_, "test", first_evaluation_);
    validation_.reset();
  }

  void add_step(const BasicStepReport<ScoreSums>& report) {
    for (std::size_t i = 0; i < report.score.sums.size(); ++i) interval_[i] += report.score.sums[i];
    interval_.back() += static_cast<double>(report.score.samples);
    if (report.steps % options_.every_steps == 0) write_point(report);
    if (!train_) return;
    if (options_.rank_seconds) write_rank_seconds(report);
    if (options_.histogram_steps > 0 && report.steps % options_.histogram_steps == 0) {
      const auto step = static_cast<std::int64_t>(report.steps);
      if (refresh_) refresh_();
      write_tensors(parameters_, "parameter", 1, step);
      write_tensors(gradients_, "gradient", 1 / static_cast<double>(report.score.samples), step);
    }
  }

  void add_evaluation(const BasicEvaluationReport<ScoreSums>& report) {
    evaluated_step_ = report.steps;
    auto& writer = report.is_validation ? validation_ : test_;
    if (!open(writer, report.is_validation ? "validation" : "test")) return;
    write_score(*writer, report.score.sums, static_cast<double>(report.score.samples),
                report.steps);
  }

  void add_test(const ScoreSums& score) {
    if (!open(test_, "test")) return;
    write_score(*test_, score.sums, static_cast<double>(score.samples), evaluated_step_);
  }

  void add_checkpoint(const CheckpointReport& report) {
    if (!train_) return;
    const auto step = static_cast<std::int64_t>(report.step);
    train_->scalar("checkpoint/seconds", report.seconds, step);
    train_->scalar("checkpoint/stall_seconds", static_cast<double>(report.stall_us) * 1e-6, step);
  }

  void end(bool success) noexcept {
    for (auto* writer : {&train_, &validation_, &test_}) {
      if (*writer) (*writer)->close(success);
    }
  }

  // A run that goes on from this state does not write the earlier points again, so the disk must
  // have them.
  void visit_state(StateVisitor& visitor) {
    const base::TimePoint end = base::Clock::now() + kFlushLimit;  // For all files together.
    for (auto* writer : {&train_, &validation_, &test_}) {
      const auto left = std::max(end - base::Clock::now(), base::Duration::zero());
      if (!*writer) continue;
      (*writer)->flush_within(std::chrono::duration_cast<std::chrono::milliseconds>(left));
    }
    const std::size_t count = interval_.size();
    visitor.visit_counter({.name = options_.name + "/step of the last evaluation"},
                          evaluated_step_);
    visitor.visit_tensor({.name = options_.name + "/score since the last point"},
                         std::span(&count, 1), interval_);
  }

 private:
  // Makes the writer of a folder when the run begins. If that fails, the run has no such curves,
  // but it is trained. It ends if another run writes there: both would hide points of each other.
  void begin_writer(std::optional<SummaryWriter>& writer, const char* name, std::uint64_t step) {
    try {
      make_writer(writer, name, step, options_.writer.other_writer_wait);
    } catch (const exports::FolderInUse&) {
      throw;
    } catch (const Error& error) {
      warn_once(name, error);
    }
  }

  // Makes the writer of an evaluation, unless it is there. Returns false if that fails. Training
  // has begun, so it goes on, even if another run writes there. All ranks wait meanwhile, so only
  // the first failure may wait for that run to end.
  bool open(std::optional<SummaryWriter>& writer, const char* name) {
    if (writer) return true;
    try {
      make_writer(writer, name, first_evaluation_, evaluation_wait_);
    } catch (const Error& error) {
      evaluation_wait_ = {};
      warn_once(name, error);
      return false;
    }
    return true;
  }

  void warn_once(const char* name, const Error& error) {
    if (std::exchange(is_warned_, true)) return;
    std::fprintf(stderr, "rota: warning: training goes on without curves of %s: %s\n", name,
                 error.what());
  }

  void make_writer(std::optional<SummaryWriter>& writer, const char* name, std::uint64_t step,
                   std::chrono::milliseconds other_writer_wait) {
    SummaryOptions options = options_.writer;
    options.other_writer_wait = other_writer_wait;
    options.first_step = static_cast<std::int64_t>(step);
    writer.emplace(folder_ / name, options);
  }

  // Each start of the run writes the graph at its first step. If the run begins anew, TensorBoard
  // drops the graph of the run before, which may have had another model.
  void write_graph(std::uint64_t step) {
    if (!train_ || !options_.graph || !make_graph_) return;
    train_->graph(make_graph_(), static_cast<std::int64_t>(step));
  }

  void write_score(SummaryWriter& writer, std::span<const double> sums, double samples,
                   std::uint64_t step) const {
    for (std::size_t i = 0; i < options_.curves.size(); ++i) {
      writer.scalar(options_.curves[i], sums[i] / samples, static_cast<std::int64_t>(step));
    }
  }

  // Begins the next interval even if there is no writer: a run that goes on from this state may
  // have one.
  void write_point(const BasicStepReport<ScoreSums>& report) {
    if (train_) write_means(report);
    last_ = {report.steps, report.samples, report.train_seconds};
    std::ranges::fill(interval_, 0);
  }

  void write_means(const BasicStepReport<ScoreSums>& report) {
    const auto step = static_cast<std::int64_t>(report.steps);
    write_score(*train_, interval_, interval_.back(), report.steps);
    train_->scalar("learning_rate", report.learning_rate, step);
    const double seconds = report.train_seconds - last_.train_seconds;
    const auto per_second = [&](std::uint64_t now, std::uint64_t then) {
      return static_cast<double>(now - then) / seconds;
    };
    train_->scalar("global_step/sec", per_second(report.steps, last_.steps), step);
    train_->scalar("images/sec", per_second(report.samples, last_.samples), step);
  }

  void write_rank_seconds(const BasicStepReport<ScoreSums>& report) {
    const auto step = static_cast<std::int64_t>(report.steps);
    for (std::size_t rank = 0; rank < report.rank_seconds.size(); ++rank) {
      const RankSeconds& seconds = report.rank_seconds[rank];
      const std::string name = "_seconds/rank_" + std::to_string(rank);
      train_->scalar("compute" + name, seconds.compute, step);
      train_->scalar("wait" + name, seconds.wait, step);
      train_->scalar("checkpoint" + name, seconds.checkpoint, step);
    }
  }

  void write_tensors(const std::vector<NamedTensor>& tensors, const std::string& kind, double scale,
                     std::int64_t step) {
    double square_of_all = 0;
    for (const NamedTensor& tensor : tensors) {
      const double square = square_of(tensor.values);
      square_of_all += square;
      train_->scalar(kind + "_norm/" + tensor.name, scale * std::sqrt(square), step);
      pick(tensor.values, scale, picked_);
      train_->histogram(kind + "s/" + tensor.name, picked_, step);
    }
    if (!tensors.empty()) train_->scalar(kind + "_norm", scale * std::sqrt(square_of_all), step);
  }

  struct Moment {
    std::uint64_t steps = 0;
    std::uint64_t samples = 0;
    double train_seconds = 0;
  };

  std::filesystem::path folder_;
  SummariesOptions options_;
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> gradients_;
  std::function<void()> refresh_;
  std::function<OnnxGraph()> make_graph_;  // Empty: the model has no graph.
  std::vector<double> picked_;             // Elements of a tensor, for its histogram.
  std::vector<double> interval_;           // The score since the last point, the sample count last.
  std::uint64_t evaluated_step_ = 0;
  std::uint64_t first_evaluation_ = 0;  // The first step of evaluations in this start of the run.
  Moment last_;                         // Of the last point.
  std::optional<SummaryWriter> train_;  // Empty: its folder cannot be written.
  std::optional<SummaryWriter> validation_;       // Once there was an evaluation of such a set.
  std::optional<SummaryWriter> test_;             // As train_.
  std::chrono::milliseconds evaluation_wait_{0};  // Of open(), for another run.
  bool is_warned_ = false;                        // Of curves that cannot be written.
};

SummaryCurves::SummaryCurves(const std::filesystem::path& folder, const SummariesOptions& options,
                             std::size_t sum_count)
    : impl_(std::make_unique<Impl>(folder, options, sum_count)) {}
SummaryCurves::~SummaryCurves() = default;

void SummaryCurves::watch(std::vector<NamedTensor> parameters, std::vector<NamedTensor> gradients,
                          std::function<void()> refresh) {
  impl_->watch(std::move(parameters), std::move(gradients), std::move(refresh));
}
void SummaryCurves::watch_graph(std::function<OnnxGraph()> make_graph) {
  impl_->watch_graph(std::move(make_graph));
}
void SummaryCurves::begin(const BeginReport& report) { impl_->begin(report); }
void SummaryCurves::add_step(const BasicStepReport<ScoreSums>& report) { impl_->add_step(report); }
void SummaryCurves::add_evaluation(const BasicEvaluationReport<ScoreSums>& report) {
  impl_->add_evaluation(report);
}
void SummaryCurves::add_test(const ScoreSums& score) { impl_->add_test(score); }
void SummaryCurves::add_checkpoint(const CheckpointReport& report) {
  impl_->add_checkpoint(report);
}
void SummaryCurves::end(bool success) noexcept { impl_->end(success); }
void SummaryCurves::visit_state(StateVisitor& visitor) { impl_->visit_state(visitor); }

}  // namespace rota

// The thread that writes summaries, and the queue between it and the threads that make them.
#include <rota/error.h>
#include <rota/summaries.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "exports/event_file.h"
#include "exports/summary_queue.h"
#include "formats/events.h"
#include "formats/utf8.h"
#include "os/origin.h"
#include "os/quiet_thread.h"

namespace rota {
namespace {

double wall_time(std::chrono::system_clock::time_point time = std::chrono::system_clock::now()) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

[[noreturn]] void refuse_summary(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "summary " + what);
}

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

void check_tag(std::string_view tag) {
  if (tag.empty()) refuse_summary("without a tag: name the curve, such as loss/train");
  if (!formats::is_utf8(tag)) {
    refuse_summary(formats::to_utf8(tag) + ": a tag is UTF-8, and this one is not");
  }
  if (std::ranges::none_of(tag, is_control)) return;
  std::string shown(tag);
  std::ranges::replace_if(shown, is_control, '?');
  refuse_summary(shown + ": a tag is one line, without control characters, which are shown as ?");
}

void check_image(std::string_view tag, ImageShape shape, std::span<const std::uint8_t> pixels) {
  const std::string name(tag);
  if (shape.channels != 1 && shape.channels != 3) {
    refuse_summary(name + ": an image has 1 or 3 channels, and got " +
                   std::to_string(shape.channels));
  }
  if (pixels.empty() || pixels.size() != shape.count()) {
    refuse_summary(name + ": an image of " + std::to_string(shape.rows) + " × " +
                   std::to_string(shape.columns) + " × " + std::to_string(shape.channels) +
                   " got " + std::to_string(pixels.size()) + " pixels; it needs one for each");
  }
}

}  // namespace

class SummaryWriter::Impl {
 public:
  Impl(const std::filesystem::path& folder, const SummaryOptions& options)
      : options_(options),
        file_(folder, wall_time(), options.first_step, options.other_writer_wait),
        queue_(std::max<std::size_t>(options.queue_summaries, 1), options.queue_bytes),
        exceptions_(std::uncaught_exceptions()),
        thread_(os::start_quiet_thread([this] { run(); })) {}

  ~Impl() { close(std::uncaught_exceptions() == exceptions_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const os::Origin& origin() const noexcept { return origin_; }

  // Returns this object. Throws Error kInvalidArgument if another process made it: the thread is
  // not there.
  Impl& here() {
    origin_.require_here("this SummaryWriter");
    return *this;
  }

  template <class Content>
  void add(std::string_view tag, Content content, std::int64_t step, double time = wall_time()) {
    check_tag(tag);
    push({time, step, std::string(tag), std::move(content)});
  }

  void add_hyperparameters(const Hyperparameters& values, const std::vector<std::string>& metrics,
                           std::int64_t step) {
    for (const std::string& metric : metrics) check_tag(metric);
    for (const auto& [name, value] : values) {
      if (formats::is_utf8(name)) continue;
      refuse_summary("of the hyperparameter " + formats::to_utf8(name) + ": its name is not UTF-8");
    }
    const double now = wall_time();
    add("_hparams_/experiment",
        formats::HyperparameterSummary{formats::encode_experiment(values, metrics, now)}, step);
    add("_hparams_/session_start_info",
        formats::HyperparameterSummary{formats::encode_session_start(values, now)}, step);
    const std::lock_guard lock(mutex_);
    has_session_ = true;
  }

  void flush() {
    std::unique_lock lock(mutex_);
    check_open();
    const std::uint64_t ticket = ++flushes_asked_;
    wake_.notify_one();
    written_.wait(lock, [&] { return flushes_done_ >= ticket; });
    const std::uint64_t lost = count_dropped() - dropped_at_flush_;
    dropped_at_flush_ += lost;
    if (lost > 0) throw Error(ErrorCode::kCannotWrite, text_of_loss(lost));
  }

  bool flush_within(std::chrono::milliseconds limit) noexcept {
    if (!origin_.is_here()) return false;
    std::unique_lock lock(mutex_);
    if (closing_) return true;
    const std::uint64_t ticket = ++flushes_asked_;
    wake_.notify_one();
    return written_.wait_for(lock, limit, [&] { return flushes_done_ >= ticket; });
  }

  void close(bool success) noexcept {
    if (!origin_.is_here()) return;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      if (has_session_) {
        const double now = wall_time();
        queue_.push({now, queue_.last_step(), "_hparams_/session_end_info",
                     formats::HyperparameterSummary{formats::encode_session_end(success, now)}});
      }
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
    file_.close();
    if (count_dropped() > 0) report(text_of_loss(count_dropped()) + " in all");
  }

  std::uint64_t dropped() const noexcept {
    const std::lock_guard lock(mutex_);
    return count_dropped();
  }

  const std::filesystem::path& path() const noexcept { return file_.path(); }

 private:
  void check_open() const {
    if (closing_) throw Error(ErrorCode::kClosed, path().string() + ": was closed");
  }

  // Wakes the thread only once for many summaries: a wake-up takes longer than everything else in
  // this function.
  void push(formats::Event event) {
    bool is_time = false;
    {
      const std::lock_guard lock(mutex_);
      check_open();
      const bool was_time = queue_.is_half_full();
      queue_.push(std::move(event));
      is_time = !was_time && queue_.is_half_full();
    }
    if (is_time) wake_.notify_one();
  }

  void run() noexcept {
    std::unique_lock lock(mutex_);
    for (bool is_last = false; !is_last;) {
      wake_.wait_for(lock, options_.flush_interval, [&] {
        return closing_ || flushes_done_ != flushes_asked_ || queue_.is_half_full();
      });
      is_last = closing_;
      const std::uint64_t ticket = flushes_asked_;
      auto events = queue_.take();
      const std::size_t count = events.size();
      const std::int64_t first_step = queue_.first_step().value_or(0);
      lock.unlock();
      const std::string failure = write(events, first_step);
      events.clear();  // Freed before the lock, for which another thread may wait.
      lock.lock();
      if (!failure.empty()) {
        failure_ = failure;
        not_written_ += count;
      }
      report_first_loss();
      flushes_done_ = ticket;
      written_.notify_all();
    }
  }

  // Returns why `events` could not be written, or nothing.
  std::string write(const std::deque<formats::Event>& events, std::int64_t first_step) noexcept {
    try {
      file_.append(events, first_step);
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  std::uint64_t count_dropped() const noexcept { return queue_.dropped() + not_written_; }

  std::string text_of_loss(std::uint64_t count) const {
    const std::string why = failure_.empty()
                                ? path().string() +
                                      ": the queue was full: write fewer summaries, or "
                                      "enlarge SummaryOptions::queue_summaries and "
                                      "queue_bytes"
                                : failure_;
    return why + "; dropped summaries: " + std::to_string(count);
  }

  void report_first_loss() {
    if (is_loss_reported_ || count_dropped() == 0) return;
    report(text_of_loss(count_dropped()) + " so far");
    is_loss_reported_ = true;
  }

  // Prints the line in one write, because other threads and processes write to stderr, too.
  static void report(const std::string& what) {
    std::fputs(("rota: warning: " + what + "\n").c_str(), stderr);
  }

  os::Origin origin_;
  const SummaryOptions options_;
  exports::EventFile file_;  // Used by the thread alone, except for path().
  mutable std::mutex mutex_;
  std::condition_variable wake_;     // For the thread.
  std::condition_variable written_;  // For flush().
  exports::SummaryQueue queue_;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;
  std::uint64_t dropped_at_flush_ = 0;
  std::uint64_t not_written_ = 0;  // Summaries that the disk did not take.
  std::string failure_;            // The disk's latest failure.
  bool is_loss_reported_ = false;
  bool has_session_ = false;
  bool closing_ = false;
  const int exceptions_;
  std::thread thread_;  // The last member, because the thread uses all others.
};

SummaryWriter::SummaryWriter(const std::filesystem::path& folder, const SummaryOptions& options)
    : impl_(std::make_unique<Impl>(folder, options)) {}
SummaryWriter::~SummaryWriter() { impl_->origin().leave_elsewhere(impl_); }

void SummaryWriter::scalar(std::string_view tag, double value, std::int64_t step) {
  impl_->here().add(tag, formats::ScalarSummary{static_cast<float>(value)}, step);
}

void SummaryWriter::scalar(std::string_view tag, double value, std::int64_t step,
                           std::chrono::system_clock::time_point time) {
  impl_->here().add(tag, formats::ScalarSummary{static_cast<float>(value)}, step, wall_time(time));
}

void SummaryWriter::histogram(std::string_view tag, std::span<const float> values,
                              std::int64_t step) {
  impl_->here().add(
      tag, formats::HistogramSummary{std::vector<float>(values.begin(), values.end())}, step);
}

void SummaryWriter::histogram(std::string_view tag, std::span<const double> values,
                              std::int64_t step) {
  impl_->here().add(
      tag, formats::HistogramSummary{std::vector<double>(values.begin(), values.end())}, step);
}

void SummaryWriter::image(std::string_view tag, ImageShape shape,
                          std::span<const std::uint8_t> pixels, std::int64_t step) {
  check_image(tag, shape, pixels);
  impl_->here().add(tag, formats::ImageSummary{shape, {pixels.begin(), pixels.end()}}, step);
}

void SummaryWriter::text(std::string_view tag, std::string_view text, std::int64_t step) {
  impl_->here().add(tag, formats::TextSummary{formats::to_utf8(text)}, step);
}

void SummaryWriter::hyperparameters(const Hyperparameters& values,
                                    const std::vector<std::string>& metrics, std::int64_t step) {
  impl_->here().add_hyperparameters(values, metrics, step);
}

void SummaryWriter::graph(const OnnxGraph& graph, std::int64_t step) {
  impl_->here().add("graph", formats::GraphSummary{formats::encode_graph_definition(graph)}, step);
}

void SummaryWriter::flush() { impl_->here().flush(); }
bool SummaryWriter::flush_within(std::chrono::milliseconds limit) noexcept {
  return impl_->flush_within(limit);
}
void SummaryWriter::close(bool success) noexcept { impl_->close(success); }
std::uint64_t SummaryWriter::dropped() const noexcept { return impl_->dropped(); }
const std::filesystem::path& SummaryWriter::path() const noexcept { return impl_->path(); }

}  // namespace rota

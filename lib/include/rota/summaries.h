// Summaries of a training run, which TensorBoard shows: curves, histograms, images, text,
// hyperparameters, and the graph of the model.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/onnx.h>

namespace rota {

struct SummaryOptions {
  std::chrono::milliseconds flush_interval = std::chrono::seconds(5);
  // How many summaries, and how many bytes of them, may wait to be written.
  std::size_t queue_summaries = 10'000;
  std::size_t queue_bytes = std::size_t{64} << 20;
  // The step with which this run begins. Empty: the step of the first summary.
  std::optional<std::int64_t> first_step;
  // How long to wait for another writer of the folder to end. It may be of a process that was
  // killed, and has not ended yet.
  std::chrono::milliseconds other_writer_wait = std::chrono::seconds(10);
};

using Hyperparameter = std::variant<bool, std::int64_t, double, std::string>;
using Hyperparameters = std::vector<std::pair<std::string, Hyperparameter>>;

// Writes the summaries of one run to a new file of a folder, usually on rank 0. The folder may have
// files of earlier runs. If this run continues an interrupted one, TensorBoard drops what the
// interrupted run wrote at this run's first step and later. So TensorBoard shows one curve.
//
// A thread writes. The calls below only put a summary into a queue, and never wait for a disk. On
// average, scalar() takes at most 2 µs. If the disk is too slow and the queue is full, the oldest
// summaries in the queue are dropped. If the disk fails, the summaries that it did not take are
// dropped. Both are counted, and reported on stderr. Several threads may call a SummaryWriter at
// the same time.
//
// Each call takes its time from the system's clock, unless it is given a time. A tag names a curve:
// "loss/train". TensorBoard groups tags by the part before the first slash. Calls throw Error
// kInvalidArgument for a tag that is empty, is not UTF-8 or has control characters, such as a
// newline, and kClosed after close().
class ROTA_EXPORT SummaryWriter {
 public:
  // Makes the folder if it is missing, and a file "events.out.tfevents.TIME.HOST.PID.N" in it. This
  // name sorts behind the names of all event files in the folder, since readers read the files in
  // the order of their names. Throws Error kCannotWrite, for example if another SummaryWriter, of
  // any process, writes to the folder. A file system without locks cannot show that.
  explicit SummaryWriter(const std::filesystem::path& folder, const SummaryOptions& options = {});
  // Calls close(). If an exception has ended the scope of this object, TensorBoard shows the
  // session of hyperparameters() as failed.
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  // Rounds `value` to float, as TensorBoard does. NaN and infinities are kept.
  void scalar(std::string_view tag, double value, std::int64_t step);
  // Does the same for a value of an earlier time, which TensorBoard then shows.
  void scalar(std::string_view tag, double value, std::int64_t step,
              std::chrono::system_clock::time_point time);

  // The values are copied, and counted in 30 buckets of equal width. NaN and infinities are in no
  // bucket: if there are any, the curve "TAG/not_finite" has their number.
  void histogram(std::string_view tag, std::span<const float> values, std::int64_t step);
  void histogram(std::string_view tag, std::span<const double> values, std::int64_t step);

  // `pixels` are copied: rows × columns × channels from 0 to 255, row-major, with 1 channel (grey)
  // or 3 (red, green, blue). Throws Error kInvalidArgument for any other shape or count.
  void image(std::string_view tag, ImageShape shape, std::span<const std::uint8_t> pixels,
             std::int64_t step);

  // TensorBoard reads `text` as Markdown. Bytes that are not UTF-8 become U+FFFD.
  void text(std::string_view tag, std::string_view text, std::int64_t step);

  // TensorBoard's page of hyperparameters compares runs in neighbouring folders by these values and
  // by the latest values of the scalars `metrics`. close() writes the end of the session.
  // Texts are as those of text(). Throws Error kInvalidArgument for a name that is not UTF-8.
  void hyperparameters(const Hyperparameters& values, const std::vector<std::string>& metrics,
                       std::int64_t step);

  // Writes a picture of the graph, without the values of its weights.
  void graph(const OnnxGraph& graph, std::int64_t step);

  // Returns when all earlier summaries are in the file: this call waits for the disk. Throws Error
  // kCannotWrite if any of them was dropped since the last flush().
  void flush();

  // Waits as flush() does, but no longer than `limit`. Returns whether no earlier summary waits any
  // more. Each of them is then in the file, or was dropped; only stderr says so. After close(),
  // returns true.
  bool flush_within(std::chrono::milliseconds limit) noexcept;

  // Writes what is in the queue, and ends the thread. Further calls have no effect. Never throws: a
  // failure is reported on stderr.
  void close(bool success = true) noexcept;

  // Returns how many summaries were dropped so far.
  std::uint64_t dropped() const noexcept;

  const std::filesystem::path& path() const noexcept;  // Of the file.

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota

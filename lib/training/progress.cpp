// Writes the lines that show the progress of a training run.
#include <rota/progress.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "base/hex.h"
#include "base/number_text.h"
#include "os/host.h"

namespace rota {
namespace {

using base::fixed_text;

constexpr int kStandardOutput = 1;
constexpr double kLiveSeconds = 0.1;     // Between two updates of the live line.
constexpr double kPlainSeconds = 5.0;    // The shortest time between two plain lines.
constexpr std::size_t kPlainLines = 10;  // The limit of plain lines in an epoch.

// JSON has neither infinities nor NaN. For them, returns "null".
std::string json_number(double value) {
  return std::isfinite(value) ? base::shortest_text(value) : "null";
}

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') json += '\\';
    if (code >= 0x20) {
      json += c;
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(code));
      json += escape.data();
    }
  }
  return json + '"';
}

// Returns a text such as "0:07", "12:34" or "1:02:03".
std::string to_clock(double seconds) {
  const auto total = static_cast<long long>(std::ceil(std::clamp(seconds, 0.0, 3.6e8)));
  const auto two = [](long long value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  const std::string minutes_seconds = two(total / 60 % 60) + ":" + two(total % 60);
  if (total >= 3600) return std::to_string(total / 3600) + ":" + minutes_seconds;
  return minutes_seconds.front() == '0' ? minutes_seconds.substr(1) : minutes_seconds;
}

double per(double amount, double count) noexcept { return count > 0 ? amount / count : 0; }

double mean_loss(const Score& score) noexcept {
  return per(score.loss, static_cast<double>(score.samples));
}

double accuracy(const Score& score) noexcept {
  return per(static_cast<double>(score.correct), static_cast<double>(score.samples));
}

double images_per_second(const EpochReport& report) noexcept {
  return per(static_cast<double>(report.train.samples), report.epoch_seconds);
}

std::string of(std::size_t index, std::size_t count) {
  const std::string last = std::to_string(count);
  std::string text = std::to_string(index);
  text.insert(0, last.size() - std::min(last.size(), text.size()), ' ');
  return text + "/" + last;
}

std::size_t to_columns(const char* text) noexcept {
  const std::string_view digits = text == nullptr ? "" : text;
  std::size_t columns = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  return columns;
}

// Without the brace at the end.
std::string evaluation_json(std::uint64_t step, const Score& score) {
  return R"({"event":"evaluation","step":)" + std::to_string(step) + R"(,"samples":)" +
         std::to_string(score.samples) + R"(,"loss":)" + json_number(mean_loss(score)) +
         R"(,"accuracy":)" + json_number(accuracy(score));
}

std::string path_of(const EndReport& report) {
  return report.checkpoint.empty() ? "" : R"(,"path":)" + json_text(report.checkpoint);
}

}  // namespace

std::string to_text(const StepReport& report, double loss) {
  const std::size_t done = (report.epoch - 1) * report.step_count + report.step;
  const std::size_t all = report.epoch_count * report.step_count;
  const double left =
      per(report.train_seconds, static_cast<double>(done)) * static_cast<double>(all - done);
  return "epoch " + of(report.epoch, report.epoch_count) + "  step " +
         of(report.step, report.step_count) + "  " +
         fixed_text(per(static_cast<double>(report.samples), report.train_seconds), 0) +
         " images/s  loss " + fixed_text(loss, 4) + "  " + to_clock(left) + " left";
}

std::string to_text(const EvaluationReport& report) {
  return "evaluation of step " + std::to_string(report.steps) + "  " +
         base::counted_samples(report.score.samples) + "  loss " +
         fixed_text(mean_loss(report.score), 4) + "  accuracy " +
         fixed_text(100 * accuracy(report.score), 2) + " %";
}

std::string to_text(const CheckpointScore& score) {
  return to_text(EvaluationReport{.steps = score.step, .score = score.score}) + "  " + score.path;
}

std::string to_text(const EvaluatorReport& report) {
  const auto and_more = [](std::uint64_t count, const char* what) {
    return count == 0 ? "" : ", " + std::to_string(count) + what;
  };
  return "evaluated " + base::counted(report.evaluated, "checkpoint", "checkpoints") +
         and_more(report.missed, " missed") + and_more(report.damaged, " damaged") +
         and_more(report.left, " left over") + (report.has_ended ? "" : "; asked to end");
}

std::string to_text(const EpochReport& report) {
  const std::string validation =
      report.validation.samples == 0
          ? ""
          : "  validation loss " + fixed_text(mean_loss(report.validation), 4) +
                "  validation accuracy " + fixed_text(100 * accuracy(report.validation), 2) + " %";
  return "epoch " + of(report.epoch, report.epoch_count) + "  " +
         fixed_text(report.epoch_seconds, 2) + " s  " + fixed_text(images_per_second(report), 0) +
         " images/s  loss " + fixed_text(mean_loss(report.train), 4) + validation + "  test loss " +
         fixed_text(mean_loss(report.test), 4) + "  test accuracy " +
         fixed_text(100 * accuracy(report.test), 2) + " %";
}

std::string to_text(const BeginReport& report) {
  if (report.path.empty()) return {};
  const std::string what = report.fresh ? "starts with the parameters of " + report.path
                                        : "resumes after step " + std::to_string(report.step) +
                                              ", in epoch " + std::to_string(report.epoch) +
                                              ", from " + report.path;
  return what + (report.note.empty() ? "" : "  (" + report.note + ")");
}

std::string to_text(const CheckpointReport& report) {
  return "checkpoint of step " + std::to_string(report.step) + "  " +
         fixed_text(static_cast<double>(report.bytes) * 1e-6, 1) + " MB in " +
         fixed_text(report.seconds, 2) + " s  " + report.path +
         (report.left_out == 0
              ? ""
              : "  (" + base::counted(report.left_out, "save", "saves") + " left out meanwhile)");
}

// After a stop, the last evaluation is older than the weights, so its accuracy is not shown.
std::string to_text(const EndReport& report) {
  const std::string seconds = fixed_text(report.seconds, 1) + " s";
  const std::string how =
      report.stopped
          ? "stopped after " + base::counted(report.steps, "step", "steps") + " in all, " + seconds
          : "done in " + seconds + "  test accuracy " + fixed_text(100 * accuracy(report.test), 2) +
                " %";
  return how + "  weights " + base::to_hex(report.weights_hash);
}

std::string to_json(const BeginReport& report) {
  return R"({"event":"restored","step":)" + std::to_string(report.step) + R"(,"epoch":)" +
         std::to_string(report.epoch) + R"(,"path":)" + json_text(report.path) + R"(,"world":)" +
         std::to_string(report.saved_world_size) + R"(,"note":)" + json_text(report.note) + "}";
}

std::string to_json(const CheckpointReport& report) {
  return R"({"event":"checkpoint","step":)" + std::to_string(report.step) + R"(,"path":)" +
         json_text(report.path) + R"(,"bytes":)" + std::to_string(report.bytes) +
         R"(,"left_out":)" + std::to_string(report.left_out) + R"(,"stall_us":)" +
         std::to_string(report.stall_us) + R"(,"seconds":)" + json_number(report.seconds) + "}";
}

std::string to_json(const EvaluationReport& report) {
  return evaluation_json(report.steps, report.score) + "}";
}

std::string to_json(const CheckpointScore& score) {
  return evaluation_json(score.step, score.score) + R"(,"path":)" + json_text(score.path) + "}";
}

std::string to_json(const EvaluatorReport& report) {
  return R"({"event":"evaluated","checkpoints":)" + std::to_string(report.evaluated) +
         R"(,"missed":)" + std::to_string(report.missed) + R"(,"damaged":)" +
         std::to_string(report.damaged) + R"(,"left":)" + std::to_string(report.left) +
         R"(,"training_ended":)" + (report.has_ended ? "true" : "false") + "}";
}

std::string to_json(const EpochReport& report) {
  return R"({"event":"epoch","epoch":)" + std::to_string(report.epoch) + R"(,"steps":)" +
         std::to_string(report.step_count) + R"(,"images_per_second":)" +
         json_number(images_per_second(report)) + R"(,"train_seconds":)" +
         json_number(report.train_seconds) + R"(,"train_loss":)" +
         json_number(mean_loss(report.train)) + R"(,"test_loss":)" +
         json_number(mean_loss(report.test)) + R"(,"test_accuracy":)" +
         json_number(accuracy(report.test)) + "}";
}

std::string to_json(const EndReport& report) {
  const std::string what = report.stopped
                               ? R"("steps":)" + std::to_string(report.steps) + path_of(report)
                               : R"("test_accuracy":)" + json_number(accuracy(report.test));
  return std::string(R"({"event":")") + (report.stopped ? "stopped" : "done") + R"(","world":)" +
         std::to_string(report.world_size) + R"(,"transport":")" + report.transport +
         R"(","seconds":)" + json_number(report.seconds) + "," + what + R"(,"weights_hash":")" +
         base::to_hex(report.weights_hash) + R"("})";
}

ProgressOptions ProgressOptions::from_environment() {
  if (const auto columns = os::terminal_columns(kStandardOutput)) {
    return {static_cast<std::size_t>(*columns)};
  }
  return {to_columns(std::getenv("ROTA_TERMINAL"))};
}

Progress::Progress(std::ostream& out, const ProgressOptions& options)
    : out_(out), options_(options) {}

void Progress::on_begin(const BeginReport& report) {
  if (const std::string text = to_text(report); !text.empty()) write_line(text);
}

void Progress::on_step(const StepReport& report) {
  if (report.train_seconds < line_seconds_) {  // Another run: its clock starts at zero.
    since_line_ = {};
    line_step_ = 0;
    line_seconds_ = 0;
  }
  since_line_.loss += report.score.loss;
  since_line_.samples += report.score.samples;
  if (!due(report)) return;
  std::string line = to_text(report, mean_loss(since_line_));
  if (options_.columns > 0) {
    // A line as wide as the terminal would wrap, and could not be rewritten.
    line.resize(std::min(line.size(), options_.columns - 1));
    out_ << line << "\x1b[K\r" << std::flush;
  } else {
    write_line(line);
  }
  since_line_ = {};
  line_step_ = report.step;
  line_seconds_ = report.train_seconds;
}

bool Progress::due(const StepReport& report) const noexcept {
  const double seconds = report.train_seconds - line_seconds_;
  if (options_.columns > 0) return seconds >= kLiveSeconds;
  const std::size_t steps = report.step - line_step_;
  return seconds >= kPlainSeconds && steps * kPlainLines >= report.step_count;
}

void Progress::on_epoch(const EpochReport& report) {
  write_line(to_text(report));
  since_line_ = {};
  line_step_ = 0;
}

void Progress::on_checkpoint(const CheckpointReport& report) { write_line(to_text(report)); }

void Progress::on_end(const EndReport& report) { write_line(to_text(report)); }

void Progress::write_line(const std::string& text) {
  out_ << text << (options_.columns > 0 ? "\x1b[K\n" : "\n") << std::flush;
}

void JsonLines::on_step(const StepReport& report) {
  if (std::exchange(has_stepped_, true)) return;
  out_ << R"({"event":"first_step","train_seconds":)" << json_number(report.train_seconds) << "}"
       << std::endl;
}

void JsonLines::on_begin(const BeginReport& report) {
  has_stepped_ = false;
  if (!report.path.empty()) out_ << to_json(report) << std::endl;
}

void JsonLines::on_checkpoint(const CheckpointReport& report) {
  out_ << to_json(report) << std::endl;
}

void JsonLines::on_evaluation(const EvaluationReport& report) {
  if (report.is_validation) out_ << to_json(report) << std::endl;
}

void JsonLines::on_epoch(const EpochReport& report) { out_ << to_json(report) << std::endl; }

void JsonLines::on_end(const EndReport& report) { out_ << to_json(report) << std::endl; }

}  // namespace rota

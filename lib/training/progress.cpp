// Lines that show how training goes.
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

#include "os/host.h"

namespace rota {
namespace {

constexpr int kStandardOutput = 1;
constexpr double kLiveSeconds = 0.1;     // Between two states of the live line.
constexpr double kPlainSeconds = 5.0;    // Between two plain lines, and
constexpr std::size_t kPlainLines = 10;  // how many of them an epoch may have.

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

// JSON knows neither infinities nor NaN.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

// "0:07", "12:34", "1:02:03"
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

}  // namespace

std::string to_text(const StepReport& report, double loss) {
  const std::size_t done = (report.epoch - 1) * report.step_count + report.step;
  const std::size_t all = report.epoch_count * report.step_count;
  const double left =
      per(report.train_seconds, static_cast<double>(done)) * static_cast<double>(all - done);
  return "epoch " + of(report.epoch, report.epoch_count) + "  step " +
         of(report.step, report.step_count) + "  " +
         fixed(per(static_cast<double>(report.samples), report.train_seconds), 0) +
         " images/s  loss " + fixed(loss, 4) + "  " + to_clock(left) + " left";
}

std::string to_text(const EpochReport& report) {
  return "epoch " + of(report.epoch, report.epoch_count) + "  " + fixed(report.epoch_seconds, 2) +
         " s  " + fixed(images_per_second(report), 0) + " images/s  loss " +
         fixed(mean_loss(report.train), 4) + "  test loss " + fixed(mean_loss(report.test), 4) +
         "  test accuracy " + fixed(100 * accuracy(report.test), 2) + " %";
}

// What was evaluated last is not what was learnt last, where it was stopped.
std::string to_text(const EndReport& report) {
  const std::string seconds = fixed(report.seconds, 1) + " s";
  const std::string how =
      report.stopped ? "stopped after step " + std::to_string(report.steps) + ", " + seconds
                     : "done in " + seconds + "  test accuracy " +
                           fixed(100 * accuracy(report.test), 2) + " %";
  return how + "  weights " + hex(report.weights_hash);
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
                               ? R"("steps":)" + std::to_string(report.steps)
                               : R"("test_accuracy":)" + json_number(accuracy(report.test));
  return std::string(R"({"event":")") + (report.stopped ? "stopped" : "done") + R"(","world":)" +
         std::to_string(report.world_size) + R"(,"transport":")" + report.transport +
         R"(","seconds":)" + json_number(report.seconds) + "," + what + R"(,"weights_hash":")" +
         hex(report.weights_hash) + R"("})";
}

ProgressOptions ProgressOptions::from_environment() {
  if (const auto columns = os::terminal_columns(kStandardOutput)) {
    return {static_cast<std::size_t>(*columns)};
  }
  return {to_columns(std::getenv("ROTA_TERMINAL"))};
}

Progress::Progress(std::ostream& out, const ProgressOptions& options)
    : out_(out), options_(options) {}

void Progress::on_step(const StepReport& report) {
  if (report.train_seconds < line_seconds_) {  // The clock of another run, which starts at zero.
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

void Progress::on_end(const EndReport& report) { write_line(to_text(report)); }

void Progress::write_line(const std::string& text) {
  out_ << text << (options_.columns > 0 ? "\x1b[K\n" : "\n") << std::flush;
}

void JsonLines::on_step(const StepReport& report) {
  if (report.epoch != 1 || report.step != 1) return;
  out_ << R"({"event":"first_step","train_seconds":)" << json_number(report.train_seconds) << "}"
       << std::endl;
}

void JsonLines::on_epoch(const EpochReport& report) { out_ << to_json(report) << std::endl; }

void JsonLines::on_end(const EndReport& report) { out_ << to_json(report) << std::endl; }

}  // namespace rota

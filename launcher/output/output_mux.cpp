// Joins the ranks' output into rotarun's stdout and stderr, line by line, with a tag or a time
// before each line.
#include "launcher/output/output_mux.h"

#include <algorithm>
#include <utility>

namespace rota::launcher {
namespace {

constexpr std::size_t kTailLines = 10;
constexpr std::size_t kTailLineBytes = 1000;
constexpr std::string_view kClearLine = "\x1b[2K";

// The source of rotarun's own lines.
constexpr std::size_t kOwnLines = static_cast<std::size_t>(-1);

// Stands for every source from before the last begin().
constexpr std::size_t kFormer = static_cast<std::size_t>(-2);

bool ends_line(std::string_view segment) {
  return segment.ends_with('\n') || segment.ends_with('\r');
}

// Writes the last `count` digits of `number`, the last one just before `end`.
void write_digits(char* end, int count, unsigned number) {
  for (; count > 0; --count, number /= 10) *--end = static_cast<char>('0' + number % 10);
}

// Returns as much of a line as is remembered.
std::string_view beginning_of(std::string_view line) {
  if (line.size() <= kTailLineBytes) return line;
  line = line.substr(0, kTailLineBytes);
  return line.substr(0, line.size() - begun_bytes(line));
}

}  // namespace

Timestamp::Timestamp(std::chrono::system_clock::time_point time) noexcept {
  using namespace std::chrono;
  std::ranges::copy(std::string_view("0000-00-00T00:00:00.000Z"), text_.begin());
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const auto of_day = static_cast<unsigned>(duration_cast<milliseconds>(time - day).count());
  char* begin = text_.data();
  write_digits(begin + 4, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  write_digits(begin + 7, 2, static_cast<unsigned>(date.month()));
  write_digits(begin + 10, 2, static_cast<unsigned>(date.day()));
  write_digits(begin + 13, 2, of_day / 3'600'000);
  write_digits(begin + 16, 2, of_day / 60'000 % 60);
  write_digits(begin + 19, 2, of_day / 1000 % 60);
  write_digits(begin + 23, 3, of_day % 1000);
}

OutputMux::OutputMux(const Settings& settings) : settings_(settings) {
  for (const Stream stream : kStreams) {
    const auto index = static_cast<std::size_t>(stream);
    queues_[index].is_terminal = settings.is_terminal[index];
  }
  begin(settings.names);
}

void OutputMux::begin(std::vector<std::string> names) {
  passes_on_at_once_ = names.size() == 1 && !settings_.tags_lines && !settings_.has_times;
  splitters_.assign(names.size(), {});
  tails_.assign(names.size(), {});
  settings_.names = std::move(names);
  for (Queue& queue : queues_) {
    queue.last.index = kFormer;
    if (queue.live) queue.live->index = kFormer;
  }
}

OutputMux::Queue& OutputMux::queue_of(Stream stream) noexcept {
  return queues_[settings_.is_joined ? 0 : static_cast<std::size_t>(stream)];
}

LineSplitter& OutputMux::splitter_of(Source source) noexcept {
  return splitters_[source.index][static_cast<std::size_t>(source.stream)];
}

void OutputMux::remember(std::size_t index, Stream stream, std::string_view bytes) {
  if (stream != Stream::kErr) return;
  Tail& tail = tails_[index];
  tail.splitter.push(bytes, [&](std::string_view line) { tail.push(line); });
}

void OutputMux::on_bytes(std::size_t index, Stream stream, std::string_view bytes) {
  const Source source{index, stream};
  remember(index, stream, bytes);
  if (passes_on_at_once_) return write(source, bytes);
  splitter_of(source).push(bytes, [&](std::string_view line) { write(source, line); });
}

void OutputMux::on_end(std::size_t index, Stream stream) {
  const Source source{index, stream};
  splitter_of(source).finish([&](std::string_view line) { write(source, line); });
}

void OutputMux::say(std::string_view lines) { write({kOwnLines, Stream::kErr}, lines); }

void OutputMux::write(Source source, std::string_view segment) {
  if (segment.empty()) return;
  Queue& queue = queue_of(source.stream);
  const bool is_other = queue.last != source;
  // Ends the unfinished line of another source: a piece of a long line, or a last line.
  if (is_other && !queue.is_at_line_start) {
    queue.text += '\n';
    queue.is_at_line_start = true;
  }
  if (queue.is_terminal && queue.live && *queue.live != source) queue.text += kClearLine;
  const bool ends_live_line = segment == "\n" && queue.live == source;  // The "\n" of a "\r\n".
  if (queue.is_at_line_start && !ends_live_line) begin_line(source, queue);
  queue.text += segment;
  queue.is_at_line_start = ends_line(segment);
  queue.last = source;
  queue.live.reset();
  if (segment.back() == '\r') queue.live = source;
}

void OutputMux::begin_line(Source source, Queue& queue) const {
  if (source.index == kOwnLines) return;
  if (settings_.has_times) queue.text.append(time_).append(1, ' ');
  if (!settings_.tags_lines) return;
  queue.text.append("[").append(settings_.names[source.index]).append("] ");
}

std::string_view OutputMux::pending(Stream stream) const noexcept {
  const Queue& queue = queues_[static_cast<std::size_t>(stream)];
  return std::string_view(queue.text).substr(queue.written);
}

void OutputMux::consume(Stream stream, std::size_t count) {
  Queue& queue = queues_[static_cast<std::size_t>(stream)];
  queue.written += count;
  // Moving the rest to the front each time would cost more than the writing itself.
  if (queue.written < queue.text.size() / 2 && queue.written < queue.text.size()) return;
  queue.text.erase(0, queue.written);
  queue.written = 0;
}

void OutputMux::discard(Stream stream) { consume(stream, pending(stream).size()); }

std::vector<std::string> OutputMux::last_words(std::size_t index) const {
  Tail tail = tails_[index];
  tail.splitter.finish([&](std::string_view line) { tail.push(line); });
  std::vector<std::string> lines;
  for (const std::string& line : tail.lines) {
    lines.push_back(line.substr(0, std::min(line.find_first_of("\r\n"), line.size())));
  }
  return lines;
}

void OutputMux::Tail::push(std::string_view line) {
  const bool follows_live_line = !lines.empty() && lines.back().ends_with('\r');
  if (line == "\n") {
    // The line that it ends stays: the last state of a display, or the text of a "\r\n".
    if (follows_live_line) lines.back() += '\n';
    return;
  }
  // A progress display writes each line over the one before.
  if (follows_live_line) lines.pop_back();
  const bool is_live = line.ends_with('\r');
  lines.emplace_back(beginning_of(line));
  if (is_live && !lines.back().ends_with('\r')) lines.back() += '\r';
  if (lines.size() > kTailLines) lines.pop_front();
}

}  // namespace rota::launcher

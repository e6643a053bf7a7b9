// Joins the ranks' output into two streams, line by line, and keeps each rank's last words. Uses no
// descriptor: bytes come in, and stay in a queue until the caller writes them.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/output/line_splitter.h"

namespace rota::launcher {

enum class Stream : std::size_t { kOut = 0, kErr = 1 };

inline constexpr std::array<Stream, 2> kStreams = {Stream::kOut, Stream::kErr};

// The time at which a line came, as it is written before the line: UTC by ISO 8601, to the
// millisecond, "2026-03-09T16:05:07.042Z". The text always has the same length, for years from 0 to
// 9999.
class Timestamp {
 public:
  explicit Timestamp(std::chrono::system_clock::time_point time) noexcept;

  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 24> text_;
};

class OutputMux {
 public:
  struct Settings {
    std::vector<std::string> names{"rank 0"};  // By source; calls give a source's index.
    bool tags_lines = false;
    bool has_times = false;  // Each line begins with the last set_time().
    bool is_joined = false;  // Both streams lead to the same place, so they share a queue.
    std::array<bool, 2> is_terminal{};
  };
  explicit OutputMux(const Settings& settings);

  // Replaces the sources by others with these names. The earlier sources have ended.
  void begin(std::vector<std::string> names);

  // Sets the time of bytes that come from now on; a string of the same length each time.
  void set_time(std::string_view time) { time_ = time; }

  void on_bytes(std::size_t index, Stream stream, std::string_view bytes);

  // Takes bytes that are written elsewhere: only for last_words().
  void remember(std::size_t index, Stream stream, std::string_view bytes);

  void on_end(std::size_t index, Stream stream);

  // Adds lines of rotarun's own to the error stream.
  void say(std::string_view lines);

  // Returns the bytes that wait to be written to a stream; with is_joined, kOut has all of them.
  std::string_view pending(Stream stream) const noexcept;
  void consume(Stream stream, std::size_t count);
  void discard(Stream stream);

  // Returns the last lines of a rank's stderr, without their ends.
  std::vector<std::string> last_words(std::size_t index) const;

 private:
  struct Source {
    std::size_t index = 0;
    Stream stream = Stream::kOut;
    friend bool operator==(const Source&, const Source&) = default;
  };

  struct Queue {
    std::string text;
    std::size_t written = 0;  // Bytes of `text` that are written already.
    bool is_terminal = false;
    bool is_at_line_start = true;
    Source last;                 // The source of the last segment.
    std::optional<Source> live;  // The source of the progress display in the last line.
  };

  // The last lines of one rank's stderr.
  struct Tail {
    LineSplitter splitter;
    std::deque<std::string> lines;  // Each with its end, if it has one.
    void push(std::string_view line);
  };

  Queue& queue_of(Stream stream) noexcept;
  LineSplitter& splitter_of(Source source) noexcept;
  void write(Source source, std::string_view segment);

  void begin_line(Source source, Queue& queue) const;

  Settings settings_;
  bool passes_on_at_once_ = false;  // With one rank, there is nothing to keep apart.
  std::string time_;
  std::array<Queue, 2> queues_;
  std::vector<std::array<LineSplitter, 2>> splitters_;
  std::vector<Tail> tails_;
};

}  // namespace rota::launcher

// The pipes from the ranks, the files that copy them, and our own two outputs.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/output/output_mux.h"
#include "launcher/plan/host_share.h"
#include "os/fd.h"
#include "os/output.h"
#include "os/poll_set.h"

namespace rota::launcher {

// How output can be taken, where it is shown.
struct Flow {
  bool is_held = false;             // Too much waits to be written.
  std::array<bool, 2> is_closed{};  // By stream: nobody reads it any more.

  friend bool operator==(const Flow&, const Flow&) = default;
};
int to_number(Flow flow) noexcept;
Flow to_flow(int number) noexcept;

class RankOutput {
 public:
  explicit RankOutput(const Options& options);  // Of nobody yet.

  // From now on it is the output of those with these names, such as "rank 3"; all calls name one by
  // its index. Of those before them all that is in their pipes now is taken, and no more. Makes
  // DIR/rank.3/stdout and stderr for each where it makes files and the options have an
  // output_directory; a file that it has made before goes on. Throws UsageError naming what cannot
  // be made.
  void begin(const std::vector<std::string>& names, bool makes_files);

  // Takes the read ends of a rank's pipes.
  void attach(std::size_t index, os::Fd out, os::Fd err);

  // One turn of the loop. Never blocks. While too much waits to be written to one of our outputs,
  // the ranks' pipes for it are left alone, so that the ranks wait for the reader as in a pipeline.
  void add_to(os::PollSet& polls);
  void handle(const os::PollSet& polls);

  // Reads all that is in the pipes now, and takes what is left in them for the end.
  void drain();

  // Reads all that is in one rank's pipes now.
  void catch_up(std::size_t index);

  // Output that is shown on another host: it is handed on as it comes; never again once `carry` is
  // empty.
  using Carry = std::function<void(std::size_t index, Stream stream, std::string_view bytes)>;
  void carry_away(Carry carry) { carry_ = std::move(carry); }

  // There: what a guest wrote; how the output flows now; and here, what came of it.
  void on_guest(std::size_t index, Stream stream, std::string_view bytes);
  Flow flow() const noexcept;
  void on_flow(Flow flow);

  void say(const std::string& lines) { mux_.say(lines); }
  std::vector<std::string> last_words(std::size_t index) const { return mux_.last_words(index); }
  bool has_pending() const noexcept;

  // Says how much our outputs did not take, for want of room; false where they took all.
  bool tell_losses();

 private:
  struct Copy {
    os::Fd file;
    bool is_at_line_start = true;
  };
  struct Pipe {
    os::Fd fd;
    Copy* copy = nullptr;  // Null: none is made.
    std::size_t position = kNotPolled;

    bool has_file() const noexcept { return copy && copy->file; }
  };
  struct Sink {
    os::Output output;
    bool is_closed = false;
    std::size_t lost_bytes = 0;
    std::size_t position = kNotPolled;
  };
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  void open_files(const std::vector<std::string>& names);
  Copy* open_file(const os::Fd& folder, const std::string& path, const std::string& name);
  bool is_full(Stream stream) const noexcept;
  void take(std::size_t index, Stream stream, std::string_view bytes);
  Stream sink_of(Stream stream) const noexcept { return is_joined_ ? Stream::kOut : stream; }
  bool read_once(std::size_t index, Stream stream);
  void copy_to_file(const Pipe& pipe, std::string_view bytes);
  std::string_view with_times(Copy& copy, std::string_view bytes);
  static void close(Pipe& pipe);
  void write_once(Stream stream);
  void lose_pending(Stream stream, int error);
  std::string name_of(Stream stream) const;
  void close_pipes_of(Stream stream);

  bool is_joined_;
  bool has_times_;
  std::string directory_;  // Of the files; empty: there are none.
  OutputMux mux_;
  std::array<Sink, 2> sinks_;
  std::map<std::string, Copy> copies_;      // By path: those that have been made.
  std::vector<std::array<Pipe, 2>> pipes_;  // The second index: stream.
  std::vector<char> buffer_;
  Timestamp time_;           // Of what was read last.
  std::string timed_bytes_;  // Kept, so that a line takes no memory of its own.
  Carry carry_;
  bool is_held_ = false;
};

}  // namespace rota::launcher

// RankOutput handles the output of the ranks: it reads the ranks' pipes, copies the output to
// files, and writes rotarun's stdout and stderr.
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
#include "launcher/plan/host_assignment.h"
#include "os/fd.h"
#include "os/output.h"
#include "os/poll_set.h"

namespace rota::launcher {

// Whether the host that shows the output can take more of it.
struct Flow {
  bool is_held = false;             // Too much waits to be written.
  std::array<bool, 2> is_closed{};  // By stream: nobody reads it any more.

  friend bool operator==(const Flow&, const Flow&) = default;
};
int to_number(Flow flow) noexcept;
Flow to_flow(int number) noexcept;

class RankOutput {
 public:
  explicit RankOutput(const Options& options);  // No sources yet.

  // Replaces the sources by sources with these names, such as "rank 3"; all calls name a source by
  // its index. Reads the bytes that are in the pipes of the earlier sources now, and no more. If
  // `makes_files` is set and the options have an output_directory, makes DIR/rank.3/stdout and
  // stderr for each source. A file that this object made before is continued. Throws UsageError
  // that names what cannot be made.
  void begin(const std::vector<std::string>& names, bool makes_files);

  // Takes the read ends of a rank's pipes.
  void attach(std::size_t index, os::Fd out, os::Fd err);

  // Each of these functions makes one iteration of the loop, and never blocks. While too much waits
  // to be written to one of rotarun's outputs, rotarun does not read the ranks' pipes for that
  // output: the ranks wait for the reader as in a pipeline.
  void add_to(os::PollSet& polls);
  void handle(const os::PollSet& polls);

  // Reads all that is in the pipes now, as the end of the output, and closes the pipes.
  void drain();

  // Reads all that is in one rank's pipes now.
  void catch_up(std::size_t index);

  // From now on, `carry` gets the output as it comes, and another host shows it. After a call with
  // an empty `carry`, this host handles the output itself again.
  using Carry = std::function<void(std::size_t index, Stream stream, std::string_view bytes)>;
  void carry_away(Carry carry) { carry_ = std::move(carry); }

  // Connect the host that shows the output with the host of a member. On the host that shows the
  // output, on_remote_member() takes the output of a member, and flow() returns whether more can be
  // taken now. On the host of the member, on_flow() takes that flow.
  void on_remote_member(std::size_t index, Stream stream, std::string_view bytes);
  Flow flow() const noexcept;
  void on_flow(Flow flow);

  void say(const std::string& lines) { mux_.say(lines); }
  std::vector<std::string> last_words(std::size_t index) const { return mux_.last_words(index); }
  bool has_pending() const noexcept;

  // Prints how many bytes rotarun's outputs did not take, for example because of a full disk.
  // Returns false if the outputs took all bytes.
  bool tell_losses();

 private:
  struct Copy {
    std::string path{};
    os::Fd file{};
    bool is_at_line_start = true;
  };
  struct Pipe {
    os::Fd fd;
    Copy* copy = nullptr;  // Null: no file is made.
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
  std::string directory_;  // The folder of the files; empty: no files.
  OutputMux mux_;
  std::array<Sink, 2> sinks_;
  std::map<std::string, Copy> copies_;      // By path: the files made so far.
  std::vector<std::array<Pipe, 2>> pipes_;  // Indexes: source, stream.
  std::vector<char> buffer_;
  Timestamp time_;           // The time of the last read.
  std::string timed_bytes_;  // Kept between reads, so that no read has to allocate memory.
  Carry carry_;
  bool is_held_ = false;
};

}  // namespace rota::launcher

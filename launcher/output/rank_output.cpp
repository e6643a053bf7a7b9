// Reads the ranks' pipes, and writes the ranks' output to rotarun's two outputs, to files, or to
// the host that shows it.
#include "launcher/output/rank_output.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <rota/error.h>

#include "os/host.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kMostPending = 1024 * 1024;

std::size_t index_of(Stream stream) noexcept { return static_cast<std::size_t>(stream); }

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(ErrorCode::kSystem, path + ": " + error.message());
}

OutputMux::Settings mux_settings(const Options& options) {
  OutputMux::Settings settings;
  settings.names.clear();
  settings.tags_lines = options.tag_output;
  settings.has_times = options.timestamp_output;
  settings.is_joined = os::are_same_file(os::kStdout, os::kStderr);
  settings.is_terminal = {os::terminal_columns(os::kStdout).has_value(),
                          os::terminal_columns(os::kStderr).has_value()};
  return settings;
}

}  // namespace

int to_number(Flow flow) noexcept {
  return (flow.is_held ? 1 : 0) | (flow.is_closed[0] ? 2 : 0) | (flow.is_closed[1] ? 4 : 0);
}

Flow to_flow(int number) noexcept {
  return {.is_held = (number & 1) != 0, .is_closed = {(number & 2) != 0, (number & 4) != 0}};
}

RankOutput::RankOutput(const Options& options)
    : is_joined_(os::are_same_file(os::kStdout, os::kStderr)),
      has_times_(options.timestamp_output),
      directory_(options.output_directory),
      mux_(mux_settings(options)),
      sinks_{Sink{os::Output(os::kStdout)}, Sink{os::Output(os::kStderr)}},
      buffer_(kReadBytes),
      time_({}) {}

void RankOutput::begin(const std::vector<std::string>& names, bool makes_files) {
  drain();
  mux_.begin(names);
  pipes_ = std::vector<std::array<Pipe, 2>>(names.size());
  if (makes_files && !directory_.empty()) open_files(names);
}

void RankOutput::open_files(const std::vector<std::string>& names) {
  try {
    make_directories(directory_);
    for (std::size_t index = 0; index < pipes_.size(); ++index) {
      std::string name = names[index];
      std::ranges::replace(name, ' ', '.');
      const std::string path = directory_ + "/" + name;
      const os::Fd folder = os::create_folder(path);
      pipes_[index][index_of(Stream::kOut)].copy = open_file(folder, path, "stdout");
      pipes_[index][index_of(Stream::kErr)].copy = open_file(folder, path, "stderr");
    }
  } catch (const Error& error) {
    throw UsageError(std::string("--output-filename: ") + error.what());
  }
}

RankOutput::Copy* RankOutput::open_file(const os::Fd& folder, const std::string& path,
                                        const std::string& name) {
  const auto [copy, is_new] = copies_.try_emplace(path + "/" + name);
  const auto open = is_new ? os::create_file : os::continue_file;
  copy->second.path = copy->first;
  copy->second.file = open(folder, path, name);
  return &copy->second;
}

void RankOutput::attach(std::size_t index, os::Fd out, os::Fd err) {
  pipes_[index][index_of(Stream::kOut)].fd = std::move(out);
  pipes_[index][index_of(Stream::kErr)].fd = std::move(err);
}

bool RankOutput::is_full(Stream stream) const noexcept {
  return is_held_ || mux_.pending(sink_of(stream)).size() > kMostPending;
}

void RankOutput::add_to(os::PollSet& polls) {
  for (auto& of_rank : pipes_) {
    for (const Stream stream : kStreams) {
      Pipe& pipe = of_rank[index_of(stream)];
      pipe.position = kNotPolled;
      if (pipe.fd && !is_full(stream)) pipe.position = polls.add(pipe.fd.get(), true, false);
    }
  }
  for (const Stream stream : kStreams) {
    Sink& sink = sinks_[index_of(stream)];
    sink.position = kNotPolled;
    if (!mux_.pending(stream).empty()) sink.position = polls.add(sink.output.fd(), false, true);
  }
}

void RankOutput::handle(const os::PollSet& polls) {
  for (std::size_t index = 0; index < pipes_.size(); ++index) {
    for (const Stream stream : kStreams) {
      const Pipe& pipe = pipes_[index][index_of(stream)];
      if (pipe.position != kNotPolled && polls.readable(pipe.position)) read_once(index, stream);
    }
  }
  for (const Stream stream : kStreams) {
    const Sink& sink = sinks_[index_of(stream)];
    if (sink.position != kNotPolled && polls.writable(sink.position)) write_once(stream);
  }
}

bool RankOutput::read_once(std::size_t index, Stream stream) {
  Pipe& pipe = pipes_[index][index_of(stream)];
  if (!pipe.fd) return false;
  const os::ReadResult result = os::read_available(pipe.fd.get(), buffer_);
  if (result.io == os::Io::kWouldBlock) return false;
  if (result.io == os::Io::kClosed) {
    mux_.on_end(index, stream);
    close(pipe);
    return false;
  }
  const std::string_view bytes(buffer_.data(), result.count);
  if (carry_) {
    mux_.remember(index, stream, bytes);
    carry_(index, stream, bytes);
  } else {
    take(index, stream, bytes);
  }
  return true;
}

void RankOutput::take(std::size_t index, Stream stream, std::string_view bytes) {
  if (has_times_) {
    time_ = Timestamp(std::chrono::system_clock::now());
    mux_.set_time(time_.text());
  }
  copy_to_file(pipes_[index][index_of(stream)], bytes);
  if (!sinks_[index_of(sink_of(stream))].is_closed) mux_.on_bytes(index, stream, bytes);
}

void RankOutput::on_remote_member(std::size_t index, Stream stream, std::string_view bytes) {
  take(index, stream, bytes);
}

Flow RankOutput::flow() const noexcept {
  Flow flow;
  for (const Stream stream : kStreams) {
    flow.is_held = flow.is_held || mux_.pending(stream).size() > kMostPending;
    // A stream that is copied to a file is not closed: the file still takes the output.
    const auto has_file = [&](const auto& of_rank) { return of_rank[index_of(stream)].has_file(); };
    flow.is_closed[index_of(stream)] =
        sinks_[index_of(sink_of(stream))].is_closed && std::ranges::none_of(pipes_, has_file);
  }
  return flow;
}

void RankOutput::on_flow(Flow flow) {
  is_held_ = flow.is_held;
  for (const Stream stream : kStreams) {
    if (flow.is_closed[index_of(stream)]) close_pipes_of(stream);
  }
}

void RankOutput::copy_to_file(const Pipe& pipe, std::string_view bytes) {
  if (!pipe.has_file()) return;
  try {
    os::write_file(pipe.copy->file, has_times_ ? with_times(*pipe.copy, bytes) : bytes);
  } catch (const Error& error) {
    pipe.copy->file.reset();
    say("rotarun: warning: --output-filename: " + pipe.copy->path +
        " is incomplete: " + error.what() + "\n");
  }
}

std::string_view RankOutput::with_times(Copy& copy, std::string_view bytes) {
  timed_bytes_.clear();
  while (!bytes.empty()) {
    if (copy.is_at_line_start) timed_bytes_.append(time_.text()).append(1, ' ');
    const std::size_t end = bytes.find('\n');
    copy.is_at_line_start = end != std::string_view::npos;
    const std::size_t count = copy.is_at_line_start ? end + 1 : bytes.size();
    timed_bytes_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
  return timed_bytes_;
}

void RankOutput::write_once(Stream stream) {
  Sink& sink = sinks_[index_of(stream)];
  const auto result = sink.output.write(mux_.pending(stream));
  if (result.io == os::Io::kDone) mux_.consume(stream, result.count);
  if (result.refusal != 0) lose_pending(stream, result.refusal);
  if (result.io != os::Io::kClosed) return;
  sink.is_closed = true;
  mux_.discard(stream);
  for (const Stream source : kStreams) {
    if (sink_of(source) == stream) close_pipes_of(source);
  }
}

// Drops and counts output that a disk does not take: a full disk does not end a training run.
void RankOutput::lose_pending(Stream stream, int error) {
  Sink& sink = sinks_[index_of(stream)];
  const bool is_first = sink.lost_bytes == 0;
  sink.lost_bytes += mux_.pending(stream).size();
  mux_.discard(stream);
  if (!is_first) return;
  say("rotarun: warning: " + name_of(stream) +
      " cannot be written; until it can, the ranks' output to it is lost: " +
      std::generic_category().message(error) + "\n");
}

std::string RankOutput::name_of(Stream stream) const {
  if (is_joined_) return "stdout and stderr";
  return stream == Stream::kOut ? "stdout" : "stderr";
}

bool RankOutput::tell_losses() {
  bool has_lost = false;
  for (const Stream stream : kStreams) {
    Sink& sink = sinks_[index_of(stream)];
    if (sink.lost_bytes == 0) continue;
    has_lost = true;
    say("rotarun: warning: " + std::to_string(sink.lost_bytes) + " bytes of " + name_of(stream) +
        " were lost\n");
    sink.lost_bytes = 0;
  }
  return has_lost;
}

// Closes the pipes of a stream that nobody reads any more: the next write ends the rank, as in a
// pipeline. A pipe that is copied to a file stays open, as the file still takes the output.
void RankOutput::close_pipes_of(Stream stream) {
  for (auto& of_rank : pipes_) {
    Pipe& pipe = of_rank[index_of(stream)];
    if (!pipe.has_file()) pipe.fd.reset();
  }
}

void RankOutput::catch_up(std::size_t index) {
  for (const Stream stream : kStreams) {
    // A pipe holds 16 reads at most, unless its writer keeps on writing.
    for (int i = 0; i < 16 && read_once(index, stream); ++i) {
    }
  }
}

void RankOutput::drain() {
  for (std::size_t index = 0; index < pipes_.size(); ++index) {
    catch_up(index);
    for (const Stream stream : kStreams) {
      mux_.on_end(index, stream);
      close(pipes_[index][index_of(stream)]);
    }
  }
}

void RankOutput::close(Pipe& pipe) {
  pipe.fd.reset();
  if (pipe.copy) pipe.copy->file.reset();
}

bool RankOutput::has_pending() const noexcept {
  for (const Stream stream : kStreams) {
    if (!mux_.pending(stream).empty()) return true;
  }
  return false;
}

}  // namespace rota::launcher

// Writes a file of records and its index.
#include <rota/records.h>

#include <string>
#include <string_view>
#include <system_error>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "formats/records.h"
#include "formats/replacing_file.h"
#include "os/origin.h"

namespace rota {
namespace {

// Small records are gathered, so that a record does not need a system call of its own.
constexpr std::size_t kGathered = std::size_t{1} << 20;

void check_free(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return;
  throw Error(ErrorCode::kCannotWrite,
              path.string() + ": cannot be written: it exists, and no data set is overwritten; " +
                  "move it away, or choose another name");
}

}  // namespace

struct RecordWriter::State {
  explicit State(const std::filesystem::path& path) : file(path), index(index_path(path)) {}

  // Returns this object. Throws Error kInvalidArgument if another process made it: both would write
  // to one file.
  State& here() {
    origin.require_here("this RecordWriter");
    return *this;
  }

  os::Origin origin;
  formats::ReplacingFile file;
  formats::ReplacingFile index;
  std::string gathered;
  std::vector<std::uint64_t> ends;
  bool has_failed = false;

  // Does `work`. If it throws, the file may end in half of a record, so no other work may follow.
  template <class Work>
  void do_work(const Work& work) {
    if (has_failed) {
      throw Error(ErrorCode::kCannotWrite,
                  "a file of records cannot be written or closed: an earlier record could not be "
                  "written");
    }
    has_failed = true;  // Stays true unless the work is done.
    work();
    has_failed = false;
  }
  void write_gathered() {
    file.append(base::bytes_of(gathered));
    gathered.clear();
  }
  void append(std::span<const std::byte> data) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    if (data.size() < kGathered) {
      formats::append_record(gathered, text);
      if (gathered.size() >= kGathered) write_gathered();
    } else {
      write_gathered();
      file.append(formats::record_head(data.size()));
      file.append(data);
      file.append(formats::record_tail(data));
    }
    const std::uint64_t begin = ends.empty() ? 0 : ends.back();
    ends.push_back(begin + formats::kRecordHeadBytes + data.size() + formats::kRecordTailBytes);
  }
  void close() {
    write_gathered();
    index.append(base::bytes_of(formats::encode_index(ends)));
    // The file gets its name first: readers can do without an index.
    file.commit();
    index.commit();
  }
};

RecordWriter::RecordWriter(const std::filesystem::path& path) {
  check_free(path);
  check_free(index_path(path));
  state_ = std::make_unique<State>(path);
}

RecordWriter::~RecordWriter() = default;
RecordWriter::RecordWriter(RecordWriter&& other) noexcept = default;
RecordWriter& RecordWriter::operator=(RecordWriter&& other) noexcept = default;

void RecordWriter::append(std::span<const std::byte> data) {
  State& state = state_->here();
  state.do_work([&] { state.append(data); });
}

std::size_t RecordWriter::count() const noexcept { return state_->ends.size(); }

void RecordWriter::close() {
  State& state = state_->here();
  state.do_work([&] { state.close(); });
}

}  // namespace rota

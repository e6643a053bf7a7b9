// Reads plain and gzipped files with a fixed amount of memory.
#include "training/data_file.h"

#include <algorithm>
#include <limits>
#include <system_error>

#include <rota/error.h>

#include "os/system_error.h"

namespace rota::training {
namespace {

constexpr std::array<std::uint8_t, 2> kGzipMagic = {0x1f, 0x8b};
constexpr std::size_t kMostInflation = 1032;  // The limit of deflate: 258 bytes in 2 bits.
constexpr int kGzipWindow = 15 + 16;          // The largest window; accepts only a gzip header.

const char* kind_of(std::filesystem::file_type type) noexcept {
  switch (type) {
    case std::filesystem::file_type::directory:
      return "a directory";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::socket:
      return "a socket";
    default:
      return "a device";
  }
}

}  // namespace

DataFile::DataFile(const std::filesystem::path& path) : name_(path.string()) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::status_known(status) || !std::filesystem::exists(status)) {
    const bool is_missing = std::filesystem::status_known(status);
    const std::string text = name_ + ": " + error.message();
    if (!is_missing) throw UnreadableFile(text);
    throw Error(ErrorCode::kNotFound, text);
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::kBadData,
                name_ + ": is " + kind_of(status.type()) + ", expected an IDX file");
  }
  file_.reset(std::fopen(name_.c_str(), "rb"));
  if (!file_) os::throw_unreadable(name_);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // window_ is the only buffer.

  std::array<std::uint8_t, 2> magic{};
  gzipped_ = read_raw(magic) == magic.size() && magic == kGzipMagic;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!error) most_contents_ = static_cast<std::size_t>(bytes) * (gzipped_ ? kMostInflation : 1);
  if (gzipped_ && ::inflateInit2(&stream_, kGzipWindow) != Z_OK) {
    throw Error(ErrorCode::kNoMemory, name_ + ": no memory to inflate it" + os::advice_on_memory());
  }
  std::rewind(file_.get());
}

DataFile::~DataFile() {
  if (gzipped_) ::inflateEnd(&stream_);
}

std::size_t DataFile::read(std::span<std::uint8_t> bytes) {
  return gzipped_ ? inflate_into(bytes) : read_raw(bytes);
}

std::size_t DataFile::read_raw(std::span<std::uint8_t> bytes) {
  const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file_.get());
  if (std::ferror(file_.get()) != 0) os::throw_unreadable("read of " + name_);
  return count;
}

void DataFile::fill_window() {
  stream_.next_in = window_.data();
  stream_.avail_in = static_cast<uInt>(read_raw(window_));
}

std::size_t DataFile::inflate_into(std::span<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size() && !ended_) {
    if (stream_.avail_in == 0) fill_window();
    if (stream_.avail_in == 0) {
      throw Error(ErrorCode::kBadData, name_ + ": the gzip stream ends early, at byte " +
                                           std::to_string(std::ftell(file_.get())) +
                                           " of the file: it was cut off");
    }
    const std::size_t room =
        std::min<std::size_t>(bytes.size() - done, std::numeric_limits<uInt>::max());
    stream_.next_out = bytes.data() + done;
    stream_.avail_out = static_cast<uInt>(room);
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (result == Z_STREAM_END) {
      end_member();
    } else if (result == Z_MEM_ERROR) {
      throw Error(ErrorCode::kNoMemory,
                  name_ + ": no memory to inflate it" + os::advice_on_memory());
    } else if (result != Z_OK) {
      throw Error(ErrorCode::kBadData,
                  name_ + ": the gzip stream is damaged: " +
                      (stream_.msg != nullptr ? stream_.msg : "unexpected end of a block"));
    }
  }
  return done;
}

// A gzip file may have several members; their contents follow one another.
void DataFile::end_member() {
  if (stream_.avail_in < kGzipMagic.size()) {
    // The rest of the input may be half of the next member's magic.
    const std::size_t left = stream_.avail_in;
    std::copy_n(stream_.next_in, left, window_.begin());
    const std::size_t more = read_raw(std::span(window_).subspan(left));
    stream_.next_in = window_.data();
    stream_.avail_in = static_cast<uInt>(left + more);
  }
  if (stream_.avail_in == 0) {
    ended_ = true;
  } else if (stream_.avail_in >= kGzipMagic.size() &&
             std::equal(kGzipMagic.begin(), kGzipMagic.end(), stream_.next_in)) {
    ::inflateReset(&stream_);  // Keeps the input.
  } else {
    throw Error(ErrorCode::kBadData, name_ + ": something follows the end of the gzip stream");
  }
}

}  // namespace rota::training

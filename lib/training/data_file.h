// The contents of a file as a stream of bytes; a gzipped file is inflated.
#pragma once
#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace rota::training {

class DataFile {
 public:
  // Throws Error kNotFound if the file is missing, UnreadableFile if it cannot be opened, kBadData
  // if it is not a regular file.
  explicit DataFile(const std::filesystem::path& path);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  // Returns the name of the file in messages.
  const std::string& name() const noexcept { return name_; }

  // Fills `bytes` from the contents and returns the number of bytes read. Fewer bytes than asked
  // for mean that the contents have ended, complete and undamaged. Throws UnreadableFile, and Error
  // kNoMemory, and kBadData for a gzip stream that is damaged, ends early or is followed by other
  // data.
  std::size_t read(std::span<std::uint8_t> bytes);

  // Returns the largest number of bytes that the contents can have, computed from the file's size.
  std::size_t most_contents() const noexcept { return most_contents_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::size_t read_raw(std::span<std::uint8_t> bytes);
  void fill_window();
  std::size_t inflate_into(std::span<std::uint8_t> bytes);
  void end_member();

  static constexpr std::size_t kWindowBytes = std::size_t{8} << 10;

  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  bool gzipped_ = false;
  std::size_t most_contents_ = 0;
  bool ended_ = false;  // The last gzip member has ended.
  z_stream stream_{};
  std::array<std::uint8_t, kWindowBytes> window_{};
};

}  // namespace rota::training

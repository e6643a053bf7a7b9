// Cuts a stream of bytes into lines, so that no two ranks' outputs mix within one line.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::launcher {

// Returns how many bytes at the end of `text` begin a character of UTF-8 that has more bytes.
inline std::size_t begun_bytes(std::string_view text) noexcept {
  constexpr std::size_t kMostBegun = 3;
  for (std::size_t count = 1; count <= std::min(kMostBegun, text.size()); ++count) {
    const auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if ((byte & 0xc0U) == 0x80U) continue;  // Within a character.
    const std::size_t length = byte >= 0xf0U ? 4 : byte >= 0xe0U ? 3 : byte >= 0xc0U ? 2 : 1;
    return length > count ? count : 0;
  }
  return 0;
}

// A line ends with '\n', or with '\r', after which a progress display overwrites it. A line that is
// longer than kMostBytes is passed on in pieces, so that one line cannot fill rotarun's memory. No
// piece ends within a character of UTF-8.
class LineSplitter {
 public:
  static constexpr std::size_t kMostBytes = 64 * 1024;

  // Calls emit(std::string_view) for each line that is complete now, with its end.
  template <class Emit>
  void push(std::string_view bytes, Emit&& emit) {
    while (!bytes.empty()) {
      const std::size_t count = first_line(bytes, kMostBytes - partial_.size());
      const bool is_whole = ends_line(bytes[count - 1]);
      if (is_whole && partial_.empty()) {
        emit(bytes.substr(0, count));
      } else {
        partial_.append(bytes.substr(0, count));
        if (is_whole) {
          finish(emit);
        } else if (partial_.size() == kMostBytes) {
          emit_piece(emit);
        }
      }
      bytes.remove_prefix(count);
    }
  }

  // Emits a last line that was not ended.
  template <class Emit>
  void finish(Emit&& emit) {
    if (partial_.empty()) return;
    emit(std::string_view(partial_));
    partial_.clear();
  }

 private:
  // Emits what there is of a line, except a last character whose bytes have not all come.
  template <class Emit>
  void emit_piece(Emit&& emit) {
    const std::size_t whole = partial_.size() - begun_bytes(partial_);
    emit(std::string_view(partial_).substr(0, whole));
    partial_.erase(0, whole);
  }

  static bool ends_line(char c) noexcept { return c == '\n' || c == '\r'; }

  // Returns how many of `bytes` belong to the first line, which may be incomplete; `most` at most.
  static std::size_t first_line(std::string_view bytes, std::size_t most) noexcept {
    std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos || end >= most) return std::min(bytes.size(), most);
    const bool is_crlf = bytes[end] == '\r' && end + 1 < bytes.size() && bytes[end + 1] == '\n';
    return is_crlf && end + 2 <= most ? end + 2 : end + 1;
  }

  std::string partial_;
};

}  // namespace rota::launcher

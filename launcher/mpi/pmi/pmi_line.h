// Cuts the bytes of a PMI-1 conversation into lines, and lines into fields. A line is one request
// or one answer: "cmd=get kvsname=job key=name".
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

// The largest number of bytes of a line. MPICH reads lines of 1024 bytes at most.
inline constexpr std::size_t kMostPmiLineBytes = 4096;

class PmiLine {
 public:
  // Returns nothing if the line is empty, has control characters, or has a word that is not
  // "name=value". `line` has no line end.
  static std::optional<PmiLine> parse(std::string_view line);

  // Returns the value of a field; null if the line has no such field. If a field comes twice, the
  // first counts.
  const std::string* find(std::string_view name) const noexcept;

  // text() returns the value, and number() the value as a whole number. Both are empty if there is
  // none.
  std::string_view text(std::string_view name) const noexcept;
  std::optional<int> number(std::string_view name) const noexcept;

 private:
  struct Field {
    std::string name;
    std::string value;
  };
  std::vector<Field> fields_;
};

// Collects bytes until they make a line.
class PmiLines {
 public:
  void append(std::string_view bytes) { bytes_ += bytes; }

  // Returns the next line, without its end; empty if no line is complete.
  std::optional<std::string> next();

  // Returns whether a line is too long: no line that follows can be trusted.
  bool is_too_long() const noexcept;

  // Returns the bytes that next() has not returned.
  std::string_view rest() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

// Returns a line as text for a person: short, and without control characters.
std::string quote_pmi_line(std::string_view line);

}  // namespace rota::launcher

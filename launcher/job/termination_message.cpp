// Writes the termination message, so that `kubectl describe pod` shows why the job ended.
#include "launcher/job/termination_message.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cluster/environment.h"
#include "launcher/job/end_report.h"
#include "os/file.h"

namespace rota::launcher {
namespace {

constexpr const char* kUsualFile = "/dev/termination-log";
constexpr const char* kFileVariable = "ROTA_TERMINATION_LOG";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the number of bytes of the first character; 0 if the character is not valid or not
// printable.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const bool is_printable = (first >= 0x20 && first < 0x7F) || first == '\n' || first == '\t';
  if (first < 0x80) return is_printable ? 1 : 0;
  const std::size_t count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < count) return 0;
  if (!std::ranges::all_of(text.substr(1, count - 1), is_continuation)) return 0;
  // Some sequences are not valid: one that is longer than necessary, one half of a surrogate pair,
  // or one beyond the last character.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return is_wrong ? 0 : count;
}

std::string to_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    result += bytes > 0 ? text.substr(0, bytes) : "?";
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

std::string_view cut(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  while (most_bytes > 0 && is_continuation(text[most_bytes])) --most_bytes;
  return text.substr(0, most_bytes);
}

// Returns where the quoted lines of a rank begin. These lines are at the end of the text.
std::size_t begin_of_quote(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t before = text.substr(0, begin - 1).rfind('\n');
    const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
    if (!text.substr(line).starts_with("  ")) break;
    begin = line;
  }
  return begin;
}

}  // namespace

std::string termination_message(const std::string& words, int exit_code) {
  const std::string end = "exit code " + std::to_string(exit_code) + "\n";
  const std::string text = to_utf8(words) + "\n";
  std::size_t quote = begin_of_quote(text);
  const std::string_view reason =
      cut(std::string_view(text).substr(0, quote), kMostMessageBytes - end.size() - 1);
  const std::size_t room = kMostMessageBytes - end.size() - 1 - reason.size();
  while (text.size() - quote > room) quote = text.find('\n', quote) + 1;
  std::string message(reason);
  if (!message.ends_with('\n')) message += '\n';
  return message + text.substr(quote) + end;
}

void leave_termination_message(const std::vector<std::string>& environment, int exit_code) {
  if (exit_code == 0 || noted_words().empty()) return;
  const std::string file = cluster::is_set(environment, kFileVariable)
                               ? cluster::find_variable(environment, kFileVariable)
                               : kUsualFile;
  os::overwrite_file(file, termination_message(noted_words(), exit_code));
}

}  // namespace rota::launcher

// Writes the termination message, so that `kubectl describe pod` shows why the job ended.
#include "launcher/job/termination_message.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "cluster/environment.h"
#include "launcher/job/end_report.h"
#include "os/file.h"

namespace rota::launcher {
namespace {

constexpr const char* kUsualFile = "/dev/termination-log";
constexpr const char* kFileVariable = "ROTA_TERMINATION_LOG";

bool is_printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7F) || c == '\n' || c == '\t';
}

// Replaces each byte that is no part of a character, or that is not printable.
std::string to_printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = is_printable(text.front()) ? base::character_bytes(text) : 0;
    result += bytes > 0 ? text.substr(0, bytes) : "?";
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
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
  const std::string text = to_printable(words) + "\n";
  std::size_t quote = begin_of_quote(text);
  const std::string_view reason =
      base::cut(std::string_view(text).substr(0, quote), kMostMessageBytes - end.size() - 1);
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

// Counts lines, columns and the lines of functions, and looks for words that only one folder may
// use.
#include "style/limits.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rota::style {
namespace {

constexpr std::size_t kMaxFileLines = 500;
constexpr std::size_t kMaxPublicHeaderLines = 200;
constexpr std::size_t kMaxReadmeLines = 80;
constexpr std::size_t kMaxArchitectureLines = 250;
constexpr std::size_t kAnyLines = ~std::size_t{0};
constexpr std::size_t kMaxColumns = 100;
constexpr std::size_t kMaxFunctionLines = 70;

// What they write or read depends on the locale.
constexpr std::string_view kLocaleWords[] = {
    "ostringstream", "stringstream", "setprecision", "sscanf",  "stod", "stof",
    "stold",         "strtod",       "strtof",       "strtold", "atof"};

bool is_header(const Source& source) { return source.path.ends_with(".h"); }

// Counts characters, not bytes: a byte 10xxxxxx continues a character.
std::size_t column_count(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Returns `head` without the words that may precede the keyword of a declaration.
std::string_view without_prefixes(std::string_view head) {
  for (bool again = true; again;) {
    again = false;
    head = trim(head);
    for (const std::string_view prefix :
         {"public:", "protected:", "private:", "inline ", "export "}) {
      if (!head.starts_with(prefix)) continue;
      head.remove_prefix(prefix.size());
      again = true;
    }
    if (!head.starts_with("template")) continue;
    std::size_t depth = 0;
    std::size_t i = std::min(head.find('<'), head.size());
    for (; i < head.size(); ++i) {
      if (head[i] == '<') ++depth;
      if (head[i] == '>' && --depth == 0) break;
    }
    head.remove_prefix(std::min(i + 1, head.size()));
    again = true;
  }
  return head;
}

bool starts_with_one_of(std::string_view head, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](auto word) {
    return head.starts_with(word) && (head.size() == word.size() || !is_word(head[word.size()]));
  });
}

// Returns whether a brace opens a scope. `head` is the text between this brace and the brace or
// semicolon before it.
bool opens_scope(std::string_view head) {
  return starts_with_one_of(head, {"namespace", "class", "struct", "union", "extern"});
}

bool opens_value(std::string_view head) {
  return head.ends_with('=') || starts_with_one_of(head, {"enum"});
}

struct Brace {
  bool is_scope = false;
  std::size_t first_line = 0;  // The function's first line if the brace opens one, otherwise 0.
};

// Returns the code without preprocessor lines, which may hold only one brace of a pair.
std::string without_directives(std::string code) {
  bool inside = false;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::string_view line = trim(std::string_view(code).substr(begin, end - begin));
    const bool is_directive = inside || line.starts_with('#');
    inside = is_directive && line.ends_with('\\');
    if (is_directive)
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(begin),
                code.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    begin = end + 1;
  }
  return code;
}

// Follows braces. A brace in a scope opens a function, unless it opens a scope or a value. The
// function starts where its declaration starts.
Findings check_functions(const Source& source) {
  Findings findings;
  const std::string code = without_directives(code_of(source.text));
  std::vector<Brace> open;
  std::size_t line = 1;
  std::size_t head_begin = 0;
  std::size_t head_line = 0;  // Line of the head's first non-space character; 0 before it.
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\n') ++line;
    if (head_line == 0 && std::isspace(static_cast<unsigned char>(c)) == 0) head_line = line;
    if (c == '{') {
      const auto head = without_prefixes(std::string_view(code).substr(head_begin, i - head_begin));
      const bool in_scope = std::ranges::all_of(open, &Brace::is_scope);
      const bool is_scope = in_scope && opens_scope(head);
      const bool is_function = in_scope && !is_scope && !opens_value(head);
      open.push_back({is_scope, is_function ? head_line : 0});
    } else if (c == '}' && !open.empty()) {
      const Brace brace = open.back();
      open.pop_back();
      const std::size_t line_count = line - brace.first_line + 1;
      if (brace.first_line != 0 && line_count > kMaxFunctionLines) {
        findings.push_back(at(source, brace.first_line) + "a function of " +
                           std::to_string(line_count) + " lines; split it: the limit is " +
                           std::to_string(kMaxFunctionLines));
      }
    }
    if (c == '{' || c == '}' || c == ';') {
      head_begin = i + 1;
      head_line = 0;
    }
  }
  return findings;
}

// Returns whether a line has a conversion of printf for floating-point numbers in a literal. `code`
// is the same line without literals and comments.
bool has_float_conversion(std::string_view line, std::string_view code) {
  if (trim(line).starts_with("//")) return false;  // A comment may name one.
  for (std::size_t i = line.find('%'); i != std::string_view::npos; i = line.find('%', i + 1)) {
    if (line.substr(i, 2) == "%%") {
      ++i;
      continue;
    }
    const std::size_t letter = line.find_first_not_of("-+#0123456789.*lL", i + 1);
    const bool is_float = letter != std::string_view::npos &&
                          std::string_view("aefgAEFG").find(line[letter]) != std::string_view::npos;
    if (is_float && code[i] == ' ') return true;
  }
  return false;
}

}  // namespace

Findings check_opening(const Source& source) {
  Findings findings;
  if (!source.text.starts_with("// ")) {
    findings.push_back(at(source, 1) + "a file must start with a comment that says what it is");
  }
  if (is_header(source) && code_of(source.text).find("#pragma once") == std::string::npos) {
    findings.push_back(at(source, 1) + "a header must have #pragma once");
  }
  // The words are written in halves: otherwise this file would fail the check.
  for (const std::string& mark : {std::string("TO") + "DO", std::string("FIX") + "ME"}) {
    if (contains_word(source.text, mark)) findings.push_back(source.path + ": has a " + mark);
  }
  return findings;
}

Findings check_limits(const Source& source) {
  Findings findings = check_functions(source);
  const auto lines = lines_of(source.text);
  const bool is_public = source.path.starts_with("lib/include/");
  const std::size_t max_lines = is_public ? kMaxPublicHeaderLines : kMaxFileLines;
  if (lines.size() > max_lines) {
    findings.push_back(source.path + ": " + std::to_string(lines.size()) + " lines; the limit is " +
                       std::to_string(max_lines));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t columns = column_count(lines[i]);
    if (columns > kMaxColumns) {
      findings.push_back(at(source, i + 1) + std::to_string(columns) + " columns; the limit is " +
                         std::to_string(kMaxColumns));
    }
  }
  return findings;
}

Findings check_page_length(const Source& page) {
  const std::size_t max_lines = page.path == "README.md"         ? kMaxReadmeLines
                                : page.path == "ARCHITECTURE.md" ? kMaxArchitectureLines
                                                                 : kAnyLines;
  const std::size_t count = lines_of(page.text).size();
  if (count <= max_lines) return {};
  return {page.path + ": " + std::to_string(count) + " lines; the limit is " +
          std::to_string(max_lines) + ": move a detail to docs/"};
}

Findings check_using(const Source& source) {
  Findings findings;
  if (is_header(source)) return findings;
  const std::string code = code_of(source.text);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    std::string_view name = trim(line);
    const bool is_declaration = name.starts_with("using ") && name.ends_with(';') &&
                                name.find('=') == std::string_view::npos &&
                                !name.starts_with("using namespace ") &&
                                !name.starts_with("using enum ");
    if (!is_declaration) continue;
    name.remove_suffix(1);
    name = name.substr(name.find_last_of(": ") + 1);
    const auto after = static_cast<std::size_t>(line.data() + line.size() - code.data());
    if (contains_word(std::string_view(code).substr(after), name)) continue;
    findings.push_back(at(source, number) + "brings in " + std::string(name) +
                       ", and does not use it");
  }
  return findings;
}

Findings check_errno(const Source& source) {
  if (source.path.starts_with("lib/os/")) return {};
  const std::string code = code_of(source.text);
  const bool has_word = contains_word(code, "errno") || contains_word(code, "cerrno") ||
                        contains_word(code, "strerror");
  return has_word
             ? Findings{source.path + ": knows errno, which is for lib/os to turn into an Error"}
             : Findings{};
}

Findings check_number_text(const Source& source) {
  Findings findings;
  const std::string code = code_of(source.text);
  const auto lines = lines_of(source.text);
  const auto code_lines = lines_of(code);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool has_word = std::ranges::any_of(
        kLocaleWords, [&](std::string_view word) { return contains_word(code_lines[i], word); });
    if (!has_word && !has_float_conversion(lines[i], code_lines[i])) continue;
    findings.push_back(at(source, i + 1) +
                       "numbers would have the point of the locale: use base/number_text.h to "
                       "write them, and std::from_chars to read them");
  }
  return findings;
}

Findings check_environment(const std::vector<Source>& sources) {
  std::vector<std::string> readers;
  for (const auto& source : sources) {
    const std::string code = code_of(source.text);
    if (contains_word(code, "getenv") || contains_word(code, "secure_getenv"))
      readers.push_back(source.path);
  }
  Findings findings;
  for (std::size_t i = 1; i < readers.size(); ++i) {
    findings.push_back(readers[i] + ": reads the environment, and so does " + readers[0]);
  }
  return findings;
}

}  // namespace rota::style

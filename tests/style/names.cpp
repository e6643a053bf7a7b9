// Looks the names of a page and of a picture up in the sources.
#include "style/names.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace rota::style {
namespace {

// Returns whether the code is a path. An ending alone (`.cpp`) is not a path, and a command
// (`./dev`) is not one either.
bool is_path(std::string_view code) {
  if (code == ".cpp" || code.starts_with("./")) return false;
  return code.find('/') != std::string_view::npos || code.ends_with(".h") ||
         code.ends_with(".cpp") || code.ends_with(".txt");
}

// Returns whether the code is a name, such as `HostPlan`, `rota::Error`, `PlanRun::step()` or
// `kFinish`, but not `rotarun` or `--encrypt`.
bool is_name(std::string_view code) {
  const bool is_plain = std::ranges::all_of(
      code, [](char c) { return is_word(c) || c == ':' || c == '(' || c == ')'; });
  const bool has_capital = std::ranges::any_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_plain && has_capital;
}

// Returns whether `wanted` names `path` or one of its folders, relative to any folder above it.
bool is_at(std::string_view path, std::string_view wanted) {
  const std::string anywhere = "/" + std::string(path);
  const std::string middle = "/" + std::string(wanted);
  if (wanted.ends_with('/')) return anywhere.find(middle) != std::string::npos;
  const std::string stem = anywhere.substr(0, anywhere.rfind('.'));
  return anywhere.ends_with(middle) || stem.ends_with(middle) ||
         anywhere.find(middle + "/") != std::string::npos;
}

std::set<std::string_view> words_of(const std::vector<Source>& sources) {
  std::set<std::string_view> words;
  for (const Source& source : sources) {
    const std::string_view text = source.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::size_t begin = i;
      while (i < text.size() && is_word(text[i])) ++i;
      if (i > begin) words.insert(text.substr(begin, i - begin));
    }
  }
  return words;
}

// Returns whether all words of the name exist: `PlanRun::step()` has the words PlanRun and step.
bool has_all_words(const std::set<std::string_view>& words, std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::size_t begin = i;
    while (i < name.size() && is_word(name[i])) ++i;
    if (i > begin && !words.contains(name.substr(begin, i - begin))) return false;
  }
  return true;
}

// Returns the names of files in a line of a picture; empty if it has none.
std::vector<std::string_view> names_in(std::string_view line) {
  std::vector<std::string_view> names;
  if (!line.starts_with("<text class='small'")) return names;
  std::string_view text = line.substr(line.find('>') + 1);
  text = text.substr(0, text.find_first_of("<:"));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view name = trim(text.substr(0, end));
    if (name.find(' ') == std::string_view::npos) names.push_back(name);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

Findings check_names(const Source& page, const std::vector<Source>& sources) {
  Findings findings;
  const auto words = words_of(sources);
  const auto exists = [&](std::string_view code) {
    if (!is_path(code)) return !is_name(code) || has_all_words(words, code);
    return std::ranges::any_of(sources,
                               [&](const Source& source) { return is_at(source.path, code); });
  };
  std::size_t number = 0;
  for (const std::string_view line : lines_of(page.text)) {
    ++number;
    for (std::size_t begin = line.find('`'); begin != std::string_view::npos;) {
      const std::size_t end = line.find('`', begin + 1);
      if (end == std::string_view::npos) break;
      const std::string_view code = line.substr(begin + 1, end - begin - 1);
      if (!exists(code)) {
        findings.push_back(at(page, number) + "nothing is called '" + std::string(code) + "'");
      }
      begin = line.find('`', end + 1);
    }
  }
  return findings;
}

Findings check_picture_names(const Source& picture, const std::vector<Source>& sources) {
  Findings findings;
  bool names_files = false;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(picture.text)) {
    ++number;
    for (const std::string_view name : names_in(trim(line))) {
      names_files = true;
      const auto has_name = [&](const Source& source) { return is_at(source.path, name); };
      if (std::ranges::any_of(sources, has_name)) continue;
      findings.push_back(at(picture, number) + "no file is called '" + std::string(name) + "'");
    }
  }
  if (!names_files) findings.push_back(picture.path + ": the picture names no file");
  return findings;
}

}  // namespace rota::style

// Reads the part of Markdown that the pages use.
#include "docs/pages.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace rota::testing {
namespace {

constexpr std::string_view kFence = "```";

std::string marker_in(const std::string& line) {
  static const std::regex kMarker(R"(<!-- (\S+) -->)");
  std::smatch match;
  return std::regex_match(line, match, kMarker) ? match[1].str() : std::string();
}

}  // namespace

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> all_pages(const std::filesystem::path& root) {
  std::vector<std::string> pages;
  const auto take = [&](const std::filesystem::path& path) {
    if (path.extension() == ".md") pages.push_back(path.lexically_relative(root).generic_string());
  };
  for (const auto& entry : std::filesystem::directory_iterator(root)) take(entry.path());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    take(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::vector<CodeBlock> blocks_of(const std::string& page, const std::string& text) {
  std::vector<CodeBlock> blocks;
  std::istringstream lines(text);
  std::string before;
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); before = line) {
    ++number;
    if (line.starts_with(kFence)) {
      inside = !inside;
      if (inside) {
        blocks.push_back({.page = page,
                          .line = number,
                          .language = line.substr(kFence.size()),
                          .marker = marker_in(before),
                          .text = {}});
      }
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  if (inside) throw std::runtime_error(page + ": a block that does not end");
  return blocks;
}

std::vector<std::string> links_of(const std::string& text) {
  static const std::regex kLink(R"(\]\(([^)\s#]+)[^)]*\))");
  std::vector<std::string> targets;
  for (std::sregex_iterator at(text.begin(), text.end(), kLink), end; at != end; ++at) {
    const std::string target = (*at)[1];
    if (target.find("://") == std::string::npos) targets.push_back(target);
  }
  return targets;
}

std::vector<Typed> typed_in(const std::string& block) {
  std::vector<Typed> all;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("$ ")) {
      std::istringstream words(line.substr(2));
      all.push_back({{std::istream_iterator<std::string>(words), {}}, {}});
    } else if (!all.empty()) {
      all.back().output += line + "\n";
    }
  }
  return all;
}

}  // namespace rota::testing

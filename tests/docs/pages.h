// Reads the pages of the documentation for their tests.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace rota::testing {

// A fenced block of a page.
struct CodeBlock {
  std::string page;      // Path, from the root of the project.
  std::size_t line = 0;  // Line of the fence, from 1.
  std::string language;  // The word after the fence.
  std::string marker;    // PATH of a line <!-- PATH --> just before it, or empty.
  std::string text;
};

std::string text_of(const std::filesystem::path& path);  // Throws if the file cannot be read.

// Returns every Markdown file at the root and in docs/, ordered by path.
std::vector<std::string> all_pages(const std::filesystem::path& root);

std::vector<CodeBlock> blocks_of(const std::string& page, const std::string& text);

// Returns the targets of the page's links [words](target), without links into the web or into the
// page itself.
std::vector<std::string> links_of(const std::string& text);

// One command of a console block: the words after "$ ", and the output that follows.
struct Typed {
  std::vector<std::string> words;
  std::string output;
};
std::vector<Typed> typed_in(const std::string& block);

}  // namespace rota::testing

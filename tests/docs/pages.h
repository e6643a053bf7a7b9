// The pages of the documentation, as their tests read them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace rota::testing {

// A fenced block of a page.
struct CodeBlock {
  std::string page;      // Path, from the root of the project.
  std::size_t line = 0;  // Of the fence, from 1.
  std::string language;  // What stands behind the fence.
  std::string marker;    // PATH of a line <!-- PATH --> just before it; empty where there is none.
  std::string text;
};

std::string text_of(const std::filesystem::path& path);  // Throws where it cannot be read.

// Every Markdown file at the root and in docs/, in the order of their paths.
std::vector<std::string> all_pages(const std::filesystem::path& root);

std::vector<CodeBlock> blocks_of(const std::string& page, const std::string& text);

// Where the page's links [words](target) lead, but for those into the web and into the page itself.
std::vector<std::string> links_of(const std::string& text);

// Of a block of console lines: what was typed behind each "$ ", and what came of it.
struct Typed {
  std::vector<std::string> words;
  std::string output;
};
std::vector<Typed> typed_in(const std::string& block);

}  // namespace rota::testing

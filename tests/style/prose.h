// Has the rules about sentences and words, in comments, docs and man pages.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "style/source.h"

namespace rota::style {

// A piece of prose without comment signs and other marks: a comment of several lines, or a
// paragraph of a page.
struct Paragraph {
  std::size_t line = 0;  // Of the file, where it starts.
  std::string text;
};

// Returns the prose of a file. In C++ and scripts, the prose is in comments. In Markdown (.md), it
// is in paragraphs and list items. In a man page (.1.in), it is the text between the macros. In a
// planted fault (.patch), it is the text above the first field. Code blocks and tables are not
// prose.
std::vector<Paragraph> prose_of(const Source& source);

// Reports sentences of more than 40 words, clauses within clauses within clauses ("that", "which"),
// and phrases that hide who does what.
Findings check_sentences(const Source& source);

// Reports comments that describe a C++ function without a verb: "Whether …", "The same for …".
Findings check_openings(const Source& source);

// Reports words that only rota used, in the path, in prose and in code. Each finding has the usual
// word.
Findings check_words(const Source& source);

// Returns the pages and man pages of the project: README.md and the other pages beside it, the
// pages in docs/, and the pages of other folders.
std::vector<Source> read_pages(const std::filesystem::path& root);

// Returns the planted faults.
std::vector<Source> read_patches(const std::filesystem::path& root);

// Returns the scripts of Bash, Python, AWK and CMake.
std::vector<Source> read_scripts(const std::filesystem::path& root);

// Returns the texts of other kinds: manifests, pictures, tables such as layers.txt, completions of
// shells, programs in Go, and the lists in .ci/.
std::vector<Source> read_other_texts(const std::filesystem::path& root);

}  // namespace rota::style

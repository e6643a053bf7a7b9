// Splits prose into sentences and code into words.
#include "style/prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace rota::style {
namespace {

constexpr std::size_t kMostWords = 40;
constexpr std::size_t kMostClauses = 2;  // Each begins with a word such as "that".

// Readers stumbled over each of these: it hides a noun, or has two meanings.
constexpr std::string_view kUnclear[] = {
    "a kubernetes of",
    "also between",
    "also if",
    "also those",
    "also when",
    "also while",
    "also within",
    "any but",
    "as ever",
    "as far as",
    "as of now",
    "as told",
    "but for",
    "by and by",
    "by one call",
    "differ by that",
    "does as well",
    "every manner",
    "for want of",
    "from it down",
    "hear of",
    "hears of",
    "how-manieth",
    "in vain",
    "includes this once",
    "is no rank",
    "keeps who",
    "manner of",
    "may be luck",
    "nobody's",
    "nothing is named",
    "of an own",
    "of them, those",
    "of those that",
    "of those which",
    "of those who",
    "of whom",
    "other half",
    "places behind",
    "ranks behind",
    "refuses its connection",
    "such as are",
    "taken where",
    "tells the world",
    "tests when",
    "tests where",
    "that that",
    "the former",
    "the latter",
    "them that",
    "those who",
    "to and fro",
    "to those of",
    "travel as they are",
    "that says that",
    "what of it",
    "which means itself",
    "without it,",
    "who asks for",
    "whoever",
    "whose sharing is theirs",
    "its users",
    "yardstick",
};

// A comment that begins so has no verb. Before a function, a verb says what the function does.
constexpr std::string_view kVerbless[] = {
    "empty if ",     "none if ",   "null if ", "one iteration of ", "the same as ", "the same for ",
    "the same with", "the same, ", "true if ", "whether ",          "zero if ",
};

struct Replaced {
  std::string_view old;  // In lower case.
  std::string_view now;
};
// Words that only rota used, and the words of MPI, NCCL or torchrun for the same things.
constexpr Replaced kReplaced[] = {
    {"island", "shared-memory domain"},
    {"islands", "shared-memory domains"},
    {"mate", "local peer"},
    {"mates", "local peers"},
    {"muster", "host registry"},
    {"musters", "host registries"},
    {"trunk", "launcher link"},
    {"trunks", "launcher links"},
    {"seat", "endpoint"},
    {"seats", "endpoints"},
    {"seating", "prepared ranks"},
    {"mailroom", "rank channels"},
    {"mailrooms", "rank channels"},
    {"switchboard", "message router"},
    {"household", "local processes"},
    {"loan", "descriptor handoff"},
    {"loans", "descriptor handoffs"},
    {"lend", "share"},
    {"lends", "shares"},
    {"lent", "shared"},
    {"manieth", "index"},
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

// Collects lines into paragraphs.
class Paragraphs {
 public:
  void add(std::size_t line, std::string_view text) {
    if (text_.empty()) line_ = line;
    if (!text_.empty()) text_ += ' ';
    text_ += text;
  }
  void end() {
    if (!text_.empty()) all_.push_back({line_, std::exchange(text_, {})});
  }
  std::vector<Paragraph> take() {
    end();
    return std::move(all_);
  }

 private:
  std::size_t line_ = 0;
  std::string text_;
  std::vector<Paragraph> all_;
};

// Returns the text after // in a line. `code` is the same line without comments.
std::string_view comment_of(std::string_view line, std::string_view code) {
  const std::size_t end = code.find_last_not_of(' ');
  const std::size_t begin = line.find("//", end == std::string_view::npos ? 0 : end + 1);
  return begin == std::string_view::npos ? std::string_view() : trim(line.substr(begin + 2));
}

std::vector<Paragraph> comments_of(const Source& source) {
  Paragraphs paragraphs;
  const std::string code = code_of(source.text);
  const auto lines = lines_of(source.text);
  const auto code_lines = lines_of(code);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view comment = comment_of(lines[i], code_lines[i]);
    const bool continues = trim(code_lines[i]).empty() && !comment.empty();
    if (!continues) paragraphs.end();
    if (!comment.empty() && !comment.starts_with("NOLINT")) paragraphs.add(i + 1, comment);
  }
  return paragraphs.take();
}

bool starts_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return true;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && line.substr(digits).starts_with(". ");
}

std::vector<Paragraph> paragraphs_of_page(const Source& source) {
  Paragraphs paragraphs;
  bool is_code = false;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(source.text)) {
    ++number;
    const std::string_view text = trim(line);
    const bool is_fence = text.starts_with("```");
    if (is_fence) is_code = !is_code;
    const bool is_prose = !is_code && !is_fence && !text.empty() && !text.starts_with('|') &&
                          !text.starts_with('#') && !text.starts_with('<');
    if (!is_prose || starts_item(text)) paragraphs.end();
    if (is_prose) paragraphs.add(number, text);
  }
  return paragraphs.take();
}

std::vector<Paragraph> paragraphs_of_manual(const Source& source) {
  Paragraphs paragraphs;
  bool is_code = false;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(source.text)) {
    ++number;
    if (line.starts_with(".nf") || line.starts_with(".EX")) is_code = true;
    if (line.starts_with(".fi") || line.starts_with(".EE")) is_code = false;
    const bool is_word_in_bold = line.starts_with(".B ") || line.starts_with(".I ") ||
                                 line.starts_with(".BR ") || line.starts_with(".IR ");
    const bool is_macro = line.starts_with('.') && !is_word_in_bold;
    if (is_code || is_macro || trim(line).empty()) {
      paragraphs.end();
      continue;
    }
    paragraphs.add(number, is_word_in_bold ? trim(line.substr(line.find(' '))) : trim(line));
  }
  return paragraphs.take();
}

// Returns only lines that consist of a comment, because in other lines a `#` may be part of the
// code.
std::vector<Paragraph> paragraphs_of_script(const Source& source) {
  Paragraphs paragraphs;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(source.text)) {
    ++number;
    const std::string_view text = trim(line);
    const bool is_comment = text.starts_with("# ");
    if (is_comment) {
      paragraphs.add(number, trim(text.substr(1)));
    } else {
      paragraphs.end();
    }
  }
  return paragraphs.take();
}

// Returns the text above the first field, which says what the fault is.
std::vector<Paragraph> paragraph_of_patch(const Source& source) {
  Paragraphs paragraphs;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(source.text)) {
    if (line.starts_with("Found-by:") || line.starts_with("---")) break;
    paragraphs.add(++number, trim(line));
  }
  return paragraphs.take();
}

// Returns whether a sentence ends at a position: after a mark that is followed by a space or by the
// end of the text.
bool ends_sentence(std::string_view text, std::size_t i) {
  const bool is_mark = std::string_view(".?!:;").find(text[i]) != std::string_view::npos;
  return is_mark && (i + 1 == text.size() || text[i + 1] == ' ');
}

// Counts words. Code between backticks counts as one word.
std::size_t word_count(std::string_view sentence) {
  std::size_t count = 0;
  bool is_code = false;
  bool has_letter = false;
  for (const char c : sentence) {
    if (c == '`') is_code = !is_code;
    has_letter = has_letter || std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (c != ' ' || is_code) continue;
    count += has_letter ? 1 : 0;
    has_letter = false;
  }
  return count + (has_letter ? 1 : 0);
}

// Returns the largest number of words such as "that" between two commas: a clause is in a clause.
std::size_t nested_clauses(std::string_view sentence) {
  constexpr std::string_view kOpeners[] = {"that", "which", "who", "whose"};
  std::size_t most = 0;
  std::size_t count = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= sentence.size(); ++i) {
    if (i < sentence.size() && is_letter(sentence[i])) continue;
    const std::string word = lower(sentence.substr(begin, i - begin));
    begin = i + 1;
    if (std::ranges::find(kOpeners, word) != std::end(kOpeners)) most = std::max(most, ++count);
    if (i < sentence.size() && sentence[i] == ',') count = 0;
  }
  return most;
}

std::string beginning_of(std::string_view sentence) {
  constexpr std::size_t kShown = 60;
  return "'" + std::string(sentence.substr(0, kShown)) + (sentence.size() > kShown ? "…'" : "'");
}

// Returns whether a comment in lower case begins without a verb: "Whether …", "As x, but …".
bool has_no_verb(std::string_view comment) {
  const auto begins = [&](std::string_view opening) { return comment.starts_with(opening); };
  if (std::ranges::any_of(kVerbless, begins)) return true;
  const std::string_view sentence = comment.substr(0, comment.find('.'));
  return sentence.starts_with("as ") && sentence.find(", but ") != std::string_view::npos;
}

// Returns whether the first code at or below a line declares a function.
bool declares_function(const std::vector<std::string_view>& code, std::size_t line) {
  const auto is_passed_over = [](std::string_view text) {
    return trim(text).empty() || trim(text).starts_with("template");
  };
  while (line < code.size() && is_passed_over(code[line])) ++line;
  if (line == code.size()) return false;
  const std::string_view declaration = code[line].substr(0, code[line].find_first_of("(=;{"));
  const bool is_in_type =
      std::ranges::count(declaration, '<') > std::ranges::count(declaration, '>');
  return code[line].substr(declaration.size()).starts_with('(') && !is_in_type;
}

// Returns whether a new word begins at `i` although a letter precedes it: "aWord", "AWord",
// "XMLWord".
bool begins_word(std::string_view text, std::size_t i) {
  if (!is_upper(text[i])) return false;
  const bool is_small_next =
      i + 1 < text.size() && is_letter(text[i + 1]) && !is_upper(text[i + 1]);
  return !is_upper(text[i - 1]) || is_small_next;
}

// Returns the next word of `text` from `i` on, in lower case.
std::string next_word(std::string_view text, std::size_t& i) {
  while (i < text.size() && !is_letter(text[i])) ++i;
  const std::size_t begin = i;
  while (i < text.size() && is_letter(text[i])) {
    if (i > begin && begins_word(text, i)) break;
    ++i;
  }
  return lower(text.substr(begin, i - begin));
}

Source read(const std::filesystem::path& root, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {path.lexically_relative(root).generic_string(),
          std::string(std::istreambuf_iterator<char>(file), {})};
}

// Returns the files below the project's folders that are `wanted`, ordered by path.
template <class Wanted>
std::vector<Source> read_files(const std::filesystem::path& root, const Wanted& wanted) {
  std::vector<Source> files;
  for (const char* folder :
       {".ci", "benchmarks", "cmake", "docs", "examples", "k8s", "launcher", "lib", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && wanted(entry.path()))
        files.push_back(read(root, entry.path()));
    }
  }
  std::ranges::sort(files, {}, &Source::path);
  return files;
}

bool is_script(const std::filesystem::path& path) {
  constexpr std::string_view kEndings[] = {".sh", ".py", ".awk", ".cmake"};
  const bool has_ending =
      std::ranges::find(kEndings, path.extension().string()) != std::end(kEndings);
  return has_ending || path.filename() == "CMakeLists.txt" || path.filename() == "run";
}

bool is_other_text(const std::filesystem::path& path) {
  constexpr std::string_view kEndings[] = {".bash", ".Dockerfile", ".go",  ".in",
                                           ".json", ".svg",        ".txt", ".yaml"};
  if (is_script(path) || path.filename().string().ends_with(".1.in")) return false;
  const bool has_ending =
      std::ranges::find(kEndings, path.extension().string()) != std::end(kEndings);
  return has_ending || path.filename() == "Dockerfile" || path.filename() == "allowed_skips" ||
         path.parent_path().filename() == "lanes";
}

// Reports words that only rota used. `where` is how a finding begins.
void find_replaced(std::string_view text, const std::string& where, Findings& findings) {
  for (std::size_t i = 0; i < text.size();) {
    const std::string word = next_word(text, i);
    const auto* const found = std::ranges::find(kReplaced, word, &Replaced::old);
    if (found == std::end(kReplaced)) continue;
    findings.push_back(where + "'" + word + "': say " + std::string(found->now));
  }
}

}  // namespace

std::vector<Paragraph> prose_of(const Source& source) {
  if (source.path.ends_with(".md")) return paragraphs_of_page(source);
  if (source.path.ends_with(".patch")) return paragraph_of_patch(source);
  if (source.path.ends_with(".1.in")) return paragraphs_of_manual(source);
  if (!source.path.ends_with(".h") && !source.path.ends_with(".cpp")) {
    return paragraphs_of_script(source);
  }
  return comments_of(source);
}

Findings check_sentences(const Source& source) {
  Findings findings;
  for (const Paragraph& paragraph : prose_of(source)) {
    const std::string small = lower(paragraph.text);
    for (const std::string_view phrase : kUnclear) {
      if (!contains_word(small, phrase)) continue;
      findings.push_back(at(source, paragraph.line) + "'" + std::string(phrase) +
                         "' hides who does what: name it, or make two sentences");
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < paragraph.text.size(); ++i) {
      if (!ends_sentence(paragraph.text, i) && i + 1 < paragraph.text.size()) continue;
      const auto sentence = trim(std::string_view(paragraph.text).substr(begin, i + 1 - begin));
      begin = i + 1;
      if (nested_clauses(sentence) > kMostClauses) {
        findings.push_back(at(source, paragraph.line) +
                           "clauses within clauses: " + beginning_of(sentence));
      }
      const std::size_t words = word_count(sentence);
      if (words <= kMostWords) continue;
      findings.push_back(at(source, paragraph.line) + "a sentence of " + std::to_string(words) +
                         " words: " + beginning_of(sentence));
    }
  }
  return findings;
}

Findings check_openings(const Source& source) {
  Findings findings;
  const std::string code = code_of(source.text);
  const auto code_lines = lines_of(code);
  for (const Paragraph& paragraph : comments_of(source)) {
    const std::string small = lower(paragraph.text);
    if (!has_no_verb(small) || !declares_function(code_lines, paragraph.line - 1)) continue;
    findings.push_back(at(source, paragraph.line) + beginning_of(paragraph.text) +
                       " describes a function: begin with a verb, such as 'Returns whether'");
  }
  return findings;
}

Findings check_words(const Source& source) {
  Findings findings;
  find_replaced(source.path, source.path + ": the path has ", findings);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(source.text)) {
    find_replaced(line, at(source, ++number), findings);
  }
  return findings;
}

std::vector<Source> read_pages(const std::filesystem::path& root) {
  auto pages = read_files(root, [&](const std::filesystem::path& path) {
    return path.extension() == ".md" || path.filename().string().ends_with(".1.in");
  });
  for (const char* page : {"README.md", "ARCHITECTURE.md", "HACKING.md", "CHANGELOG.md"}) {
    pages.push_back(read(root, root / page));
  }
  return pages;
}

std::vector<Source> read_patches(const std::filesystem::path& root) {
  return read_files(root,
                    [](const std::filesystem::path& path) { return path.extension() == ".patch"; });
}

std::vector<Source> read_scripts(const std::filesystem::path& root) {
  auto scripts = read_files(root, is_script);
  scripts.push_back(read(root, root / "dev"));
  scripts.push_back(read(root, root / "CMakeLists.txt"));
  return scripts;
}

std::vector<Source> read_other_texts(const std::filesystem::path& root) {
  return read_files(root, is_other_text);
}

}  // namespace rota::style

// Reads and writes YAML. No other file uses yaml-cpp.
#include "launcher/manifest/yaml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_set>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace rota::manifest {
namespace {

// The largest size of a document. No job needs nearly as much. Every copy that an alias makes adds
// to the size: aliases of aliases would otherwise exhaust memory.
constexpr std::size_t kMostTreeBytes = std::size_t{16} << 20;
constexpr std::size_t kNodeBytes = 128;  // As measured: a node in its map, without its text.
constexpr std::size_t kMostFields = 4096;
constexpr std::size_t kMostDepth = 64;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// Returns whether the text is a word for "true" in YAML 1.1, as Kubernetes' tools read it.
bool is_true(std::string_view text) {
  return is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"});
}

bool is_false(std::string_view text) {
  return is_one_of(text,
                   {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"});
}

bool is_null(std::string_view text) { return is_one_of(text, {"", "~", "null", "Null", "NULL"}); }

std::optional<std::int64_t> to_integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && (text.starts_with("0x") || text.starts_with("0o"))) {
    base = text[1] == 'x' ? 16 : 8;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
    text.remove_prefix(1);
  }
  if (text.empty() || text.starts_with('-')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_negative ? -value : value;
}

std::optional<double> to_float(std::string_view text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Tree plain_scalar(const std::string& text) {
  if (is_null(text)) return nullptr;
  if (is_true(text)) return true;
  if (is_false(text)) return false;
  if (const auto integer = to_integer(text)) return *integer;
  if (const auto number = to_float(text)) return *number;
  return text;
}

// Returns whether a string must have quotes. This is also true for some strings that this parser
// would read correctly without quotes: parsers of YAML 1.2, or of base-60 numbers such as 1:30,
// might read them as another type.
bool needs_quotes(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/';
  };
  const bool is_flag = text.size() > 2 && text.starts_with("--") && is_letter(text[2]);
  const bool is_plain = is_flag || (!text.empty() && is_letter(text.front()));
  return !is_plain || !plain_scalar(text).is_string();
}

// Returns whether the tree is a list of scalars. Such a list is on one line, as people write it.
bool is_short_list(const Tree& tree) {
  return tree.is_array() && std::ranges::all_of(tree, &Tree::is_primitive);
}

void write(YAML::Emitter& out, const Tree& tree);

void write_map(YAML::Emitter& out, const Tree& tree) {
  if (tree.empty()) out << YAML::Flow;
  out << YAML::BeginMap;
  for (const auto& [name, value] : tree.items()) {
    out << YAML::Key << name << YAML::Value;
    if (name == "defaultMode" && value.is_number_integer()) {
      std::array<char, 24> octal{};  // As chmod writes it.
      std::snprintf(octal.data(), octal.size(), "0%llo", value.get<unsigned long long>());
      out << octal.data();
    } else {
      write(out, value);
    }
  }
  out << YAML::EndMap;
}

void write(YAML::Emitter& out, const Tree& tree) {
  switch (tree.type()) {
    case Tree::value_t::object:
      write_map(out, tree);
      break;
    case Tree::value_t::array:
      if (is_short_list(tree)) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Tree& each : tree) write(out, each);
      out << YAML::EndSeq;
      break;
    case Tree::value_t::string: {
      const auto text = tree.get<std::string>();
      if (needs_quotes(text)) out << YAML::DoubleQuoted;
      out << text;
      break;
    }
    default:
      out << tree.dump();
  }
}

std::string at(const YAML::Mark& mark) { return "line " + std::to_string(mark.line + 1) + ": "; }

// Builds trees while yaml-cpp parses, so that a limit stops the parser before memory is used.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::size_t& bytes) : bytes_(bytes) {}

  std::vector<Tree> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {
    documents_.push_back(std::move(root_));
    root_ = nullptr;
    anchored_.clear();
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    begin(mark, anchor, nullptr);
    end();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end())
      throw YamlError(at(mark) + "an alias refers to a node that contains the alias");
    begin(mark, 0, found->second.tree, found->second.bytes);
    end();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (is_name_next()) {
      name_next(mark, value);
      return;
    }
    begin(mark, anchor, tag == "?" ? plain_scalar(value) : Tree(value), value.size());
    end();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(mark, anchor, Tree::array());
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(mark, anchor, Tree::object());
  }
  void OnMapEnd() override { end(); }

 private:
  // A node that has begun and not ended.
  struct Open {
    Tree tree;
    YAML::anchor_t anchor = 0;  // 0: no anchor.
    std::size_t bytes_before = 0;
    YAML::Mark mark{};
    std::optional<std::string> name{};  // Name of the next value, in a map.
    std::unordered_set<std::string> names{};
  };
  struct Anchored {
    Tree tree;
    std::size_t bytes = 0;
  };

  void count(const YAML::Mark& mark, std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= kMostTreeBytes) return;
    throw YamlError(at(mark) + "the document has more than " +
                    std::to_string(kMostTreeBytes >> 20) +
                    " MiB with all aliases; give the manifest of one job");
  }

  bool is_name_next() const {
    return !open_.empty() && open_.back().tree.is_object() && !open_.back().name;
  }

  void name_next(const YAML::Mark& mark, const std::string& name) {
    Open& map = open_.back();
    count(mark, name.size());
    if (!map.names.insert(name).second) {
      throw YamlError(at(mark) + "the field " + name + " appears twice; keep one");
    }
    if (map.names.size() > kMostFields) {
      throw YamlError(at(mark) + "an object has more than " + std::to_string(kMostFields) +
                      " fields; no Kubernetes object has so many");
    }
    map.name = name;
  }

  // `bytes` counts `tree` as it is now. Nodes that are added to `tree` count later.
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, Tree tree, std::size_t bytes = 0) {
    if (is_name_next()) throw YamlError(at(mark) + "a field's name must be a string");
    if (open_.size() > kMostDepth)
      throw YamlError(at(mark) + "this is nested too deeply for an object");
    const std::size_t bytes_before = bytes_;
    count(mark, kNodeBytes + bytes);
    open_.push_back(
        {.tree = std::move(tree), .anchor = anchor, .bytes_before = bytes_before, .mark = mark});
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != 0) {
      const std::size_t bytes = bytes_ - done.bytes_before;
      count(done.mark, bytes);
      anchored_[done.anchor] = {done.tree, bytes};
    }
    if (open_.empty()) {
      root_ = std::move(done.tree);
    } else if (Open& outer = open_.back(); outer.tree.is_array()) {
      outer.tree.push_back(std::move(done.tree));
    } else {
      // Append without a search: the name is known to be new.
      outer.tree.get_ref<Tree::object_t&>().emplace_back(*outer.name, std::move(done.tree));
      outer.name.reset();
    }
  }

  std::vector<Tree> documents_;
  Tree root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t& bytes_;
};

void add(Tree tree, std::vector<Tree>& objects) {
  if (tree.is_null()) return;
  if (!tree.is_object()) throw YamlError("a document is not an object with apiVersion, kind, ...");
  const bool is_list = text_at(tree, "kind") == "List" && find(tree, "items") != nullptr;
  if (!is_list) return objects.push_back(std::move(tree));
  Tree& items = tree["items"];
  if (!items.is_array()) return;
  for (Tree& item : items) add(std::move(item), objects);
}

}  // namespace

std::string to_yaml(const std::vector<Tree>& objects) {
  std::string text;
  for (const Tree& object : objects) {
    YAML::Emitter out;
    write(out, object);
    if (!text.empty()) text += "---\n";
    text += std::string(out.c_str()) + "\n";
  }
  return text;
}

void YamlReader::read(std::string text) {
  text_bytes_ += text.size();
  if (text_bytes_ > kMostYamlBytes) {
    throw YamlError("the text has more than " + std::to_string(kMostYamlBytes >> 20) +
                    " MiB; give the manifest of one job");
  }
  if (text.find('\0') != std::string::npos)
    throw YamlError("the file has a zero byte, so it is not text");
  try {
    std::istringstream in(std::move(text));
    YAML::Parser parser(in);
    Builder builder(tree_bytes_);
    while (parser.HandleNextDocument(builder)) {
    }
    for (Tree& document : builder.take()) add(std::move(document), objects_);
  } catch (const YAML::Exception& error) {
    throw YamlError(at(error.mark) + error.msg);
  }
}

std::vector<Tree> from_yaml(std::string text) {
  YamlReader reader;
  reader.read(std::move(text));
  return reader.take();
}

}  // namespace rota::manifest

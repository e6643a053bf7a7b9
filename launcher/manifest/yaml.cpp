// The only file that knows yaml-cpp.
#include "launcher/manifest/yaml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include <yaml-cpp/yaml.h>

namespace rota::manifest {
namespace {

// Far more than any job has. An alias of aliases would be more than memory has.
constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostDepth = 64;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// YAML 1.1, as Kubernetes' tools have it.
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

// More than what would be misread, so that a reader of YAML 1.2 or of base 60 agrees as well.
bool needs_quotes(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/';
  };
  const bool is_flag = text.size() > 2 && text.starts_with("--") && is_letter(text[2]);
  const bool is_plain = is_flag || (!text.empty() && is_letter(text.front()));
  return !is_plain || !plain_scalar(text).is_string();
}

// Short lists of scalars stand on one line, as people write them.
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
      std::array<char, 24> octal{};  // As chmod has it.
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

std::string at(const YAML::Node& node) {
  return "line " + std::to_string(node.Mark().line + 1) + ": ";
}

class Reader {
 public:
  Tree read(const YAML::Node& node) {
    if (++node_count_ > kMostNodes) {
      throw YamlError(at(node) + "more than " + std::to_string(kMostNodes) +
                      " fields; give the manifest of one job");
    }
    if (depth_ > kMostDepth) throw YamlError(at(node) + "nested too deeply for an object");
    ++depth_;
    Tree tree = read_node(node);
    --depth_;
    return tree;
  }

 private:
  Tree read_node(const YAML::Node& node) {
    if (node.IsScalar() && node.Tag() == "?") return plain_scalar(node.Scalar());
    if (node.IsScalar()) return node.Scalar();
    if (node.IsSequence()) {
      Tree list = Tree::array();
      for (const auto& each : node) list.push_back(read(each));
      return list;
    }
    return node.IsMap() ? read_map(node) : Tree(nullptr);
  }

  Tree read_map(const YAML::Node& node) {
    Tree map = Tree::object();
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) throw YamlError(at(pair.first) + "a field's name is a text");
      const std::string& name = pair.first.Scalar();
      if (map.contains(name)) {
        throw YamlError(at(pair.first) + "the field " + name + " is there twice; keep one");
      }
      map[name] = read(pair.second);
    }
    return map;
  }

  std::size_t node_count_ = 0;
  std::size_t depth_ = 0;
};

void add(Tree tree, std::vector<Tree>& objects) {
  if (tree.is_null()) return;
  if (!tree.is_object()) throw YamlError("a document that is no object: apiVersion, kind, ...");
  const bool is_list = text_at(tree, "kind") == "List" && find(tree, "items") != nullptr;
  if (!is_list) return objects.push_back(std::move(tree));
  for (const Tree& item : list_at(tree, "items")) add(item, objects);
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

std::vector<Tree> from_yaml(const std::string& text) {
  std::vector<Tree> objects;
  try {
    Reader reader;
    for (const YAML::Node& document : YAML::LoadAll(text)) add(reader.read(document), objects);
  } catch (const YAML::Exception& error) {
    throw YamlError("line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  return objects;
}

}  // namespace rota::manifest

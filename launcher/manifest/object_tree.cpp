// Looks values up in a tree. If the tree has another shape than expected, the result is empty.
#include "launcher/manifest/object_tree.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace rota::manifest {
namespace {

const Tree* element(const Tree& tree, std::string_view digits) {
  std::size_t index = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), index);
  return tree.is_array() && index < tree.size() ? &tree[index] : nullptr;
}

const Tree* field(const Tree& tree, std::string_view name) {
  if (!tree.is_object()) return nullptr;
  const auto found = tree.find(name);
  return found == tree.end() ? nullptr : &*found;
}

}  // namespace

const Tree* find(const Tree& tree, std::string_view path) {
  const Tree* here = &tree;
  while (here != nullptr && !path.empty()) {
    if (path.front() == '[') {
      const std::size_t end = std::min(path.find(']'), path.size() - 1);
      here = element(*here, path.substr(1, end - 1));
      path.remove_prefix(end + 1);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      here = field(*here, path.substr(0, end));
      path.remove_prefix(end);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return here;
}

std::string text_at(const Tree& tree, std::string_view path) {
  return std::string(view_at(tree, path));
}

std::string_view view_at(const Tree& tree, std::string_view path) {
  const Tree* found = find(tree, path);
  if (found == nullptr || !found->is_string()) return {};
  return found->get_ref<const Tree::string_t&>();
}

std::optional<std::size_t> count_at(const Tree& tree, std::string_view path) {
  const Tree* found = find(tree, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<std::int64_t>();
  return value < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(value));
}

bool is_at(const Tree& tree, std::string_view path, bool value) {
  const Tree* found = find(tree, path);
  return found != nullptr && found->is_boolean() && found->get<bool>() == value;
}

const Tree& list_at(const Tree& tree, std::string_view path) {
  static const Tree kNone = Tree::array();
  const Tree* found = find(tree, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}

const Tree& map_at(const Tree& tree, std::string_view path) {
  static const Tree kNone = Tree::object();
  const Tree* found = find(tree, path);
  return found != nullptr && found->is_object() ? *found : kNone;
}

std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

std::string cut(std::string text) {
  constexpr std::size_t kMost = 2000;
  if (text.size() <= kMost) return text;
  return std::string(base::cut(text, kMost)) + " ...";
}

std::string shown(const Tree& tree) {
  return tree.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace rota::manifest

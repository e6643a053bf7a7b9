// A Kubernetes object as a tree of maps, lists, texts and numbers, whatever it was written in.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rota::manifest {

using Tree = nlohmann::ordered_json;  // Fields stay in the order in which people write them.

// What is at "spec.template.spec.containers[0].name"; null where a part of that is not there.
const Tree* find(const Tree& tree, std::string_view path);

// The text there; empty where there is none. A view is the tree's own.
std::string text_at(const Tree& tree, std::string_view path);
std::string_view view_at(const Tree& tree, std::string_view path);

// The whole number there; empty where there is none.
std::optional<std::size_t> count_at(const Tree& tree, std::string_view path);

// Whether exactly that is there.
bool is_at(const Tree& tree, std::string_view path, bool value);

// The list there, or the map; an empty one where there is none.
const Tree& list_at(const Tree& tree, std::string_view path);
const Tree& map_at(const Tree& tree, std::string_view path);

// Without what would begin another line, or end the text.
std::string on_one_line(std::string text);

// No longer than somebody reads: what is left out is marked.
std::string cut(std::string text);

// As a person would write the scalar: 4, "4" and true.
std::string shown(const Tree& tree);

}  // namespace rota::manifest

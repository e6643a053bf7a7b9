// Represents a Kubernetes object as a tree of maps, lists, strings and numbers, independent of the
// file format.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rota::manifest {

using Tree = nlohmann::ordered_json;  // Fields stay in the order in which people write them.

// Returns the node at a path, such as "spec.template.spec.containers[0].name". Returns null if a
// part of the path is missing.
const Tree* find(const Tree& tree, std::string_view path);

// Return the string at the path; empty if there is none. The view points into the tree.
std::string text_at(const Tree& tree, std::string_view path);
std::string_view view_at(const Tree& tree, std::string_view path);

// Returns the whole number at the path, 0 or more; empty if there is none.
std::optional<std::size_t> count_at(const Tree& tree, std::string_view path);

// Returns whether the path holds exactly this value.
bool is_at(const Tree& tree, std::string_view path, bool value);

// Return the list or the map at the path; an empty one if there is none.
const Tree& list_at(const Tree& tree, std::string_view path);
const Tree& map_at(const Tree& tree, std::string_view path);

// Replaces each character that would begin another line or end the string: a space takes its place.
std::string on_one_line(std::string text);

// Cuts a string that is too long to read, and marks the cut.
std::string cut(std::string text);

// Returns the scalar as a person would write it: 4, "4" and true.
std::string shown(const Tree& tree);

}  // namespace rota::manifest

// Parses amounts as Kubernetes writes them: 500m, 2, 64Mi, 1e3.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/manifest/object_tree.h"

namespace rota::manifest {

// Returns the amount; empty if the text is not an amount.
std::optional<double> parse_quantity(std::string_view text);

// Returns the amount in a field, which may also be a plain number; empty if there is none.
std::optional<double> quantity_at(const Tree& tree, std::string_view path);

// Returns the bytes in whole Mi, rounded up: "64Mi".
std::string to_mebibytes(std::uint64_t bytes);

}  // namespace rota::manifest

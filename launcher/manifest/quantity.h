// Amounts as Kubernetes writes them: 500m, 2, 64Mi, 1e3.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/manifest/tree.h"

namespace rota::manifest {

// Empty where the text is none.
std::optional<double> parse_quantity(std::string_view text);

// Of a field, which may be a number too; empty where there is none.
std::optional<double> quantity_at(const Tree& tree, std::string_view path);

// In whole Mi, rounded up.
std::string to_mebibytes(std::uint64_t bytes);

}  // namespace rota::manifest

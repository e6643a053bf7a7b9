// Parses and prints amounts as Kubernetes writes them.
#include "launcher/manifest/quantity.h"

#include <charconv>
#include <cmath>

namespace rota::manifest {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr Suffix kSuffixes[] = {
    {"", 1},
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Ki", 1024.0},
    {"Mi", 1024.0 * 1024},
    {"Gi", 1024.0 * 1024 * 1024},
    {"Ti", 1024.0 * 1024 * 1024 * 1024},
    {"Pi", 1024.0 * 1024 * 1024 * 1024 * 1024},
    {"Ei", 1024.0 * 1024 * 1024 * 1024 * 1024 * 1024},
};

}  // namespace

std::optional<double> parse_quantity(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view rest(read_to, static_cast<std::size_t>(end - read_to));
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.name == rest) return number * suffix.factor;
  }
  return std::nullopt;
}

std::optional<double> quantity_at(const Tree& tree, std::string_view path) {
  const Tree* found = find(tree, path);
  if (found == nullptr) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  return parse_quantity(text_at(tree, path));
}

std::string to_mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 1024 * 1024;
  return std::to_string((bytes + kUnit - 1) / kUnit) + "Mi";
}

}  // namespace rota::manifest

// Has the rules of Kubernetes for the names of objects and pods.
#include "launcher/manifest/names.h"

#include <algorithm>

namespace rota::manifest {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_label(std::string_view name) {
  const auto is_end = [](char c) { return is_lower(c) || is_digit(c); };
  return !name.empty() && name.size() <= kMostNameLetters && is_end(name.front()) &&
         is_end(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_end(c) || c == '-'; });
}

bool is_service_name(std::string_view name) { return is_label(name) && is_lower(name.front()); }

bool is_object_name(std::string_view name) {
  constexpr std::size_t kMost = 253;
  if (name.size() > kMost) return false;
  while (name.find('.') != std::string_view::npos) {
    if (!is_label(name.substr(0, name.find('.')))) return false;
    name.remove_prefix(name.find('.') + 1);
  }
  return is_label(name);
}

std::string longest_pod_name(std::string_view kind, const std::string& name, const std::string& set,
                             std::size_t host_count) {
  const std::string last = std::to_string(std::max<std::size_t>(host_count, 1) - 1);
  if (kind == "Job" || kind == "StatefulSet") return name + "-" + last;
  return name + "-" + set + "-0-" + last;
}

std::size_t most_letters(std::string_view kind) {
  constexpr std::size_t kRevisionLetters = 11;  // "-" and a digest of ten letters.
  return kind == "StatefulSet" ? kMostNameLetters - kRevisionLetters : kMostNameLetters;
}

}  // namespace rota::manifest

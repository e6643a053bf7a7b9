// Has the rules of --check. Each rule looks at one workload among all given objects. A finding is
// one sentence: what is wrong, in which field, and what to do.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "launcher/manifest/manifest.h"

namespace rota::manifest {

struct Finding {
  bool is_error = true;  // Otherwise a hint: the job may run anyway.
  std::string text;

  friend bool operator==(const Finding&, const Finding&) = default;
  friend bool operator<(const Finding& one, const Finding& other) {
    return std::tie(one.is_error, one.text) < std::tie(other.is_error, other.text);
  }
};
using Findings = std::vector<Finding>;

// error() and hint() cut the text, because it may quote a string of any length from the manifest.
inline Finding error(std::string text) { return {true, cut(std::move(text))}; }
inline Finding hint(std::string text) { return {false, cut(std::move(text))}; }

struct Rule {
  std::string_view name;  // Subject, as the documentation names it.
  Findings (*check)(const Manifest& manifest, const Workload& workload);
};

// Return the rules by subject, in the order in which check() applies them.
std::span<const Rule> rules_of_names();
std::span<const Rule> rules_of_world();
std::span<const Rule> rules_of_service();
std::span<const Rule> rules_of_failure();
std::span<const Rule> rules_of_key();
std::span<const Rule> rules_of_pod();

// Applies all rules to all workloads.
Findings check(const Manifest& manifest);

}  // namespace rota::manifest

// What can be wrong with a manifest, rule by rule: each looks at one workload among all objects
// that are given, and says what is wrong in one sentence, with the field and what to do.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "launcher/manifest/manifest.h"

namespace rota::manifest {

struct Finding {
  bool is_error = true;  // Otherwise a hint: it may well run so.
  std::string text;

  friend bool operator==(const Finding&, const Finding&) = default;
  friend bool operator<(const Finding& one, const Finding& other) {
    return std::tie(one.is_error, one.text) < std::tie(other.is_error, other.text);
  }
};
using Findings = std::vector<Finding>;

// Short enough to be read: a text of the manifest's in it may be of any length.
inline Finding error(std::string text) { return {true, cut(std::move(text))}; }
inline Finding hint(std::string text) { return {false, cut(std::move(text))}; }

struct Rule {
  std::string_view name;  // What it is about, in words of the documentation.
  Findings (*check)(const Manifest& manifest, const Workload& workload);
};

// In the order in which they report, by subject.
std::span<const Rule> rules_of_names();
std::span<const Rule> rules_of_world();
std::span<const Rule> rules_of_service();
std::span<const Rule> rules_of_failure();
std::span<const Rule> rules_of_key();
std::span<const Rule> rules_of_pod();

// What all of them say about all workloads.
Findings check(const Manifest& manifest);

}  // namespace rota::manifest

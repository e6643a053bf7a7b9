// Completes a name with the domains of the search list.
#include "names/completion.h"

#include <algorithm>
#include <cstddef>

#include "names/words.h"

namespace rota::names {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kMaxNameBytes = 253;  // Without the last dot.
constexpr std::size_t kLabelsOfAPod = 3;    // pod.service.namespace

// Splits a name without a last dot into labels. Labels serve decisions only: a server always gets
// the whole name.
std::vector<std::string_view> labels_of(std::string_view name) {
  std::vector<std::string_view> labels;
  while (true) {
    const std::size_t end = std::min(name.find('.'), name.size());
    labels.push_back(name.substr(0, end));
    if (end == name.size()) return labels;
    name.remove_prefix(end + 1);
  }
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxNameBytes) return false;
  return std::ranges::all_of(labels_of(text), [](std::string_view label) {
    return !label.empty() && label.size() <= kMaxLabelBytes &&
           std::ranges::none_of(label,
                                [](char c) { return is_space(c) || c == '\0' || c == '\\'; });
  });
}

// Returns whether the name is in the domain, or is the domain.
bool is_in(std::string_view name, std::string_view domain) {
  if (name.size() < domain.size()) return false;
  const std::string_view end = name.substr(name.size() - domain.size());
  return same_name(end, domain) &&
         (name.size() == domain.size() || name[name.size() - domain.size() - 1] == '.');
}

// Collects the names to ask for, each once.
class Names {
 public:
  explicit Names(std::string_view name) : name_(name) {}

  void add(std::string_view domain) {
    std::string whole = name_ + (domain.empty() ? "" : ".") + std::string(domain);
    if (!is_name(whole)) return;
    whole += '.';
    const auto is_it = [&](const std::string& one) { return same_name(one, whole); };
    if (std::ranges::none_of(names_, is_it)) names_.push_back(std::move(whole));
  }
  void add_as_it_stands() { add(""); }

  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::string name_;
  std::vector<std::string> names_;
};

std::vector<std::string> complete_in_cluster(std::string_view name, const ResolvConf& conf,
                                             const std::string& zone) {
  Names names(name);
  const auto labels = labels_of(name);
  if (is_in(name, zone)) {
    names.add_as_it_stands();
    return names.take();
  }
  if (same_name(labels.back(), "svc") && labels.size() > 1) {
    names.add(zone);
    return names.take();
  }
  if (labels.size() > kLabelsOfAPod) names.add_as_it_stands();
  for (const std::string& domain : conf.search) {
    if (is_in(domain, "svc." + zone)) names.add(domain);
  }
  return names.take();
}

}  // namespace

std::vector<std::string> complete(std::string_view name, const ResolvConf& conf) {
  const bool is_absolute = name.ends_with('.');
  if (is_absolute) name.remove_suffix(1);
  if (!is_name(name)) return {};
  Names names(name);
  if (is_absolute) {
    names.add_as_it_stands();
    return names.take();
  }
  if (const auto zone = cluster_zone(conf.search)) return complete_in_cluster(name, conf, *zone);
  const bool has_many_dots = labels_of(name).size() > conf.ndots;
  if (has_many_dots) names.add_as_it_stands();
  for (const std::string& domain : conf.search) names.add(domain);
  names.add_as_it_stands();
  return names.take();
}

std::optional<std::string> cluster_zone(const std::vector<std::string>& search) {
  constexpr std::string_view kServices = ".svc.";
  for (const std::string& domain : search) {
    const std::size_t dot = domain.find('.');
    if (dot == 0 || dot == std::string::npos || !is_name(domain)) continue;
    if (same_name(std::string_view(domain).substr(dot, kServices.size()), kServices)) {
      return domain.substr(dot + kServices.size());
    }
  }
  return std::nullopt;
}

}  // namespace rota::names

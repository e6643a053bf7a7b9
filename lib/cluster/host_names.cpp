// Parses and compares host names as people and systems write them.
#include "cluster/host_names.h"

#include <algorithm>

#include "cluster/environment.h"
#include "cluster/refusal.h"
#include "os/address.h"

namespace rota::cluster {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kMaxPort = 65535;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text, std::string_view also) {
  return !text.empty() && text.size() <= kLongestName && text.front() != '-' &&
         std::ranges::all_of(text, [&](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                  c == '.' || c == '_' || also.find(c) != std::string_view::npos;
         });
}

// Returns nothing for a name that is not numeric.
std::optional<os::Address> as_numeric(std::string_view name) {
  if (!is_address(name)) return std::nullopt;
  return os::numeric_address({.host = std::string(name), .port = "0"});
}

// Returns a numeric address as the system writes it: FD00:0::1 becomes fd00::1.
std::string usual_form(std::string_view name) {
  std::string text = to_compare(name);
  const auto address = as_numeric(text);
  return address ? address->host() : text;
}

[[noreturn]] void refuse_name(const std::string& what, std::string_view text) {
  const bool has_colons = std::ranges::count(text, ':') > 1;
  refuse(what + " has " + shown(text) + ", which is not a host" +
         (has_colons ? "; an IPv6 address needs brackets, as in [fd00::1]" : ""));
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

NameAndNumber split_name(const std::string& what, std::string_view text) {
  std::string_view name = text;
  std::string_view also;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) refuse_name(what, text);
    name = text.substr(1, end - 1);
    rest = text.substr(end + 1);
    also = ":%";
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    name = text.substr(0, colon);
    rest = text.substr(colon);
  }
  const bool has_number = rest.starts_with(':');
  if (!is_name(name, also) || (!rest.empty() && !has_number) ||
      (has_number && rest.find(':', 1) != std::string_view::npos)) {
    refuse_name(what, text);
  }
  NameAndNumber parts{std::string(name), std::nullopt};
  if (has_number) parts.number = std::string(rest.substr(1));
  return parts;
}

Host parse_address(const std::string& what, std::string_view text) {
  NameAndNumber parts = split_name(what, text);
  if (!parts.number) {
    refuse(what + " has " + shown(text) + ", which needs a port: host:port");
  }
  const std::size_t port = to_number("the port of " + shown(text) + " in " + what, *parts.number,
                                     {.least = 1, .most = kMaxPort});
  return {.name = std::move(parts.name), .port = static_cast<std::uint16_t>(port)};
}

std::string to_compare(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string text(name);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool is_loopback(std::string_view name) {
  const std::string text = to_compare(name);
  if (text == "localhost" || text.starts_with("localhost.")) return true;
  const auto address = as_numeric(text);
  return address && address->is_loopback();
}

bool is_unspecified(std::string_view name) {
  const auto address = as_numeric(name);
  return address && address->is_any();
}

bool means_itself(std::string_view name) { return is_loopback(name) || is_unspecified(name); }

bool is_address(std::string_view name) {
  return name.find(':') != std::string_view::npos ||
         std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; });
}

bool agree(std::string_view one, std::string_view other) {
  std::string shorter = to_compare(one);
  std::string longer = to_compare(other);
  if (shorter.size() > longer.size()) std::swap(shorter, longer);
  return longer.starts_with(shorter) &&
         (shorter.size() == longer.size() || longer[shorter.size()] == '.');
}

void require_reachable(const Specification& specification) {
  const std::size_t count = ring_count(specification);
  const auto ring = std::span(specification.hosts).first(count);
  const auto itself =
      std::ranges::find_if(ring, [](const Host& host) { return means_itself(host.name); });
  if (count < 2 || itself == ring.end()) return;
  const bool are_apart = std::ranges::all_of(
      ring, [](const Host& host) { return is_loopback(host.name) && host.port; });
  if (are_apart) return;
  refuse(specification.source + " has " + std::to_string(count) + " hosts, and one of them is " +
         shown(itself->name) +
         "; every host means itself by that name: give the name by which other hosts reach it");
}

std::optional<std::size_t> find_host(const std::vector<Host>& hosts, std::string_view host_name,
                                     std::span<const std::string> addresses) {
  if (hosts.size() == 1 && means_itself(hosts.front().name)) return 0;
  const std::string own = to_compare(host_name);
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (to_compare(hosts[i].name) == own) return i;
    if (hosts[i].name.empty() || !agree(hosts[i].name, host_name)) continue;
    found = found ? hosts.size() : i;  // If two hosts match, none is found.
  }
  if (found) return found == hosts.size() ? std::nullopt : found;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (std::ranges::find(addresses, usual_form(hosts[i].name)) == addresses.end()) continue;
    found = found ? hosts.size() : i;
  }
  return found == hosts.size() ? std::nullopt : found;
}

std::optional<PodName> parse_pod_name(std::string_view host_name) {
  const std::string_view label = host_name.substr(0, host_name.find('.'));
  const std::size_t hyphen = label.rfind('-');
  if (hyphen == std::string_view::npos || hyphen == 0) return std::nullopt;
  const std::string_view digits = label.substr(hyphen + 1);
  constexpr std::size_t kMostDigits = 9;
  const bool is_ordinal = !digits.empty() && digits.size() <= kMostDigits &&
                          std::ranges::all_of(digits, is_digit) &&
                          (digits.size() == 1 || digits.front() != '0');
  if (!is_ordinal) return std::nullopt;
  return PodName{.prefix = std::string(label.substr(0, hyphen + 1)),
                 .ordinal = to_number("the ordinal", digits, {.least = 0, .most = kMaxOrdinal}),
                 .suffix = std::string(host_name.substr(label.size()))};
}

std::vector<Host> pods_like(const PodName& pod, std::size_t first, std::size_t count,
                            const std::string& service) {
  const std::string end = pod.suffix.empty() && !service.empty() ? "." + service : pod.suffix;
  std::vector<Host> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    hosts.push_back({.name = pod.prefix + std::to_string(first + i) + end});
  }
  return hosts;
}

}  // namespace rota::cluster

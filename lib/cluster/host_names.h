// Parses and compares host names as people and systems write them.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/specification.h"

namespace rota::cluster {

// Returns the parts between separators. "a,,b" has three parts; the second is empty. "" has one
// empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

// Splits "name", "name:number" or "[fd00::1]:number". For the error text, `what` names the
// variable, or the place in the variable. Throws Error kInvalidArgument for a string of another
// form.
struct NameAndNumber {
  std::string name;
  std::optional<std::string> number;
};
NameAndNumber split_name(const std::string& what, std::string_view text);

// Parses "a:2222": a name and a port. Throws Error kInvalidArgument if the port is missing or not
// from 1 to 65535.
Host parse_address(const std::string& what, std::string_view text);

// Returns the form in which names of hosts are compared: in small letters, and without a last dot.
// Names are resolved as they are written: with a last dot, without the domains of the search list.
std::string to_compare(std::string_view name);

// Returns whether the name is loopback: "localhost", 127.0.0.1, ::1, ::ffff:127.0.0.1.
bool is_loopback(std::string_view name);

// Returns whether the name is the address at which a host listens at all of its addresses: 0.0.0.0,
// ::. Nobody else can connect to it.
bool is_unspecified(std::string_view name);

// Returns whether the name means the host itself on every host: it is loopback or unspecified.
bool means_itself(std::string_view name);

// Returns whether the name is a numeric address, such as 10.0.0.1 or fd00::1.
bool is_address(std::string_view name);

// Returns whether two names may mean the same host: in the form of to_compare(), they are equal, or
// the longer name is the shorter one followed by a dot and more.
bool agree(std::string_view one, std::string_view other);

// Throws Error kInvalidArgument if there are several hosts with ranks, and one of them has a name
// that means itself. If all of them have loopback names and ports, they are on one machine, and
// there is no error.
void require_reachable(const Specification& specification);

// Returns the index of the host with that name. If no host has that name, returns the index of the
// host with one of these numeric addresses, which are written as the system writes them. Returns
// nothing if no host matches, or if several hosts match.
std::optional<std::size_t> find_host(const std::vector<Host>& hosts, std::string_view host_name,
                                     std::span<const std::string> addresses);

// A pod's name, split around its ordinal: "mnist-9", "mnist-9.service.namespace".
struct PodName {
  std::string prefix;  // "mnist-"
  std::size_t ordinal = 0;
  std::string suffix;  // From the first dot on, or empty.
};
std::optional<PodName> parse_pod_name(std::string_view host_name);

// Returns hosts with names like `pod`: `count` ordinals from `first` on. If `pod` has no suffix,
// the names end with `service`, unless `service` is empty.
std::vector<Host> pods_like(const PodName& pod, std::size_t first, std::size_t count,
                            const std::string& service);

}  // namespace rota::cluster

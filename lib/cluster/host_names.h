// Names of hosts as people and systems write them.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/specification.h"

namespace rota::cluster {

// The parts between separators; "a,,b" has an empty one, and "" has one.
std::vector<std::string_view> split(std::string_view text, char separator);

// "name", "name:number", "[fd00::1]:number". `what` is the variable, or the place in it. Throws
// Error kInvalidArgument where the name is none.
struct NameAndNumber {
  std::string name;
  std::optional<std::string> number;
};
NameAndNumber split_name(const std::string& what, std::string_view text);

// "a:2222": a name, and a port from 1 on.
Host parse_address(const std::string& what, std::string_view text);

// "localhost", 127.0.0.1, ::1: every host means itself by it.
bool is_loopback(std::string_view name);

// A number, such as 10.0.0.1 or fd00::1, and not a name.
bool is_address(std::string_view name);

// Whether two names may be of one host: equal, or equal up to a dot at which the longer goes on.
bool agree(std::string_view one, std::string_view other);

// Throws Error kInvalidArgument where some hosts are loopback ones and others are not, or where
// several hosts without ports are.
void require_reachable(const Specification& specification);

// The index of the host of that name, or else of one of these numbers; empty where there is none,
// or none for sure.
std::optional<std::size_t> find_host(const std::vector<Host>& hosts, std::string_view host_name,
                                     std::span<const std::string> addresses);

// "mnist-9", "mnist-9.service.namespace": what stands before and after the ordinal.
struct PodName {
  std::string prefix;  // "mnist-"
  std::size_t ordinal = 0;
  std::string suffix;  // Empty, or from the first dot on.
};
std::optional<PodName> parse_pod_name(std::string_view host_name);

// The names of `count` pods from ordinal `first` on; `service` follows where no suffix does.
std::vector<Host> pods_like(const PodName& pod, std::size_t first, std::size_t count,
                            const std::string& service);

}  // namespace rota::cluster

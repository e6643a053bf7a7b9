// What a rotarun that was started by another one is told, on its standard input: once, in the
// beginning. The input stays open as long as the one that started it lives.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "auth/key.h"

namespace rota::launcher {

struct Orders {
  std::vector<std::string> arguments{};  // Of the command line that started the job.

  // By group.
  std::vector<std::vector<std::string>> variables{};  // "NAME=VALUE", of -x.
  std::vector<std::string> working_directories{};
  std::string hosts{};    // As --host takes them.
  std::string version{};  // Of the rota that gives the orders.
  std::string leader{};   // "10.0.0.1:7700"
  std::string job_id{};
  std::optional<std::size_t> own_host{};     // Empty: one process was started for all, find it out.
  std::optional<std::size_t> leader_host{};  // Empty: it is none of the hosts.
  auth::Key key{};                           // Of the job.
};

// The bytes to write: what is of one host, and then what all hosts get alike, which has the key in
// it and may be long. `common_bytes` is the length of the latter, which Agents wipes.
std::string encode_own(const Orders& orders, std::size_t common_bytes);
std::string encode_common(const Orders& orders);

// The most that orders may take: as many hosts as a job may have, with the longest of names.
inline constexpr std::size_t kMaxOrderBytes = std::size_t{2} << 20;

// Reads them from a descriptor, and not more. Throws Error kBadData for what are none, kTimeout
// where they do not come.
Orders read_orders(int fd);

}  // namespace rota::launcher

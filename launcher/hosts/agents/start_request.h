// The start request is the first bytes on the standard input of a rotarun that another rotarun
// starts. These bytes describe the job. The input stays open while the rotarun that sent the
// request runs.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "auth/key.h"

namespace rota::launcher {

struct StartRequest {
  std::vector<std::string> arguments{};  // The arguments of the command that started the job.

  // In the next two, the index is the group.
  std::vector<std::vector<std::string>> variables{};  // "NAME=VALUE", from -x.
  std::vector<std::string> working_directories{};
  std::string output_directory{};         // The whole path of --output-filename; empty: no files.
  std::string hosts{};                    // In the form of --host.
  std::vector<std::size_t> most_slots{};  // By host: max_slots of a host list, or 0.
  std::string version{};                  // The sender's version of rota.
  std::string leader{};                   // "10.0.0.1:7700"
  std::string job_id{};
  std::optional<std::size_t> own_host{};     // Empty if one agent starts all hosts.
  std::optional<std::size_t> leader_host{};  // Empty: the leader is none of the hosts.
  auth::Key key{};                           // The job's key.
};

// Return the bytes to write: first the fields of one host, then the fields that are the same for
// all hosts. The common fields contain the key and may be long, and Agents keeps them in secret
// memory. `common_bytes` is the length of the common fields.
std::string encode_own(const StartRequest& request, std::size_t common_bytes);
std::string encode_common(const StartRequest& request);

// The largest number of bytes of a start request: enough for the largest job, with the longest
// names of hosts.
inline constexpr std::size_t kMaxStartRequestBytes = std::size_t{2} << 20;

// Reads a start request from a descriptor, and no byte more. Throws Error kBadData if the bytes are
// not a start request, kTimeout if they do not come.
StartRequest read_start_request(int fd);

}  // namespace rota::launcher

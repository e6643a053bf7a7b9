// The host plan says where the hosts of a job find each other, which host leads, and what each host
// must know before it connects.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/specification.h"
#include "launcher/command/options.h"

namespace rota::launcher {

// The largest number of hosts that connect to one host. With 32, the leader has few connections,
// and the tree has few levels.
inline constexpr std::size_t kMostChildren = 32;

struct HostPlan {
  cluster::Specification cluster;
  std::size_t host_count = 1;   // Hosts with ranks: 0 to host_count - 1.
  std::size_t own_host = 0;     // At least host_count if this host has no ranks.
  std::size_t leader_host = 0;  // Above all indices if the leader is none of the hosts.
  std::string leader;           // "a:7700": where the leader's launcher listens.
  // The port at which parents other than the leader listen, unless the cluster names another port.
  std::uint16_t port = 0;
  // An evaluator that the cluster does not list may come. Its index follows the indices of all
  // hosts.
  bool may_have_evaluator = false;
  bool is_tree = false;  // Some hosts connect to a host that does not lead: host_tree.h.
  bool is_on_loopback = false;
  bool is_local = false;     // All hosts meet at a local name. Only this user's processes reach it.
  bool is_started = false;   // The leader starts the hosts, so no host waits long for another.
  std::string cluster_text;  // What all hosts must agree on, in words.
  std::string job_id;        // Distinguishes this job from others with the same key.
};

// Returns the number of hosts that take part, with or without ranks.
std::size_t member_count(const HostPlan& host_plan);

// Makes the plan of a job where each host was started separately: host 0 leads. Throws
// SpecificationError if it is unknown which host this one is, or where host 0 is.
HostPlan plan_hosts(const cluster::Specification& cluster, const Options& options);

// Makes the plan of a job whose other hosts are started from one host. That host leads, and need
// not be one of `cluster`'s hosts. The caller sets job_id. On all hosts except the leader, the
// caller also sets own_host.
HostPlan plan_started_hosts(const cluster::Specification& cluster, const std::string& leader);

// Returns the name in the form that a port can follow: "[fd00::1]" for fd00::1, and "a" for a.
std::string with_brackets(const std::string& name);

// Returns the index of the host with the evaluator's role; 0 if no host has it.
std::size_t host_of_evaluators(const HostPlan& host_plan);

// Returns a list with the name that the cluster gives this host. The list is empty if the cluster
// gives no name.
std::vector<std::string> own_names(const HostPlan& host_plan);

// Returns a text such as "host 2 (c:2222)".
std::string name_of_host(const HostPlan& host_plan, std::size_t host);

// Returns where the host's launcher listens if other hosts connect to it, such as "b:7700".
std::string place_of(const HostPlan& host_plan, std::size_t host);

// Returns the job id in the form that the handshake needs.
std::array<std::byte, 16> to_bytes(const std::string& job_id);

}  // namespace rota::launcher

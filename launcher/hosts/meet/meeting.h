// Where the hosts of a job meet, and what each of them has to know beforehand.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/specification.h"
#include "launcher/command/options.h"

namespace rota::launcher {

// So many hosts call one at most: the leader has few connections, and a tree few levels.
inline constexpr std::size_t kMostChildren = 32;

struct Meeting {
  cluster::Specification cluster;
  std::size_t host_count = 1;   // Of the ring.
  std::size_t own_host = 0;     // Past the ring for one that has no ranks of it.
  std::size_t leader_host = 0;  // Past all hosts where it is none of them.
  std::string leader;           // "a:7700", where its launcher listens.
  std::uint16_t port = 0;  // Where other launchers do that are called, if nothing else is said.
  bool may_have_evaluator = false;  // That is not listed, and so is the one past all others.
  bool is_tree = false;             // Some hosts call others than the leader: hosts/tree.h.
  bool is_on_loopback = false;
  bool is_local = false;     // At a local name, which only this user's processes reach.
  bool is_started = false;   // By the leader, so that nobody waits long for another.
  std::string cluster_text;  // What all must agree upon, in words.
  std::string job_id;        // Tells this job from others that have the same key.
};

// How many take part, whether or not they have ranks.
std::size_t member_count(const Meeting& meeting);

// For a job where every host was started by itself: host 0 leads. Throws SpecificationError where
// it is unknown which host this one is, or where host 0 is.
Meeting plan_meeting(const cluster::Specification& cluster, const Options& options);

// For a job whose other hosts are started from this one, which leads, and may be none of them.
// Needs a job_id yet; others have another own_host.
Meeting plan_started_meeting(const cluster::Specification& cluster, const std::string& leader);

// As it stands before a port: "[fd00::1]", and "a" as it is.
std::string with_brackets(const std::string& name);

// The one whose task is to evaluate, or else the first.
std::size_t host_of_evaluators(const Meeting& meeting);

// What the cluster calls this host; nothing where it does not say.
std::vector<std::string> own_names(const Meeting& meeting);

// "host 2 (c:2222)"
std::string name_of_host(const Meeting& meeting, std::size_t host);

// "b:7700", where its launcher listens if others call it.
std::string place_of(const Meeting& meeting, std::size_t host);

// As the handshake takes it.
std::array<std::byte, 16> to_bytes(const std::string& job_id);

}  // namespace rota::launcher

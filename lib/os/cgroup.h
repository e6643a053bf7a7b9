// What the control group of this process grants it, whatever the hardware has.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota::os {

// CPUs' worth of time, such as 2.5. Empty: no limit.
std::optional<double> cpu_quota(const std::string& root = "");

// Empty: no limit.
std::optional<std::uint64_t> memory_limit_bytes(const std::string& root = "");

// How many processes of this one's own group were killed for want of memory. Empty: nobody counts.
std::optional<std::uint64_t> oom_kill_count(const std::string& root = "");

// Where the limits of one controller lie: files in each of these folders, this process's own group
// first, then the groups around it, which limit it too.
struct CgroupPlace {
  bool is_v2 = false;
  std::vector<std::string> folders;
};

// `groups` is /proc/self/cgroup and `mounts` /proc/self/mountinfo. Inside a container the first may
// name the host's path while the second shows the container's mount, so both the joined path and
// the mount itself are among the folders; those that do not exist are to be skipped.
std::optional<CgroupPlace> find_cgroup(std::string_view controller, std::string_view groups,
                                       std::string_view mounts);

// Version 2, cpu.max: "max 100000" or "150000 100000".
std::optional<double> parse_cpu_max(std::string_view text);

// Version 1: cpu.cfs_quota_us and cpu.cfs_period_us; a quota of -1 is none.
std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period);

// Version 1, memory.limit_in_bytes, and version 2, memory.max. Version 1 says a huge number for
// none.
std::optional<std::uint64_t> parse_memory_limit(std::string_view text);

// Version 1, memory.oom_control, and version 2, memory.events: the line "oom_kill 3".
std::optional<std::uint64_t> parse_oom_kills(std::string_view text);

}  // namespace rota::os

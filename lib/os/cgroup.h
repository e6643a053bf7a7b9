// Finds the CPU time and the memory that the control group of this process allows. The hardware may
// have more.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota::os {

// Returns the limit of CPU time, in CPUs, such as 2.5. Returns nothing if there is no limit. `root`
// is the folder to read in place of "/".
std::optional<double> cpu_quota(const std::string& root = "");

// Returns the limit of memory, in bytes. Returns nothing if there is no limit.
std::optional<std::uint64_t> memory_limit_bytes(const std::string& root = "");

// Returns how many processes of this process's own group were killed because memory ran out.
// Returns nothing if the kernel does not count them.
std::optional<std::uint64_t> oom_kill_count(const std::string& root = "");

// The folders with the limit files of one controller. The folder of this process's own group is
// first. The folders of the groups around it follow, because those groups limit this process too.
struct CgroupPlace {
  bool is_v2 = false;
  std::vector<std::string> folders;
};

// Finds the folders from `groups`, the text of /proc/self/cgroup, and `mounts`, the text of
// /proc/self/mountinfo. Inside a container, `groups` may name the host's path while `mounts` shows
// the container's mount. So the folders include both the joined path and the mount itself. The
// caller skips folders that do not exist.
std::optional<CgroupPlace> find_cgroup(std::string_view controller, std::string_view groups,
                                       std::string_view mounts);

// Parses cpu.max of version 2: "max 100000" or "150000 100000".
std::optional<double> parse_cpu_max(std::string_view text);

// Parses cpu.cfs_quota_us and cpu.cfs_period_us of version 1. A quota of -1 means no limit.
std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period);

// Parses memory.limit_in_bytes of version 1, or memory.max of version 2. Version 1 gives a huge
// number when there is no limit.
std::optional<std::uint64_t> parse_memory_limit(std::string_view text);

// Finds the line "oom_kill 3" in memory.oom_control of version 1, or in memory.events of version 2.
std::optional<std::uint64_t> parse_oom_kills(std::string_view text);

}  // namespace rota::os

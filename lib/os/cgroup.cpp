// Reads the limits of the control group of this process from files of the kernel.
#include "os/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace rota::os {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool has_part(std::string_view list, std::string_view part) {
  const auto parts = split(list, ',');
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::string_view without_newline(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> to_number(std::string_view text) {
  text = without_newline(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Mount {
  std::string_view root;   // The part of the hierarchy that is mounted.
  std::string_view point;  // Where it is mounted.
};

// A line looks like this: "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu". Any
// number of optional fields may come before the hyphen.
std::optional<Mount> find_mount(std::string_view controller, bool is_v2, std::string_view mounts) {
  for (const std::string_view line : split(mounts, '\n')) {
    const auto fields = split(line, ' ');
    const auto hyphen = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 6 || fields.end() - hyphen < 4) continue;
    if (hyphen[1] != (is_v2 ? "cgroup2" : "cgroup")) continue;
    if (is_v2 || has_part(hyphen[3], controller)) return Mount{fields[3], fields[4]};
  }
  return std::nullopt;
}

// Returns the group's path in the hierarchy. A line looks like this: "4:memory:/a/b". In version 2
// the middle field is empty.
std::optional<std::string_view> find_group(std::string_view controller, bool is_v2,
                                           std::string_view groups) {
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    const bool is_it = is_v2 ? controllers.empty() : has_part(controllers, controller);
    if (is_it && path.starts_with('/')) return path;
  }
  return std::nullopt;
}

// Returns whether the group is `root`, or is below it: /docker/ab is not below /docker/a.
bool is_below(std::string_view group, std::string_view root) {
  if (root == "/" || !group.starts_with(root)) return false;
  return group.size() == root.size() || group[root.size()] == '/';
}

// The group begins with a slash, and so does what is left of it below the mount's root. So the loop
// comes to its end.
std::vector<std::string> folders_of(const Mount& mount, std::string_view group) {
  std::vector<std::string> folders;
  if (is_below(group, mount.root)) group.remove_prefix(mount.root.size());
  while (group.size() > 1) {
    folders.push_back(std::string(mount.point) + std::string(group));
    group = group.substr(0, group.rfind('/'));
  }
  folders.emplace_back(mount.point);
  return folders;
}

std::optional<CgroupPlace> own_cgroup(std::string_view controller, const std::string& root) {
  return find_cgroup(controller, read_file(root + "/proc/self/cgroup").value_or(""),
                     read_file(root + "/proc/self/mountinfo").value_or(""));
}

// Returns the smallest limit that `read_limit` finds in the folders of `controller`.
template <class Value, class ReadLimit>
std::optional<Value> tightest(std::string_view controller, const std::string& root,
                              ReadLimit read_limit) {
  const auto place = own_cgroup(controller, root);
  std::optional<Value> result;
  if (!place) return result;
  for (const std::string& folder : place->folders) {
    const std::optional<Value> limit = read_limit(root + folder + "/", place->is_v2);
    if (limit && (!result || *limit < *result)) result = limit;
  }
  return result;
}

}  // namespace

std::optional<CgroupPlace> find_cgroup(std::string_view controller, std::string_view groups,
                                       std::string_view mounts) {
  for (const bool is_v2 : {false, true}) {  // If a host mounts both, version 1 has the controllers.
    const auto group = find_group(controller, is_v2, groups);
    const auto mount = find_mount(controller, is_v2, mounts);
    if (group && mount) return CgroupPlace{is_v2, folders_of(*mount, *group)};
  }
  return std::nullopt;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto fields = split(without_newline(text), ' ');
  return fields.size() == 2 ? parse_cfs_quota(fields[0], fields[1]) : std::nullopt;
}

std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period) {
  const auto granted = to_number(quota);
  const auto whole = to_number(period);
  if (!granted || !whole || *granted <= 0 || *whole <= 0) return std::nullopt;
  return static_cast<double>(*granted) / static_cast<double>(*whole);
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
  const auto bytes = to_number(text);
  if (!bytes || *bytes <= 0 || *bytes >= kNoLimit) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<double> cpu_quota(const std::string& root) {
  return tightest<double>("cpu", root, [](const std::string& folder, bool is_v2) {
    if (is_v2) return parse_cpu_max(read_file(folder + "cpu.max").value_or(""));
    return parse_cfs_quota(read_file(folder + "cpu.cfs_quota_us").value_or(""),
                           read_file(folder + "cpu.cfs_period_us").value_or(""));
  });
}

std::optional<std::uint64_t> memory_limit_bytes(const std::string& root) {
  return tightest<std::uint64_t>("memory", root, [](const std::string& folder, bool is_v2) {
    const char* name = is_v2 ? "memory.max" : "memory.limit_in_bytes";
    return parse_memory_limit(read_file(folder + name).value_or(""));
  });
}

std::optional<std::uint64_t> parse_oom_kills(std::string_view text) {
  constexpr std::string_view kName = "oom_kill ";
  for (const std::string_view line : split(text, '\n')) {
    const auto count =
        line.starts_with(kName) ? to_number(line.substr(kName.size())) : std::nullopt;
    if (count && *count >= 0) return static_cast<std::uint64_t>(*count);
  }
  return std::nullopt;
}

// Reads the counter of the innermost group that has one: the counters of the groups around it
// include other processes.
std::optional<std::uint64_t> oom_kill_count(const std::string& root) {
  const auto place = own_cgroup("memory", root);
  if (!place) return std::nullopt;
  for (const std::string& folder : place->folders) {
    const char* name = place->is_v2 ? "/memory.events" : "/memory.oom_control";
    if (const auto text = read_file(root + folder + name)) return parse_oom_kills(*text);
  }
  return std::nullopt;
}

}  // namespace rota::os

// Parses the flags that describe the cluster to programs of old tutorials.
#include "cluster/sources/task_flags.h"

#include <algorithm>

#include "cluster/host_names.h"
#include "cluster/sources.h"
#include "cluster/tasks.h"

namespace rota::cluster {
namespace {

constexpr std::string_view kNames[] = {"ps_hosts", "worker_hosts", "job_name", "task_index"};

// Returns the flag's name, or an empty text if the argument is not one of the four flags.
std::string_view name_in(std::string_view argument) {
  if (!argument.starts_with('-')) return {};
  const std::string_view rest = argument.substr(argument.starts_with("--") ? 2 : 1);
  const auto found = std::ranges::find(kNames, rest.substr(0, rest.find('=')));
  return found == std::end(kNames) ? std::string_view() : *found;
}

const std::string& needed(const TaskFlags& flags, const std::string& name) {
  const auto found = flags.values.find(name);
  if (found == flags.values.end()) {
    refuse("--worker_hosts also needs --" + name + ": which of the tasks is this process?");
  }
  return found->second;
}

void add_job(const TaskFlags& flags, const std::string& flag, Role role, Tasks& tasks) {
  const auto found = flags.values.find(flag);
  if (found == flags.values.end() || (found->second.empty() && role != Role::kWorker)) return;
  Job job{.name = std::string(to_string(role)), .place = "--" + flag, .addresses = {}};
  for (const std::string_view address : split(found->second, ',')) {
    job.addresses.emplace_back(address);
  }
  tasks.jobs.emplace(role, std::move(job));
}

}  // namespace

TaskFlags parse_task_flags(const std::vector<std::string>& arguments) {
  TaskFlags flags;
  for (auto next = arguments.begin(); next != arguments.end();) {
    if (*next == "--") {
      flags.rest.insert(flags.rest.end(), next, arguments.end());
      break;
    }
    const std::string& argument = *next++;
    const std::string name(name_in(argument));
    if (name.empty()) {
      flags.rest.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos && next == arguments.end()) {
      refuse("--" + name + " needs a value: --" + name + "=…");
    }
    const std::string value = equals == std::string::npos ? *next++ : argument.substr(equals + 1);
    const auto [found, is_new] = flags.values.try_emplace(name, value);
    if (!is_new && found->second != value) {
      refuse("--" + name + " is " + shown(found->second) + " and " + shown(value) +
             ": give it once");
    }
  }
  return flags;
}

// Without --worker_hosts, the other flags have another meaning: they belong to the program.
std::optional<Specification> from_task_flags(const Given& given) {
  const TaskFlags flags = parse_task_flags(given.arguments);
  if (!flags.values.contains("worker_hosts")) return std::nullopt;
  Tasks tasks{.source = "--worker_hosts"};
  add_job(flags, "worker_hosts", Role::kWorker, tasks);
  add_job(flags, "ps_hosts", Role::kParameterServer, tasks);
  const std::string& job_name = needed(flags, "job_name");
  const auto role = role_of(job_name);
  if (role != Role::kWorker && role != Role::kParameterServer) {
    refuse("--job_name is " + shown(job_name) + ": worker or ps is needed");
  }
  tasks.own_role = *role;
  tasks.index_place = "--task_index";
  tasks.own_index =
      to_number("--task_index", needed(flags, "task_index"), {.least = 0, .most = kMaxRanks - 1});
  return specification_of(tasks, given.asker);
}

}  // namespace rota::cluster

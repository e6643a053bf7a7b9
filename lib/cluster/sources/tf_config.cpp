// Parses TF_CONFIG, as TensorFlow reads it and Kubeflow's TFJob writes it:
//
//   { "cluster": { "chief": [ "host:port" ], "worker": [ "host:port", … ], … },
//     "task": { "type": "worker", "index": 0 } }
//
// A job may also be a map from indices to addresses. Keys other than "cluster" and "task" are
// ignored, except sparseCluster, which is refused.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include <rota/nearest_name.h>

#include "cluster/host_names.h"
#include "cluster/sources.h"
#include "cluster/tasks.h"

namespace rota::cluster {
namespace {

using nlohmann::json;

constexpr const char* kSource = "TF_CONFIG";
constexpr std::size_t kDeepest = 16;

[[noreturn]] void refuse_value(const std::string& place, const json& value,
                               const std::string& needed) {
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  refuse(std::string(kSource) + ": " + place + " is " + shown(text) + ": " + needed + " is needed");
}

// Parses JSON, and refuses a repeated key: the JSON parser would silently keep only the last of two
// equal keys in an object.
json parse(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    refuse("TF_CONFIG is empty: if there is no cluster, leave it unset");
  }
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
      if (static_cast<std::size_t>(depth) > kDeepest) refuse("TF_CONFIG is nested too deeply");
      open.emplace_back();
    } else if (event == json::parse_event_t::object_end ||
               event == json::parse_event_t::array_end) {
      open.pop_back();
    } else if (event == json::parse_event_t::key &&
               !open.back().insert(parsed.get<std::string>()).second) {
      refuse("TF_CONFIG has the key " + shown(parsed.get<std::string>()) + " twice");
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    refuse("TF_CONFIG is " + shown(text) + ", which is not JSON: byte " +
           std::to_string(error.byte) + " is wrong");
  } catch (const json::out_of_range&) {
    refuse("TF_CONFIG is " + shown(text) + ", but one of its numbers is too large");
  }
}

std::string to_address(const std::string& place, const json& value) {
  if (!value.is_string()) refuse_value(place, value, "a string \"host:port\"");
  return value.get<std::string>();
}

// Returns the addresses in the order of their indices as numbers: "10" comes after "9".
std::vector<std::string> read_map(const std::string& place, const json& tasks) {
  std::map<std::size_t, std::string> by_index;
  for (const auto& [key, value] : tasks.items()) {
    const std::size_t index =
        to_number("TF_CONFIG: an index of " + place, key, {.least = 0, .most = kMaxRanks - 1});
    if (by_index.contains(index)) {
      refuse("TF_CONFIG: " + place + " has the index " + std::to_string(index) + " twice");
    }
    by_index[index] = to_address(place + "." + key, value);
  }
  std::vector<std::string> addresses;
  for (auto& [index, address] : by_index) {
    if (index != addresses.size()) {
      refuse("TF_CONFIG: " + place + " has an index " + std::to_string(index) + " but no index " +
             std::to_string(addresses.size()) + ": rota needs every task's address");
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

std::vector<std::string> read_addresses(const std::string& place, const json& tasks) {
  if (tasks.is_object()) return read_map(place, tasks);
  if (!tasks.is_array()) refuse_value(place, tasks, "a list of \"host:port\"");
  std::vector<std::string> addresses;
  for (const json& task : tasks) {
    addresses.push_back(to_address(place + "[" + std::to_string(addresses.size()) + "]", task));
  }
  return addresses;
}

Role to_role(const std::string& place, const std::string& name) {
  if (const auto role = role_of(name)) return *role;
  constexpr std::string_view kRoleNames[] = {"chief", "master", "worker", "evaluator", "ps"};
  const std::string_view nearest = nearest_name(name, kRoleNames);
  refuse(std::string(kSource) + ": " + place + " is " + shown(name) +
         ", which is none of chief, master, worker, evaluator, ps" +
         (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"));
}

void read_cluster(const json& cluster, Tasks& tasks) {
  for (const auto& [name, value] : cluster.items()) {
    const Role role = to_role("a key of cluster", name);
    Job job{.name = name,
            .place = std::string(kSource) + ": cluster." + name,
            .addresses = read_addresses("cluster." + name, value)};
    if (job.addresses.empty()) continue;
    const auto [found, is_new] = tasks.jobs.try_emplace(role, std::move(job));
    if (!is_new) {
      refuse("TF_CONFIG: cluster has both a " + found->second.name + " and a " + name +
             ": there can be only one chief");
    }
  }
}

// Reads a number, or a string that is a number: TensorFlow converts either to an int.
std::size_t read_index(const json& task) {
  constexpr Range kIndices{.least = 0, .most = kMaxRanks - 1};
  const std::string place = "task.index";
  if (!task.contains("index")) {
    refuse("TF_CONFIG: task has no index: say which of the tasks of its type this process is");
  }
  const json& index = task["index"];
  if (index.is_string())
    return to_number("TF_CONFIG: " + place, index.get<std::string>(), kIndices);
  if (!index.is_number_integer()) refuse_value(place, index, "a whole number from 0 on");
  return to_number("TF_CONFIG: " + place, index.dump(), kIndices);
}

void read_task(const json& config, Tasks& tasks) {
  if (!config.contains("task")) {
    refuse(
        "TF_CONFIG has a cluster but no task: say which task this process is, as in "
        R"("task": {"type": "worker", "index": 0})");
  }
  const json& task = config["task"];
  if (!task.is_object()) refuse_value("task", task, "an object with type and index");
  if (!task.contains("type"))
    refuse("TF_CONFIG: task has no type: give chief, worker, evaluator or ps");
  if (!task["type"].is_string()) refuse_value("task.type", task["type"], "a string");
  const std::string type = task["type"].get<std::string>();
  tasks.own_role = to_role("task.type", type);
  tasks.own_index = read_index(task);
  tasks.index_place = std::string(kSource) + ": task.index";
  // TFJob leaves its evaluator out of the cluster, so an unlisted evaluator is not an error.
  if (tasks.own_role == Role::kEvaluator && !tasks.jobs.contains(Role::kEvaluator)) {
    if (tasks.own_index > 0) {
      refuse(tasks.index_place + " is " + std::to_string(tasks.own_index) +
             ", but there can be only one evaluator");
    }
    tasks.is_own_unlisted = true;
    return;
  }
  const auto own = tasks.jobs.find(tasks.own_role);
  if (own == tasks.jobs.end() || own->second.name != type) {
    refuse("TF_CONFIG: task.type is " + shown(type) + ", but cluster has no " + type);
  }
}

// Refuses an index other than 0: it means that there are other tasks, and nothing says where they
// are.
void require_first(const json& config, const Environment& environment) {
  const auto task = config.find("task");
  if (task == config.end() || !task->is_object() || !task->contains("index")) return;
  const std::size_t index = read_index(*task);
  if (index == 0 || environment.text("ROTA_WORLD") == "1") return;
  refuse("TF_CONFIG has no cluster, but its task has the index " + std::to_string(index) +
         ": so there are other tasks; give their addresses in a cluster, or set ROTA_WORLD=1 if "
         "this process is to be alone");
}

Specification single_process(const json& config, const Given& given) {
  require_first(config, given.environment);
  Specification specification{.source = kSource, .hosts = {{.name = given.host_name}}};
  specification.own_host = 0;
  specification.remarks.emplace_back("TF_CONFIG has no cluster: this process is alone");
  return specification;
}

}  // namespace

std::optional<Specification> from_tf_config(const Given& given) {
  const std::string* text = given.environment.find(kSource);
  if (!text) return std::nullopt;
  const json config = parse(*text);
  if (!config.is_object()) refuse("TF_CONFIG is " + shown(*text) + ": an object {…} is needed");
  if (config.contains("sparseCluster")) {
    refuse(
        "TF_CONFIG has a sparseCluster, which names only this task: rota needs every task's "
        "address, so leave enableDynamicWorker out of the TFJob");
  }
  if (!config.contains("cluster")) return single_process(config, given);
  if (!config["cluster"].is_object()) {
    refuse_value("cluster", config["cluster"], "an object with the addresses of each job");
  }
  if (config["cluster"].empty()) return single_process(config, given);
  Tasks tasks{.source = kSource};
  read_cluster(config["cluster"], tasks);
  read_task(config, tasks);
  Specification specification = specification_of(tasks, given.asker);
  const auto chief = tasks.jobs.find(Role::kChief);
  if (chief != tasks.jobs.end() && chief->second.name == "master") {
    specification.remarks.emplace_back("TF_CONFIG has a master, which counts as the chief");
  }
  return specification;
}

}  // namespace rota::cluster

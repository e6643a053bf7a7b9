// Counts the hosts in variables that no source reads, and says what to type instead.
#include "cluster/unread_hosts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "cluster/host_names.h"
#include "cluster/one_rank.h"

namespace rota::cluster {
namespace {

using nlohmann::json;

constexpr std::string_view kLast = "{last}";
constexpr std::string_view kValues = "{values}";
constexpr const char* kNameHosts = "name the hosts with --host or ROTA_HOSTS, as in a:2,b:2";
constexpr const char* kPassSlurmList =
    "pass on SLURM_JOB_NODELIST, which Slurm has set for the job; or name the hosts with --host or "
    "ROTA_HOSTS, as in a:2,b:2";
constexpr const char* kJoinSkyPilotList =
    "on each node set ROTA_HOSTS to the addresses of all nodes, as in "
    "ROTA_HOSTS=$(echo \"$SKYPILOT_NODE_IPS\" | paste -sd,)";
constexpr const char* kBeAlone = "; or give --this-host for a job of this host alone";

bool has_digits_alone(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::size_t count_number(const std::string& name, const std::string& value) {
  return to_number(name, value, kAnyRankCount);
}

// Counts the hosts of SageMaker: ["algo-1","algo-2"].
std::size_t count_list(const std::string& name, const std::string& value) {
  const json list = json::parse(value, nullptr, false);
  if (!list.is_array()) {
    refuse(name + " is " + shown(value) + R"(: a list in JSON is needed, such as ["a","b"])");
  }
  return list.size();
}

// Counts the tasks of Vertex AI: {"cluster": {"workerpool0": ["host:port", …], …}, …}. A value of
// another form is of another program, so it declares no hosts.
std::size_t count_tasks(const std::string& name, const std::string& value) {
  if (!value.starts_with('{')) return 0;
  const json spec = json::parse(value, nullptr, false);
  if (spec.is_discarded()) refuse(name + " is " + shown(value) + ", which is not JSON");
  const auto cluster = spec.find("cluster");
  if (cluster == spec.end() || !cluster->is_object()) return 0;
  std::size_t count = 0;
  for (const json& pool : *cluster) count += pool.is_array() ? pool.size() : 0;
  return count;
}

// Counts the different names between separators. A number is not a name.
std::size_t count_different(std::string_view value, char separator) {
  std::set<std::string_view> names;
  for (const std::string_view word : split(value, separator)) {
    if (!has_digits_alone(word)) names.insert(word);
  }
  return names.size();
}

// Counts the hosts of LSF: "a a b" or, with the slots of each host, "a 2 b 1".
std::size_t count_names(const std::string& /*name*/, const std::string& value) {
  return count_different(value, ' ');
}

// Counts the hosts of SkyPilot, each in a line of its own.
std::size_t count_lines(const std::string& /*name*/, const std::string& value) {
  std::set<std::string_view> lines;
  for (const std::string_view line : split(value, '\n')) {
    if (!line.empty()) lines.insert(line);
  }
  return lines.size();
}

// Counts the hosts of Volcano and Azure Batch: "a,b".
std::size_t count_between_commas(const std::string& /*name*/, const std::string& value) {
  return count_different(value, ',');
}

struct UnreadVariable {
  const char* name;  // With an asterisk, all variables of this form count together.
  std::size_t (*count)(const std::string& name, const std::string& value);
  // {last} stands for the largest index, and {values} for "$NAME", or "$NAME,$OTHER".
  const char* remedy;
  bool are_started = false;    // The system starts the program on each of these hosts.
  const char* only_with = "";  // Without this variable, another program may mean something else.
  const char* file = "";       // Names a file that lists the hosts, if it can be read.
};

// Slurm before 20.02 calls a heterogeneous job a pack job.
constexpr UnreadVariable kUnread[] = {
    {"SLURM_HET_SIZE", count_number,
     "start one rotarun on each node of all components, as in srun --het-group=0-{last} "
     "--ntasks-per-node=1 rotarun …"},
    {"SLURM_PACK_SIZE", count_number,
     "start one rotarun on each node of all components, as in srun --pack-group=0-{last} "
     "--ntasks-per-node=1 rotarun …"},
    {"AWS_BATCH_JOB_NUM_NODES", count_number,
     "on each node set PET_NNODES=$AWS_BATCH_JOB_NUM_NODES, "
     "PET_NODE_RANK=$AWS_BATCH_JOB_NODE_INDEX and PET_MASTER_ADDR, the address of node 0",
     true},
    {"SM_HOSTS", count_list,
     "on each host set ROTA_HOSTS to these names, as in ROTA_HOSTS=algo-1,algo-2, and "
     "ROTA_HOST=$SM_CURRENT_HOST",
     true},
    {"CLUSTER_SPEC", count_tasks,
     "on each host set ROTA_HOSTS to the names of these hosts without ports, as in ROTA_HOSTS=a,b",
     true},
    // Each task of a job of Volcano has a variable of its own.
    {"VC_*_HOSTS", count_between_commas,
     "on each pod set ROTA_HOSTS to the pods of all tasks that train, as in ROTA_HOSTS={values}",
     true},
    {"LWS_GROUP_SIZE", count_number,
     "on each pod set PET_NNODES=$LWS_GROUP_SIZE, PET_NODE_RANK=$LWS_WORKER_INDEX and "
     "PET_MASTER_ADDR=$LWS_LEADER_ADDRESS",
     true},
    {"SKYPILOT_NUM_NODES", count_number, kJoinSkyPilotList, true},
    {"SKYPILOT_NODE_IPS", count_lines, kJoinSkyPilotList, true},
    {"FLUX_JOB_NNODES", count_number,
     "on each node set ROTA_HOSTS to the names of the job's nodes, as in "
     "ROTA_HOSTS=$(flux hostlist -ed, local)",
     true},
    {"AZ_BATCH_HOST_LIST", count_between_commas,
     "name these hosts, as in --host $AZ_BATCH_HOST_LIST"},
    {"SLURM_JOB_NUM_NODES", count_number, kPassSlurmList},
    {"SLURM_NNODES", count_number, kPassSlurmList},
    {"LSB_MCPU_HOSTS", count_names, kNameHosts},
    {"LSB_HOSTS", count_names, kNameHosts},
    // A node of Torque may be one core of a host: its file says whether there are other hosts.
    {.name = "PBS_NUM_NODES", .count = count_number, .remedy = kNameHosts, .file = "PBS_NODEFILE"},
    {.name = "NHOSTS", .count = count_number, .remedy = kNameHosts, .only_with = "SGE_O_HOST"},
};

// Returns the variables of this name that are set.
std::vector<std::string> names_of(const UnreadVariable& variable, const Environment& environment) {
  const std::string_view name = variable.name;
  const std::size_t star = name.find('*');
  if (star != std::string_view::npos) {
    return environment.names_like(name.substr(0, star), name.substr(star + 1));
  }
  if (!environment.has(name)) return {};
  return {variable.name};
}

void fill_in(std::string& text, std::string_view place, const std::string& value) {
  const std::size_t at = text.find(place);
  if (at != std::string::npos) text.replace(at, place.size(), value);
}

std::string remedy_of(const UnreadVariable& variable, const Environment& environment,
                      std::size_t count) {
  std::string values;
  for (const std::string& name : names_of(variable, environment)) {
    values += (values.empty() ? "$" : ",$") + name;
  }
  std::string remedy = variable.remedy;
  fill_in(remedy, kLast, std::to_string(count - 1));
  fill_in(remedy, kValues, values);
  return remedy;
}

bool has_read(std::span<const HostFile> files, std::string_view variable) {
  return std::ranges::any_of(
      files, [&](const HostFile& file) { return file.given_by == variable && file.is_readable; });
}

// Returns how many hosts the variable declares; 0 if it is not set, if another program may have set
// it, or if a file says more.
std::size_t count_hosts(const UnreadVariable& variable, const Given& given) {
  const Environment& environment = given.environment;
  const std::string_view only_with = variable.only_with;
  if (has_read(given.node_files, variable.file)) return 0;
  if (!only_with.empty() && !environment.has(only_with)) return 0;
  std::size_t count = 0;
  for (const std::string& name : names_of(variable, environment)) {
    count += variable.count(name, environment.text(name));
  }
  return count;
}

// Returns a text such as "AWS_BATCH_JOB_NUM_NODES is 2".
std::string sign_of(const UnreadVariable& variable, const Environment& environment) {
  std::string sign;
  for (const std::string& name : names_of(variable, environment)) {
    const std::string value = environment.text(name);
    sign += (sign.empty() ? "" : " and ") + name;
    sign += " is " + (has_digits_alone(value) ? value : shown(value));
  }
  return sign;
}

}  // namespace

std::string sign_of_started_hosts(const Environment& environment) {
  for (const UnreadVariable& variable : kUnread) {
    if (!variable.are_started) continue;
    if (count_hosts(variable, {.environment = environment}) < 2) continue;
    return sign_of(variable, environment);
  }
  return {};
}

void require_none_unread(const Given& given) {
  for (const HostFile& file : given.node_files) {
    if (file.is_readable) continue;
    refuse(file.given_by + " is " + shown(file.path) +
           ", but that file cannot be read, so nothing says which hosts the job has: " +
           kNameHosts + kBeAlone);
  }
  for (const UnreadVariable& variable : kUnread) {
    const std::size_t count = count_hosts(variable, given);
    if (count < 2) continue;
    refuse(sign_of(variable, given.environment) +
           ", so the job has other hosts, but rota cannot find them by this variable: " +
           remedy_of(variable, given.environment, count) + kBeAlone);
  }
}

}  // namespace rota::cluster

// Counts the hosts in variables that no source reads, and says what to type instead.
#include "cluster/unread_hosts.h"

#include <nlohmann/json.hpp>
#include <set>

#include "cluster/host_names.h"
#include "cluster/one_rank.h"

namespace rota::cluster {
namespace {

using nlohmann::json;

constexpr std::string_view kLast = "{last}";
constexpr const char* kNameHosts = "name the hosts with --host or ROTA_HOSTS, as in a:2,b:2";
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

// Counts the hosts of LSF: "a a b" or, with the slots of each host, "a 2 b 1".
std::size_t count_names(const std::string& /*name*/, const std::string& value) {
  std::set<std::string_view> names;
  for (const std::string_view word : split(value, ' ')) {
    if (!has_digits_alone(word)) names.insert(word);
  }
  return names.size();
}

struct UnreadVariable {
  const char* name;
  std::size_t (*count)(const std::string& name, const std::string& value);
  const char* remedy;  // {last} stands for the largest index.
  bool are_started = false;
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
    {"LSB_MCPU_HOSTS", count_names, kNameHosts},
    {"LSB_HOSTS", count_names, kNameHosts},
};

std::string remedy_of(const UnreadVariable& variable, std::size_t count) {
  std::string remedy = variable.remedy;
  const std::size_t at = remedy.find(kLast);
  if (at != std::string::npos) remedy.replace(at, kLast.size(), std::to_string(count - 1));
  return remedy;
}

}  // namespace

std::optional<UnreadHosts> find_unread_hosts(const Environment& environment) {
  for (const UnreadVariable& variable : kUnread) {
    const std::string* value = environment.find(variable.name);
    if (!value) continue;
    const std::size_t count = variable.count(variable.name, *value);
    if (count < 2) continue;
    return UnreadHosts{
        .sign = variable.name + (" is " + (has_digits_alone(*value) ? *value : shown(*value))),
        .remedy = remedy_of(variable, count),
        .are_started = variable.are_started};
  }
  return std::nullopt;
}

void require_none_unread(const Given& given) {
  for (const HostFile& file : given.node_files) {
    if (file.is_readable) continue;
    refuse(file.given_by + " is " + shown(file.path) +
           ", but that file cannot be read, so nothing says which hosts the job has: " +
           kNameHosts + kBeAlone);
  }
  const auto unread = find_unread_hosts(given.environment);
  if (!unread) return;
  refuse(unread->sign +
         ", so the job has other hosts, but rota cannot find them by this variable: " +
         unread->remedy + kBeAlone);
}

}  // namespace rota::cluster

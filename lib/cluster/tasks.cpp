// Turns the jobs of a TensorFlow cluster (chief, worker and others) and their tasks into hosts, in
// the order of their ranks.
#include "cluster/tasks.h"

#include <unordered_map>

#include "cluster/host_names.h"

namespace rota::cluster {
namespace {

// The roles in the order of the hosts.
constexpr Role kRoles[] = {Role::kChief, Role::kWorker, Role::kEvaluator, Role::kParameterServer};

void require_few(const Tasks& tasks) {
  for (const Role role : {Role::kChief, Role::kEvaluator}) {
    const auto job = tasks.jobs.find(role);
    if (job == tasks.jobs.end() || job->second.addresses.size() < 2) continue;
    refuse(job->second.place + " has " + std::to_string(job->second.addresses.size()) +
           " tasks, but there can be only one " + std::string(to_string(role)));
  }
  if (!tasks.jobs.contains(Role::kChief) && !tasks.jobs.contains(Role::kWorker)) {
    refuse(tasks.source + " has neither a chief nor a worker: nobody would train");
  }
}

void require_own_task(const Tasks& tasks) {
  if (tasks.is_own_unlisted) return;
  const auto own = tasks.jobs.find(tasks.own_role);
  if (own == tasks.jobs.end()) {
    refuse(tasks.source + " says that this process is a " + std::string(to_string(tasks.own_role)) +
           ", but has no such job");
  }
  const std::size_t count = own->second.addresses.size();
  if (tasks.own_index >= count) {
    refuse(tasks.index_place + " is " + std::to_string(tasks.own_index) + ", but " +
           own->second.place + " has " + std::to_string(count) +
           (count == 1 ? " task: the index must be 0" : " tasks: the index must be below that"));
  }
}

void add_hosts(const Job& job, Role role, std::vector<Host>& hosts) {
  for (std::size_t i = 0; i < job.addresses.size(); ++i) {
    if (hosts.size() == kMaxRanks) {
      refuse(job.place + ": there are more than " + std::to_string(kMaxRanks) + " tasks");
    }
    hosts.push_back(parse_address(job.place + "[" + std::to_string(i) + "]", job.addresses[i]));
    hosts.back().role = role;
  }
}

void require_different(const Specification& specification) {
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < specification.hosts.size(); ++i) {
    const Host& host = specification.hosts[i];
    const std::string address = to_compare(host.name) + ":" + std::to_string(host.port.value_or(0));
    if (seen.try_emplace(address, i).second) continue;
    refuse(specification.source + " has " + shown(name_of(specification, i)) +
           " twice: each task needs an address of its own");
  }
}

}  // namespace

std::optional<Role> role_of(std::string_view job_name) noexcept {
  if (job_name == "chief" || job_name == "master") return Role::kChief;
  if (job_name == "worker") return Role::kWorker;
  if (job_name == "evaluator") return Role::kEvaluator;
  if (job_name == "ps") return Role::kParameterServer;
  return std::nullopt;
}

Specification specification_of(const Tasks& tasks, Asker asker) {
  require_few(tasks);
  require_own_task(tasks);
  Specification specification{.source = tasks.source};
  for (const Role role : kRoles) {
    const auto job = tasks.jobs.find(role);
    if (job == tasks.jobs.end()) continue;
    if (role == tasks.own_role) {
      specification.own_host = specification.hosts.size() + tasks.own_index;
    }
    add_hosts(job->second, role, specification.hosts);
  }
  if (tasks.is_own_unlisted) {
    specification.own_host = specification.hosts.size();
    specification.hosts.push_back({.role = Role::kEvaluator});
  }
  require_different(specification);
  require_reachable(specification);
  if (const auto job = tasks.jobs.find(Role::kParameterServer); job != tasks.jobs.end()) {
    specification.remarks.push_back(tasks.source + " has " +
                                    std::to_string(job->second.addresses.size()) +
                                    " ps: rota needs no parameter server, so they are not used");
  }
  specification.usual_slots = 1;
  if (asker == Asker::kLauncher) return specification;
  const std::size_t count = ring_count(specification);
  for (Host& host : specification.hosts) host.slots = 1;
  if (*specification.own_host < count) {
    specification.level = Level::kProcess;
    specification.rank = specification.own_host;
    specification.world_size = count;
  }
  return specification;
}

}  // namespace rota::cluster

// Describes a cluster as jobs and their tasks, and says which task this process is. TF_CONFIG has
// this description in JSON, and programs of old tutorials get it as flags.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

struct Job {
  std::string name;                    // As the source calls it: "chief" or "master", "worker", …
  std::string place;                   // For error texts: "TF_CONFIG: cluster.worker"
  std::vector<std::string> addresses;  // By task index.
};

struct Tasks {
  std::string source;
  std::map<Role, Job> jobs{};  // No job is empty.
  Role own_role = Role::kWorker;
  std::size_t own_index = 0;
  std::string index_place{};     // "TF_CONFIG: task.index"
  bool is_own_unlisted = false;  // This task is an evaluator that no job lists; it comes last.
};

// Returns the role of a job with that name, or nothing if no role has the name. "master" is a
// chief.
std::optional<Role> role_of(std::string_view job_name) noexcept;

// The chief is rank 0, and the workers follow it in the order of their indices. Other tasks have no
// rank. Throws Error kInvalidArgument for two chiefs, for a cluster without a chief or a worker,
// for an index beyond its job, and for an address that is invalid or occurs twice.
Specification specification_of(const Tasks& tasks, Asker asker);

}  // namespace rota::cluster

// A cluster of jobs and their tasks, and which task this is: what TF_CONFIG says in JSON and the
// flags of old tutorials in words.
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
  std::string name;                    // As it is called there: "chief" or "master", "worker", …
  std::string place;                   // Where it is said: "TF_CONFIG: cluster.worker"
  std::vector<std::string> addresses;  // Index = the task's.
};

struct Tasks {
  std::string source;
  std::map<Role, Job> jobs{};  // None is empty.
  Role own_role = Role::kWorker;
  std::size_t own_index = 0;
  std::string index_place{};     // "TF_CONFIG: task.index"
  bool is_own_unlisted = false;  // An evaluator that no job has: it comes after all others.
};

// The role of a job of that name; empty where there is none. "master" is a chief.
std::optional<Role> role_of(std::string_view job_name) noexcept;

// A rank is 0 for the chief; worker i is i, after the chief; who else there is has none.
// Throws Error kInvalidArgument: two chiefs, nobody in the ring, an index beyond its job, an
// address that is none or stands there twice.
Specification specification_of(const Tasks& tasks, Asker asker);

}  // namespace rota::cluster

// Finds the workloads: the objects that start rotarun.
#include "launcher/manifest/manifest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

namespace rota::manifest {
namespace {

// Returns the path of the first replicated job (of a runtime or a JobSet) that starts rotarun;
// empty if none does.
std::string path_of_set(const Tree& owner, const std::string& jobs_path) {
  const std::size_t count = list_at(owner, jobs_path).size();
  for (std::size_t i = 0; i < count; ++i) {
    std::string path = jobs_path + "[" + std::to_string(i) + "]";
    const Tree& containers = list_at(owner, path + ".template.spec.template.spec.containers");
    if (std::ranges::any_of(containers, is_ours)) return path;
  }
  return {};
}

void read_set(const std::string& jobs_path, Workload& workload) {
  const Tree& owner = *workload.pods_owner;
  const std::string path = path_of_set(owner, jobs_path);
  if (path.empty()) return;
  workload.set_name = text_at(owner, path + ".name");
  workload.job_count = count_at(owner, path + ".replicas").value_or(1);
  workload.job_path = path + ".template.spec";
  workload.template_path = workload.job_path + ".template";
}

void read_host_count(const Tree& tree, const std::string& path, Workload& workload) {
  workload.host_count = count_at(tree, path);
  workload.host_count_field = path;
}

// The runtimes of Kubeflow Trainer, and which of them a TrainJob uses.
class Runtimes {
 public:
  explicit Runtimes(const std::vector<Tree>& objects) {
    for (const Tree& object : objects) {
      if (!is_runtime(object)) continue;
      by_name_.try_emplace({view_at(object, "kind"), view_at(object, "metadata.name")}, &object);
    }
    for (const Tree& object : objects) {
      if (view_at(object, "kind") == "TrainJob") used_.insert(of(object));
    }
  }

  const Tree* of(const Tree& train_job) const {
    std::string_view kind = view_at(train_job, "spec.runtimeRef.kind");
    if (kind.empty()) kind = "ClusterTrainingRuntime";
    const auto found = by_name_.find({kind, view_at(train_job, "spec.runtimeRef.name")});
    return found == by_name_.end() ? nullptr : found->second;
  }

  bool is_used(const Tree& runtime) const { return used_.contains(&runtime); }

 private:
  std::map<std::pair<std::string_view, std::string_view>, const Tree*> by_name_;
  std::set<const Tree*> used_;
};

// Returns the product. On overflow, returns the largest number.
std::size_t product(std::size_t one, std::size_t other) {
  std::size_t result = 0;
  return __builtin_mul_overflow(one, other, &result) ? std::numeric_limits<std::size_t>::max()
                                                     : result;
}

void read_kind(const Runtimes& runtimes, Workload& workload) {
  const Tree& object = *workload.object;
  if (workload.kind == "Job") {
    workload.job_path = "spec";
    workload.template_path = "spec.template";
    read_host_count(object, "spec.completions", workload);
  } else if (workload.kind == "StatefulSet") {
    workload.template_path = "spec.template";
    read_host_count(object, "spec.replicas", workload);
    if (!workload.host_count) workload.host_count = 1;
  } else if (workload.kind == "JobSet") {
    read_set("spec.replicatedJobs", workload);
    read_host_count(object, workload.job_path + ".completions", workload);
    if (workload.host_count)
      workload.host_count = product(*workload.host_count, workload.job_count);
  } else if (workload.kind == "TrainJob") {
    workload.pods_owner = runtimes.of(object);
    read_host_count(object, "spec.trainer.numNodes", workload);
    if (workload.pods_owner != nullptr) read_set("spec.template.spec.replicatedJobs", workload);
  } else if (is_runtime(object)) {
    read_set("spec.template.spec.replicatedJobs", workload);
    read_host_count(object, "spec.mlPolicy.numNodes", workload);
  }
}

bool is_candidate(const Tree& object, const Runtimes& runtimes) {
  constexpr std::array<std::string_view, 5> kKinds = {"Job", "JobSet", "TrainJob", "StatefulSet",
                                                      "Pod"};
  if (is_runtime(object)) return !runtimes.is_used(object);
  return std::ranges::find(kKinds, view_at(object, "kind")) != kKinds.end();
}

// Returns whether the object is a workload: it starts rotarun, or it is a TrainJob whose runtime is
// not among the objects.
bool finish(Workload& workload) {
  const Tree& containers = list_at(workload.pod_spec(), "containers");
  const auto found = std::ranges::find_if(containers, is_ours);
  if (found == containers.end()) {
    return workload.kind == "TrainJob" && workload.pods_owner == nullptr;
  }
  workload.container = static_cast<std::size_t>(found - containers.begin());
  return true;
}

}  // namespace

Manifest::Manifest(std::vector<Tree> all) : objects(std::move(all)) {
  for (const Tree& object : objects) index(object);
  const Runtimes runtimes(objects);
  for (const Tree& object : objects) {
    if (!is_candidate(object, runtimes)) continue;
    Workload workload{.object = &object,
                      .kind = text_at(object, "kind"),
                      .name = text_at(object, "metadata.name"),
                      .name_space = text_at(object, "metadata.namespace"),
                      .pods_owner = &object};
    read_kind(runtimes, workload);
    if (finish(workload)) workloads.push_back(std::move(workload));
  }
}

void Manifest::index(const Tree& object) {
  const std::string_view kind = view_at(object, "kind");
  const std::string_view name_space = view_at(object, "metadata.namespace");
  by_name_.insert({{kind, name_space, view_at(object, "metadata.name")}, &object});
  const Tree& selector = map_at(object, "spec.selector");
  if (kind != "Service" || selector.empty()) return;
  const auto first = selector.begin();
  by_selector_.insert({{name_space, first.key(), view_at(first.value(), "")}, &object});
}

const Tree* Manifest::named(std::string_view kind, std::string_view name_space,
                            std::string_view name) const {
  const auto [first, last] = by_name_.equal_range({kind, name_space, name});
  return first == last ? nullptr : first->second;
}

std::vector<const Tree*> Manifest::services_of(std::string_view name_space, std::string_view label,
                                               std::string_view value) const {
  std::vector<const Tree*> services;
  const auto [first, last] = by_selector_.equal_range({name_space, label, value});
  for (auto at = first; at != last; ++at) services.push_back(at->second);
  return services;
}

}  // namespace rota::manifest

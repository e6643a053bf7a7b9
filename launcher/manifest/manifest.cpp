// Finds what starts rotarun among the objects.
#include "launcher/manifest/manifest.h"

#include <algorithm>
#include <array>
#include <limits>

namespace rota::manifest {
namespace {

// Where the runtime's or the JobSet's replicated jobs start rotarun; empty where none does.
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

const Tree* runtime_of(const Tree& train_job, const std::vector<Tree>& objects) {
  const std::string name = text_at(train_job, "spec.runtimeRef.name");
  std::string kind = text_at(train_job, "spec.runtimeRef.kind");
  if (kind.empty()) kind = "ClusterTrainingRuntime";
  const auto found = std::ranges::find_if(objects, [&](const Tree& object) {
    return text_at(object, "kind") == kind && text_at(object, "metadata.name") == name;
  });
  return found == objects.end() ? nullptr : &*found;
}

bool has_train_job(const Tree& runtime, const std::vector<Tree>& objects) {
  return std::ranges::any_of(objects, [&](const Tree& object) {
    return text_at(object, "kind") == "TrainJob" && runtime_of(object, objects) == &runtime;
  });
}

// What is too large for a number is the largest.
std::size_t product(std::size_t one, std::size_t other) {
  std::size_t result = 0;
  return __builtin_mul_overflow(one, other, &result) ? std::numeric_limits<std::size_t>::max()
                                                     : result;
}

void read_kind(const std::vector<Tree>& objects, Workload& workload) {
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
    workload.pods_owner = runtime_of(object, objects);
    read_host_count(object, "spec.trainer.numNodes", workload);
    if (workload.pods_owner != nullptr) read_set("spec.template.spec.replicatedJobs", workload);
  } else if (is_runtime(object)) {
    read_set("spec.template.spec.replicatedJobs", workload);
    read_host_count(object, "spec.mlPolicy.numNodes", workload);
  }
}

bool is_candidate(const Tree& object, const std::vector<Tree>& objects) {
  constexpr std::array<std::string_view, 5> kKinds = {"Job", "JobSet", "TrainJob", "StatefulSet",
                                                      "Pod"};
  if (is_runtime(object)) return !has_train_job(object, objects);
  return std::ranges::find(kKinds, text_at(object, "kind")) != kKinds.end();
}

// A TrainJob counts without its runtime too; whatever else does not start rotarun is not ours.
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
  for (const Tree& object : objects) {
    if (!is_candidate(object, objects)) continue;
    Workload workload{.object = &object,
                      .kind = text_at(object, "kind"),
                      .name = text_at(object, "metadata.name"),
                      .name_space = text_at(object, "metadata.namespace"),
                      .pods_owner = &object};
    read_kind(objects, workload);
    if (finish(workload)) workloads.push_back(std::move(workload));
  }
}

std::vector<const Tree*> Manifest::of_kind(std::string_view kind,
                                           const std::string& name_space) const {
  std::vector<const Tree*> found;
  for (const Tree& object : objects) {
    const bool is_there = text_at(object, "metadata.namespace") == name_space;
    if (text_at(object, "kind") == kind && is_there) found.push_back(&object);
  }
  return found;
}

}  // namespace rota::manifest

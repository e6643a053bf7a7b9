// What makes the pods of a job, seen the same way whatever its kind: who reads manifests looks
// here.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/manifest/tree.h"

namespace rota::manifest {

// Of a container: its value, or the field of the pod that it is taken from.
struct Variable {
  std::string name;
  std::string value{};
  std::string field_path{};
};

// ROTA_HOSTS where it names hosts: those of this object, and perhaps of others.
struct HostList {
  std::vector<std::string> names{};  // None where only the kubelet knows them: $(VARIABLE).
  std::string trouble{};             // Why rotarun would refuse it.
};

struct Workload {
  const Tree* object = nullptr;  // The one that is named.
  std::string kind;              // Job, JobSet, StatefulSet, Pod, or one of Trainer's.
  std::string name;
  std::string name_space{};
  const Tree* pods_owner = nullptr;  // Has the pod's template: the object, or a TrainJob's runtime.
  std::string template_path{};       // There; "" for a Pod, which is one itself.
  std::string job_path{};     // There: what is a Job's spec, "spec" or "spec.replicatedJobs[0]..."
  std::string set_name{};     // Of the replicated job.
  std::size_t job_count = 1;  // Of those, its replicas.
  std::optional<std::size_t> host_count{};  // Where the object says it.
  std::string host_count_field{};           // Which field that is.
  std::size_t container = 0;                // Which of the pod's containers runs rotarun.

  // Of the pod's template; empty trees where there are none.
  const Tree& pod_labels() const;
  const Tree& pod_spec() const;
  const Tree& job_spec() const;
  const Tree& main_container() const;
  std::vector<Variable> variables() const;
  std::vector<std::string> words() const;     // The command line.
  bool hides_its_program() const;             // Has a command, without rotarun as a word of it.
  std::optional<HostList> host_list() const;  // Empty where ROTA_HOSTS is a number, or missing.
  bool is_own_pod(std::string_view host_name) const;  // As its pods are called.
  bool names_its_hosts() const;    // In words or in a variable: no Service is to be told.
  bool is_trainers() const;        // Kubeflow Trainer's: a TrainJob, or a runtime of either scope.
  std::size_t slot_count() const;  // Ranks of a pod, as far as the manifest says, and 1 otherwise.
  std::optional<std::size_t> world_size() const;  // Empty where it is none that rotarun takes.

  // Paths for people: "Job mnist: spec.template.spec.subdomain".
  std::string pod_field(const std::string& path) const;
  std::string job_field(const std::string& path) const;
  std::string container_field(const std::string& path) const;
  std::string object_field(const std::string& path) const;
};

// The whole number that a text is; empty where it is none.
std::optional<std::size_t> to_count(const std::string& text);

// Whether a host can have so many slots, or a world so many hosts.
bool is_rank_count(std::optional<std::size_t> count);

// One of Kubeflow Trainer's, of either scope.
bool is_runtime(const Tree& object);

// Whether the container starts rotarun, as far as its command and its variables say.
bool is_ours(const Tree& container);

// "Job mnist"
std::string name_of(const Tree& object);

// The variable of that name; null where there is none.
const Variable* find_variable(const std::vector<Variable>& variables, std::string_view name);

// The value of a flag of rotarun's among the words before the program, the last
// where it is there again: "20s" for --grace.
std::optional<std::string> flag_value(const std::vector<std::string>& words, std::string_view flag);
bool has_flag(const std::vector<std::string>& words, std::string_view flag);

}  // namespace rota::manifest

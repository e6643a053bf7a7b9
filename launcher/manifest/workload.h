// A workload is the object that makes the pods of a job. The rules read all kinds in the same way.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/manifest/object_tree.h"

namespace rota::manifest {

// Variable of a container: its value, or the field of the pod that gives the value.
struct Variable {
  std::string name;
  std::string value{};
  std::string field_path{};
};

// The hosts that ROTA_HOSTS names: pods of this object, and perhaps of others.
struct HostList {
  std::vector<std::string> names{};  // Empty if only the kubelet knows them: $(VARIABLE).
  std::string trouble{};             // Why rotarun would refuse the list.
};

struct Workload {
  const Tree* object = nullptr;  // The object that findings name.
  std::string kind;              // Job, JobSet, StatefulSet, Pod, or a kind of Kubeflow Trainer.
  std::string name;
  std::string name_space{};
  const Tree* pods_owner = nullptr;  // Has the pod template: the object, or a TrainJob's runtime.
  std::string template_path{};       // In pods_owner; "" for a Pod, which is its own template.
  std::string job_path{};  // In pods_owner: the Job's spec, "spec" or "spec.replicatedJobs[0]..."
  std::string set_name{};  // Name of the replicated job.
  std::size_t job_count = 1;                // Replicas of the replicated job.
  std::optional<std::size_t> host_count{};  // If the object contains the number.
  std::string host_count_field{};           // The field that contains the number.
  std::size_t container = 0;                // Index of the container that runs rotarun.

  // Parts of the pod template; empty trees if there are none.
  const Tree& pod_labels() const;
  const Tree& pod_spec() const;
  const Tree& job_spec() const;
  const Tree& main_container() const;
  std::vector<Variable> variables() const;
  std::vector<std::string> words() const;     // The words after rotarun.
  bool hides_its_program() const;             // The command has no word rotarun.
  std::optional<HostList> host_list() const;  // No list if ROTA_HOSTS is a number or missing.
  bool is_own_pod(std::string_view host_name) const;  // Returns whether a pod has this name.
  bool names_its_hosts() const;    // The command or a variable lists hosts: no Service is needed.
  bool is_trainers() const;        // A TrainJob, or its runtime (of the namespace or the cluster).
  std::size_t slot_count() const;  // Ranks of a pod; 1 if not declared.
  std::optional<std::size_t> world_size() const;  // No value if rotarun refuses the size.

  // Return paths for messages: "Job mnist: spec.template.spec.subdomain".
  std::string pod_field(const std::string& path) const;
  std::string job_field(const std::string& path) const;
  std::string container_field(const std::string& path) const;
  std::string object_field(const std::string& path) const;
};

// Parses a whole number; empty if the text is not a whole number.
std::optional<std::size_t> to_count(const std::string& text);

// Returns whether `count` can be a host's number of slots, or a world's number of hosts.
bool is_rank_count(std::optional<std::size_t> count);

// Returns whether the object is a runtime of Kubeflow Trainer, of a namespace or of the cluster.
bool is_runtime(const Tree& object);

// Returns whether the container starts rotarun, judged by its command and its variables.
bool is_ours(const Tree& container);

// Returns a text such as "Job mnist".
std::string name_of(const Tree& object);

// Returns the last variable with this name, or null.
const Variable* find_variable(const std::vector<Variable>& variables, std::string_view name);

// Returns the value for a message: "missing" for null, "empty" for an empty value.
std::string shown_value(const Variable* variable);

// Returns the value of a flag of rotarun, such as "20s" for --grace. Only the words before the
// program are read. If the flag occurs several times, the last one counts.
std::optional<std::string> flag_value(const std::vector<std::string>& words, std::string_view flag);
bool has_flag(const std::vector<std::string>& words, std::string_view flag);

}  // namespace rota::manifest

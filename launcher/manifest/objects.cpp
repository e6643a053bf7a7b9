// Builds the objects of a job: one function for each kind, and for each failure policy.
#include "launcher/manifest/objects.h"

#include <csignal>

#include "launcher/command/exit_codes.h"
#include "launcher/manifest/contract.h"
#include "launcher/manifest/pod_template.h"

namespace rota::manifest {
namespace {

constexpr std::size_t kSecondsToKeep = 24 * 60 * 60;  // How long a finished job and its logs stay.

Tree object(const std::string& version, const std::string& kind, const Parameters& parameters,
            const std::string& name) {
  Tree metadata = {{"name", name}};
  if (!parameters.name_space.empty()) metadata["namespace"] = parameters.name_space;
  metadata["labels"] = labels_of(parameters);
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", metadata}};
}

Tree object(const std::string& version, const std::string& kind, const Parameters& parameters) {
  return object(version, kind, parameters, parameters.name);
}

void note_parameters(const Parameters& parameters, Tree& object) {
  if (parameters.parameter_count == 0) return;
  object["metadata"]["annotations"] = {
      {kParametersNote, std::to_string(parameters.parameter_count)}};
}

Tree secret(const Parameters& parameters, const std::string& key) {
  Tree tree = object("v1", "Secret", parameters, key_secret_of(parameters));
  tree["type"] = "Opaque";
  tree["data"] = {{kKeyItem, to_base64(key)}};
  return tree;
}

Tree claim(const Parameters& parameters) {
  Tree tree = object("v1", "PersistentVolumeClaim", parameters, parameters.data_claim);
  tree["spec"] = {{"accessModes", Tree::array({"ReadWriteMany"})},
                  {"resources", {{"requests", {{"storage", parameters.data_size}}}}}};
  return tree;
}

// Makes the Service. It gives pods their names before they are ready: a pod is ready only after it
// has found the others.
Tree service(const Parameters& parameters) {
  const auto port = [](const char* name, int number) {
    return Tree{{"name", name}, {"port", number}, {"targetPort", name}};
  };
  Tree tree = object("v1", "Service", parameters);
  tree["spec"] = {{"clusterIP", "None"},
                  {"publishNotReadyAddresses", true},
                  {"selector", labels_of(parameters)},
                  {"ports", Tree::array({port("rendezvous", int{parameters.first_port}),
                                         port("status", kStatusPort)})}};
  return tree;
}

Tree indexed_pods(const Parameters& parameters) {
  return {{"completions", parameters.worker_count},
          {"parallelism", parameters.worker_count},
          {"completionMode", "Indexed"}};
}

// The next functions make the policies for rotarun's exit codes: which codes end the job for good,
// which codes do not count, and after which codes the world forms again. docs/exit_codes.md says
// what the codes mean.
constexpr int kAgreedStop = launcher::kExitSignalBase + SIGTERM;

Tree on_disruption(const std::string& action) {
  return {{"action", action},
          {"onPodConditions", Tree::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}};
}

Tree on_codes(const std::string& action, const std::string& container, const std::string& operation,
              const Tree& codes) {
  return {
      {"action", action},
      {"onExitCodes", {{"containerName", container}, {"operator", operation}, {"values", codes}}}};
}

// Returns the codes after which another try may give another result.
Tree worth_a_try() {
  constexpr int kLastCode = 255;
  Tree codes = Tree::array();
  for (int code = launcher::kExitSignalBase; code <= kLastCode; ++code) codes.push_back(code);
  return codes;
}

Tree policy(const std::string& on_stop, const std::string& container) {
  const Tree stop = Tree::array({kAgreedStop});
  return {{"rules", Tree::array({on_disruption(on_stop), on_codes(on_stop, container, "In", stop),
                                 on_codes("FailJob", container, "NotIn", worth_a_try())})}};
}

// Returns the policy of a Job that is not part of a JobSet. A code below 128 ends the Job, a
// disruption or code 143 does not count, and every other failure counts.
Tree job_failure_policy(const std::string& container) { return policy("Ignore", container); }

// Returns the policy of the Job in a JobSet. The Job has no retries, so every failure fails it
// immediately, and jobset_failure_policy() judges the failure. The first two rules match failures
// that must not count: the JobSet recognises these failures by the index of the rule.
Tree set_job_failure_policy(const std::string& container) { return policy("FailJob", container); }

Tree jobset_failure_policy(std::size_t restart_count) {
  const Tree by_rule = Tree::array({"PodFailurePolicy"});
  return {
      {"maxRestarts", restart_count},
      {"rules",
       Tree::array(
           {{{"name", "stopped"},
             {"action", "RestartJobSetAndIgnoreMaxRestarts"},
             {"onJobFailureReasons", by_rule},
             {"onJobFailureMessagePatterns",
              Tree::array({"matching FailJob rule at index [01]$"})}},
            {{"name", "permanent"}, {"action", "FailJobSet"}, {"onJobFailureReasons", by_rule}}})}};
}

Tree job(const Parameters& parameters) {
  Tree tree = object("batch/v1", "Job", parameters);
  note_parameters(parameters, tree);
  Tree spec = indexed_pods(parameters);
  spec["backoffLimitPerIndex"] = parameters.restart_count;
  spec["maxFailedIndexes"] = 0;
  spec["podFailurePolicy"] = job_failure_policy("rota");
  spec["ttlSecondsAfterFinished"] = kSecondsToKeep;
  spec["template"] = pod_template(parameters);
  tree["spec"] = spec;
  return tree;
}

// Returns the only Job of a JobSet.
Tree set_job(const Parameters& parameters, const std::string& container) {
  Tree spec = indexed_pods(parameters);
  spec["backoffLimit"] = 0;
  spec["podFailurePolicy"] = set_job_failure_policy(container);
  spec["template"] = pod_template(parameters);
  return {{"spec", spec}};
}

Tree network() { return {{"enableDNSHostnames", true}, {"publishNotReadyAddresses", true}}; }

Tree job_set(const Parameters& parameters) {
  Tree tree = object("jobset.x-k8s.io/v1alpha2", "JobSet", parameters);
  note_parameters(parameters, tree);
  tree["spec"] = {
      {"network", network()},
      {"failurePolicy", jobset_failure_policy(parameters.restart_count)},
      {"ttlSecondsAfterFinished", kSecondsToKeep},
      {"replicatedJobs",
       Tree::array(
           {{{"name", "hosts"}, {"replicas", 1}, {"template", set_job(parameters, "rota")}}})}};
  return tree;
}

Tree training_runtime(const Parameters& parameters) {
  Tree pods = set_job(parameters, "node");
  // The TrainJob sets the number of pods.
  pods["spec"].erase("completions");
  pods["spec"].erase("parallelism");
  Tree step = {
      {"metadata", {{"labels", {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}}}},
      {"spec", pods["spec"]}};
  Tree tree = object("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", parameters);
  note_parameters(parameters, tree);
  tree["spec"] = {
      {"mlPolicy", {{"numNodes", parameters.worker_count}, {"torch", Tree::object()}}},
      {"template",
       {{"spec",
         {{"network", network()},
          {"failurePolicy", jobset_failure_policy(parameters.restart_count)},
          {"replicatedJobs", Tree::array({{{"name", "node"}, {"template", step}}})}}}}}};
  return tree;
}

Tree train_job(const Parameters& parameters) {
  Tree tree = object("trainer.kubeflow.org/v1alpha1", "TrainJob", parameters);
  tree["spec"] = {
      {"runtimeRef",
       {{"apiGroup", "trainer.kubeflow.org"},
        {"kind", "TrainingRuntime"},
        {"name", parameters.name}}},
      {"trainer",
       {{"numNodes", parameters.worker_count}, {"numProcPerNode", parameters.slot_count}}}};
  return tree;
}

Tree stateful_set(const Parameters& parameters) {
  Tree tree = object("apps/v1", "StatefulSet", parameters);
  note_parameters(parameters, tree);
  tree["spec"] = {{"serviceName", parameters.name},
                  {"replicas", parameters.worker_count},
                  {"podManagementPolicy", "Parallel"},
                  {"selector", {{"matchLabels", labels_of(parameters)}}},
                  {"template", pod_template(parameters)}};
  return tree;
}

}  // namespace

std::vector<Tree> objects_of(const Parameters& parameters, const std::string& key) {
  std::vector<Tree> objects;
  if (parameters.key_secret.empty()) objects.push_back(secret(parameters, key));
  if (!parameters.data_size.empty()) objects.push_back(claim(parameters));
  switch (parameters.kind) {
    case Kind::kJob:
      objects.push_back(service(parameters));
      objects.push_back(job(parameters));
      break;
    case Kind::kJobSet:  // The JobSet makes its Service itself.
      objects.push_back(job_set(parameters));
      break;
    case Kind::kTrainJob:
      objects.push_back(training_runtime(parameters));
      objects.push_back(train_job(parameters));
      break;
    case Kind::kStatefulSet:
      objects.push_back(service(parameters));
      objects.push_back(stateful_set(parameters));
      break;
  }
  return objects;
}

std::string to_base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const std::uint32_t byte =
          i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0;
      group = group << 8 | byte;
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
    }
  }
  return text;
}

}  // namespace rota::manifest

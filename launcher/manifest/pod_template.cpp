// Makes the pod template of the hosts of a job. The pods are restricted, are found by name, are
// probed, and get the job's key.
#include "launcher/manifest/pod_template.h"

#include <algorithm>

#include "launcher/manifest/contract.h"
#include "launcher/manifest/job_memory.h"
#include "launcher/manifest/quantity.h"

namespace rota::manifest {
namespace {

constexpr std::uint64_t kOfTheProgram = 256ULL * 1024 * 1024;  // Per rank: data, activations.
constexpr std::uint64_t kUsualGrace = 30;                      // Kubernetes' default, in seconds.
constexpr std::uint64_t kGraceMargin = 10;

Tree variable(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

Tree label_variable(const std::string& name, const std::string& label) {
  const std::string path = "metadata.labels['jobset.sigs.k8s.io/" + label + "']";
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

// Returns the variables that the pod gets from no other source; docs/cluster.md says what reads
// them. Kubeflow Trainer sets the other variables itself.
Tree environment(const Parameters& parameters) {
  const bool is_of_trainer = parameters.kind == Kind::kTrainJob;
  Tree variables = Tree::array();
  if (!is_of_trainer) {
    variables.push_back(variable("ROTA_HOSTS", std::to_string(parameters.worker_count)));
    variables.push_back(variable("ROTA_SLOTS", std::to_string(parameters.slot_count)));
    variables.push_back(variable("ROTA_SERVICE", parameters.name));
  }
  if (is_of_trainer || parameters.kind == Kind::kJobSet) {
    variables.push_back(label_variable("JOBSET_NAME", "jobset-name"));
    variables.push_back(label_variable("JOBSET_JOB_INDEX", "job-index"));
    variables.push_back(label_variable("JOBSET_REPLICATEDJOB_REPLICAS", "replicatedjob-replicas"));
    variables.push_back(label_variable("JOBSET_RESTART_ATTEMPT", "restart-attempt"));
  }
  return variables;
}

Tree command(const Parameters& parameters) {
  Tree words = {"rotarun", "--status-port", "[::]:" + std::to_string(kStatusPort)};
  if (parameters.kind == Kind::kStatefulSet) {
    words.push_back("--when-done");
    words.push_back("wait");
  }
  for (const std::string& word : parameters.command_line) words.push_back(word);
  return words;
}

// Returns the resources. The memory limit is also the request, so that the node has that memory: a
// rank that is killed for lack of memory ends the job.
Tree resources(const Parameters& parameters) {
  const std::string memory =
      parameters.memory.empty() ? memory_by_formula(parameters) : parameters.memory;
  const std::string cpu =
      parameters.cpu.empty() ? std::to_string(parameters.slot_count) : parameters.cpu;
  const std::string request = parameters.cpu_request.empty() ? cpu : parameters.cpu_request;
  Tree limits = {{"cpu", cpu}, {"memory", memory}};
  if (parameters.gpu_count > 0) limits["nvidia.com/gpu"] = std::to_string(parameters.gpu_count);
  return {{"requests", {{"cpu", request}, {"memory", memory}}}, {"limits", limits}};
}

Tree probe(const std::string& path, int period_seconds, int failure_count) {
  return {{"httpGet", {{"path", path}, {"port", "status"}}},
          {"periodSeconds", period_seconds},
          {"failureThreshold", failure_count}};
}

Tree ports(const Parameters& parameters) {
  Tree all = Tree::array();
  if (parameters.kind != Kind::kTrainJob) {  // Trainer adds its own unnamed port, 29500.
    all.push_back({{"name", "rendezvous"}, {"containerPort", int{parameters.first_port}}});
  }
  all.push_back({{"name", "status"}, {"containerPort", kStatusPort}});
  return all;
}

Tree container(const Parameters& parameters) {
  Tree mounts = Tree::array({{{"name", "key"}, {"mountPath", kKeyFolder}, {"readOnly", true}}});
  if (!parameters.data_claim.empty()) {
    mounts.push_back({{"name", "data"}, {"mountPath", kDataFolder}});
  }
  return {{"name", parameters.kind == Kind::kTrainJob ? "node" : "rota"},
          {"image", parameters.image},
          {"command", command(parameters)},
          {"env", environment(parameters)},
          {"ports", ports(parameters)},
          {"readinessProbe", probe("/readyz", 1, 1)},
          // Fails only when the event loop of rotarun hangs. A host that waits for others is alive.
          {"livenessProbe", probe("/livez", 10, 6)},
          {"resources", resources(parameters)},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", Tree::array({"ALL"})}}}}},
          {"volumeMounts", mounts}};
}

Tree volumes(const Parameters& parameters) {
  constexpr int kOwnersOnly = 0400;  // The kubelet also lets the group fsGroup read the file.
  Tree all = Tree::array(
      {{{"name", "key"},
        {"secret", {{"secretName", key_secret_of(parameters)}, {"defaultMode", kOwnersOnly}}}}});
  if (!parameters.data_claim.empty()) {
    all.push_back(
        {{"name", "data"}, {"persistentVolumeClaim", {{"claimName", parameters.data_claim}}}});
  }
  return all;
}

}  // namespace

Tree labels_of(const Parameters& parameters) { return {{kNameLabel, parameters.name}}; }

std::string key_secret_of(const Parameters& parameters) {
  return parameters.key_secret.empty() ? parameters.name + "-key" : parameters.key_secret;
}

std::string memory_by_formula(const Parameters& parameters) {
  const std::uint64_t rota =
      memory_need({.slot_count = parameters.slot_count,
                   .world_size = parameters.slot_count * parameters.worker_count,
                   .parameter_count = parameters.parameter_count,
                   .numbers_per_parameter = kNumbersWithAdam,
                   .encrypts = parameters.encrypts,
                   .saves_checkpoints = true});
  return to_mebibytes(rota + parameters.slot_count * kOfTheProgram);
}

Tree pod_template(const Parameters& parameters) {
  Tree spec = Tree::object();
  if (parameters.kind == Kind::kJob) spec["subdomain"] = parameters.name;
  if (parameters.kind != Kind::kStatefulSet) spec["restartPolicy"] = "Never";
  spec["terminationGracePeriodSeconds"] =
      std::max(kUsualGrace, parameters.grace_seconds + kGraceMargin);
  spec["enableServiceLinks"] = false;
  spec["automountServiceAccountToken"] = false;
  spec["securityContext"] = {{"runAsNonRoot", true},
                             {"runAsUser", kUser},
                             {"runAsGroup", kUser},
                             {"fsGroup", kUser},
                             {"seccompProfile", {{"type", "RuntimeDefault"}}}};
  spec["containers"] = Tree::array({container(parameters)});
  spec["volumes"] = volumes(parameters);
  return {{"metadata", {{"labels", labels_of(parameters)}}}, {"spec", spec}};
}

}  // namespace rota::manifest

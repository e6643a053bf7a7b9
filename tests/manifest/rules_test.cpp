// Tests each rule of rotarun render --check: the rule accepts a correct manifest, and gives the
// right message when a change makes the manifest break the rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "manifest/spoil.h"
#include "testing/paths.h"

namespace rota::manifest {
namespace {

using ::testing::IsEmpty;

struct Case {
  std::string rule;
  Kind kind;
  std::function<void(Objects&)> spoil;
  std::string text;  // Text of the only finding.
  bool is_error = true;
  std::function<void(Objects&)> prepare = [](Objects&) {};  // Applied to the good manifest too.
};

void name_its_hosts(Objects& objects) {
  const std::string names = "mnist-0.mnist:1,mnist-1.mnist:3,mnist-2.mnist,mnist-3.mnist";
  set("Job", "/spec/template/spec/containers/0/env/0/value", names)(objects);
  drop_element("Job", "/spec/template/spec/containers/0/env", 2)(objects);
}

void list_its_hosts_on_host_network(Objects& objects) {
  name_its_hosts(objects);
  be_on_host_network(objects);
}

const std::string kLimits = kJobContainer + "/resources/limits";
const std::string kRequests = kJobContainer + "/resources/requests";
const std::string kSetContainer = "/spec/replicatedJobs/0/template/spec/template/spec/containers/0";
const std::string kRuntimeJob = "/spec/template/spec/replicatedJobs/0/template/spec";
const std::string kCodes = "/spec/podFailurePolicy/rules/1/onExitCodes";
const std::string kLong(62, 'a');

std::vector<Case> cases_of_names() {
  return {
      {"a name that pods can be found by", Kind::kJob, set("Job", "/metadata/name", "Mnist_1"),
       "Job Mnist_1: metadata.name is \"Mnist_1\", but pods must be found by this name"},
      {"63 letters with the index", Kind::kJob, set("Job", "/metadata/name", kLong),
       "metadata.name makes the pod " + kLong +
           "-3 of 64 letters, but a host's name has at most 63: shorten it by 1"},
      {"63 letters with the index", Kind::kJobSet, set("JobSet", "/metadata/name", kLong),
       "metadata.name makes the pod " + kLong + "-hosts-0-3 of 72 letters"},
      {"63 letters with the index", Kind::kTrainJob, set("TrainJob", "/metadata/name", kLong),
       "metadata.name makes the pod " + kLong + "-node-0-3 of 71 letters"},
      {"63 letters with the index", Kind::kStatefulSet,
       set("StatefulSet", "/metadata/name", std::string(53, 'a')),
       "has 53 letters, but a StatefulSet's name has at most 52"},
  };
}

std::vector<Case> cases_of_world() {
  return {
      {"completionMode: Indexed", Kind::kJob, drop("Job", "/spec/completionMode"),
       "Job mnist: spec.completionMode is missing, but without an index no pod knows which host it "
       "is: make it Indexed"},
      {"completionMode: Indexed", Kind::kJobSet,
       set("JobSet", "/spec/replicatedJobs/0/template/spec/completionMode", "NonIndexed"),
       "JobSet mnist: spec.replicatedJobs[0].template.spec.completionMode is NonIndexed"},
      {"parallelism as completions", Kind::kJob, set("Job", "/spec/parallelism", 3),
       "Job mnist: spec.parallelism is 3 and completions 4, but all pods must run at the same "
       "time: make "
       "them equal"},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       set("Job", kJobContainer + "/env/0/value", "5"),
       "ROTA_HOSTS is 5, but spec.completions makes 4 pods: make them equal"},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       drop_element("Job", kJobContainer + "/env", 0),
       "has no ROTA_HOSTS, and nothing else tells a pod the number of pods: add it, with the value "
       "\"4\""},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       set("Job", kJobContainer + "/env/0/value", "mnist-0.mnist:1,mnist-1.mnist:3"),
       "ROTA_HOSTS names 2 hosts, but spec.completions makes 4 pods: make them equal", true,
       name_its_hosts},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       set("Job", kJobContainer + "/env/0/value", "node1,node2"),
       "ROTA_HOSTS names 2 hosts, but spec.completions makes 4 pods", true,
       set("Job", kJobContainer + "/env/0/value", "node1,node2,node3,node4")},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       set("Job", kJobContainer + "/env/0/value", "mnist-0.mnist;mnist-1.mnist"),
       "rotarun would refuse it with \"ROTA_HOSTS has 'mnist-0.mnist;mnist-1.mnist', which is not "
       "a host\": name the hosts as in mnist-0.mnist:2,mnist-1.mnist:2",
       true, set("Job", kJobContainer + "/env/0/value", "$(HOSTS)")},
      {"ROTA_HOSTS as the number of pods", Kind::kStatefulSet,
       set("StatefulSet", "/spec/replicas", 3), "ROTA_HOSTS is 4, but spec.replicas makes 3 pods"},
      {"ROTA_HOSTS as the number of pods", Kind::kJobSet,
       set("JobSet", "/spec/replicatedJobs/0/replicas", 2), "makes 8 pods: make them equal"},
      {"ROTA_WORLD as hosts times slots", Kind::kJob,
       set("Job", kJobContainer + "/env/2", {{"name", "ROTA_WORLD"}, {"value", "9"}}),
       "ROTA_WORLD is 9, but 4 pods of 2 slots make 8 ranks: make them equal", true,
       set("Job", kJobContainer + "/env/2", {{"name", "ROTA_WORLD"}, {"value", "8"}})},
      {"ROTA_WORLD as hosts times slots", Kind::kJob,
       set("Job", kJobContainer + "/env/1/value", "4097"),
       "env: ROTA_SLOTS is 4097, but a host has 1 to 4096: use a number in this range", true,
       set("Job", kJobContainer + "/env/1/value", "4096")},
      {"ROTA_WORLD as hosts times slots", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "-np", "9", "mnist"}),
       "command: -np is 9, but 4 hosts times 2 slots are 8: leave it out, or make them equal", true,
       set("Job", kJobContainer + "/command",
           {"rotarun", "--np=9", "-n", "8", "mnist", "-n", "1"})},
      {"ROTA_WORLD as hosts times slots", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--np", "4", "mnist"}),
       "command: -np is 4, but 4 hosts times 2 slots are 8", false,
       set("Job", kJobContainer + "/command", {"rotarun", "-np", "9", "--oversubscribe", "mnist"})},
      {"ROTA_WORLD as hosts times slots", Kind::kTrainJob,
       set("TrainJob", "/spec/trainer/numProcPerNode", 0),
       "TrainJob mnist: spec.trainer.numProcPerNode is 0, but a host has 1 to 4096", true,
       set("TrainJob", "/spec/trainer/numProcPerNode", 2)},
      {"ROTA_WORLD as hosts times slots", Kind::kTrainJob,
       set("ClusterTrainingRuntime", kRuntimeJob + "/template/spec/containers/0/env",
           Tree::array({{{"name", "ROTA_WORLD"}, {"value", "9"}},
                        {{"name", "ROTA_SLOTS"}, {"value", "2"}}})),
       "ClusterTrainingRuntime mnist: spec.template.spec.replicatedJobs[0].template.spec.template."
       "spec.containers[0].env: ROTA_WORLD is 9",
       true, be_of_the_cluster},
  };
}

std::vector<Case> cases_of_world_by_kind() {
  return {
      {"a TrainJob's trainer.numNodes", Kind::kTrainJob, drop("TrainJob", "/spec/trainer"),
       "TrainJob mnist: spec.trainer is missing, but without it no pod knows which node it is"},
      {"a TrainJob's trainer.numNodes", Kind::kTrainJob, drop("TrainJob", "/spec/trainer/numNodes"),
       "TrainJob mnist: spec.trainer.numNodes is missing"},
      {"a TrainJob's runtime", Kind::kTrainJob, set("TrainJob", "/spec/runtimeRef/name", "torch"),
       "TrainJob mnist: spec.runtimeRef names \"torch\", which is in none of these files", false},
      {"what Trainer tells its pods", Kind::kTrainJob,
       drop("TrainingRuntime", "/spec/mlPolicy/torch"),
       "TrainingRuntime mnist: spec.mlPolicy.torch is missing"},
      {"what Trainer tells its pods", Kind::kTrainJob,
       drop("ClusterTrainingRuntime", "/spec/mlPolicy/torch"),
       "ClusterTrainingRuntime mnist: spec.mlPolicy.torch is missing", true, be_of_the_cluster},
      {"what Trainer tells its pods", Kind::kTrainJob,
       set("TrainingRuntime", kRuntimeJob + "/template/spec/containers/0/name", "rota"),
       "is \"rota\", but Trainer tells only the container node about the world"},
      {"what Trainer tells its pods", Kind::kTrainJob,
       set("TrainingRuntime", kRuntimeJob + "/template/spec/containers/0/env/0",
           {{"name", "ROTA_HOSTS"}, {"value", "3"}}),
       "ROTA_HOSTS is 3, but spec.trainer.numNodes is 4: leave it out"},
      {"a JobSet's labels as variables", Kind::kJobSet,
       set("JobSet", kSetContainer + "/env/4/valueFrom/fieldRef/fieldPath", "metadata.name"),
       "JOBSET_JOB_INDEX is taken from another field: take it from the fieldPath "
       "metadata.labels['jobset.sigs.k8s.io/job-index']"},
      {"a JobSet's labels as variables", Kind::kJobSet,
       drop_element("JobSet", kSetContainer + "/env", 6), "JOBSET_RESTART_ATTEMPT is missing",
       false},
      {"ROTA_ORDINAL_START as ordinals.start", Kind::kStatefulSet,
       set("StatefulSet", "/spec/ordinals", {{"start", 1}}),
       "StatefulSet mnist: spec.ordinals.start is 1, which a pod cannot see, but "
       "ROTA_ORDINAL_START is missing: make it \"1\""},
  };
}

std::vector<Case> cases_of_service() {
  return {
      {"subdomain, or serviceName, as the Service's name", Kind::kJob,
       set("Job", "/spec/template/spec/subdomain", "train"),
       "Job mnist: spec.template.spec.subdomain is train, but another Service selects these pods: "
       "make it mnist"},
      {"subdomain, or serviceName, as the Service's name", Kind::kStatefulSet,
       drop("StatefulSet", "/spec/serviceName"),
       "StatefulSet mnist: spec.serviceName is missing, but another Service selects these pods: "
       "make it mnist"},
      {"subdomain, or serviceName, as the Service's name", Kind::kJob, remove_object("Service"),
       "subdomain is mnist, but that Service is in none of these files", false},
      {"clusterIP: None", Kind::kJob, drop("Service", "/spec/clusterIP"),
       "Service mnist: spec.clusterIP is not None"},
      {"a selector that selects the pods", Kind::kJob,
       set("Service", "/spec/selector", {{"app", "mnist"}}),
       "Service mnist: spec.selector is {\"app\":\"mnist\"}, which selects none of the pods of Job "
       "mnist"},
      {"publishNotReadyAddresses: true", Kind::kJob,
       drop("Service", "/spec/publishNotReadyAddresses"),
       "Service mnist: spec.publishNotReadyAddresses is not true"},
      {"the Services of single pods", Kind::kJob, drop("Service", "/spec/clusterIP"),
       "Service mnist: spec.clusterIP is not None", true, be_of_tfjob},
      {"the Services of single pods", Kind::kJob,
       set("Pod", "/spec/containers/0/readinessProbe",
           {{"httpGet", {{"path", "/readyz"}, {"port", "status"}}}}),
       "waits for the other pods, but with Service mnist they cannot find a pod that is not ready",
       true, be_of_tfjob},
      {"names of ports", Kind::kJob, drop("Service", "/spec/ports/1/name"),
       "Service mnist: spec.ports[1].name is missing"},
      {"ROTA_SERVICE as the Service's name", Kind::kJob,
       set("Job", kJobContainer + "/env/2/value", "train"),
       "ROTA_SERVICE is train, but the pods' Service is mnist"},
      {"ROTA_SERVICE as the Service's name", Kind::kJob,
       set("Job", kJobContainer + "/env/2/value", ""),
       "ROTA_SERVICE is empty, but the pods' Service is mnist"},
      {"ROTA_SERVICE as the Service's name", Kind::kJob,
       drop("Job", "/spec/template/spec/subdomain"),
       "ROTA_SERVICE is mnist, but subdomain is missing: make them the same"},
      {"ROTA_SERVICE as the Service's name", Kind::kStatefulSet,
       drop("StatefulSet", "/spec/serviceName"),
       "ROTA_SERVICE is mnist, but spec.serviceName is missing: make them the same"},
      {"ROTA_SERVICE as the Service's name", Kind::kStatefulSet,
       drop_element("StatefulSet", kJobContainer + "/env", 2), "ROTA_SERVICE is missing"},
      {"ROTA_SERVICE as the Service's name", Kind::kJobSet,
       set("JobSet", "/metadata/name", "other"),
       "ROTA_SERVICE is mnist, but the pods' Service is other"},
      {"ROTA_SERVICE as the Service's name", Kind::kJobSet,
       set("JobSet", kSetContainer + "/env/2/value", "mnist"),
       "ROTA_SERVICE is mnist, but the pods' Service is train", true,
       [](Objects& objects) {
         set("JobSet", "/spec/network/subdomain", "train")(objects);
         set("JobSet", kSetContainer + "/env/2/value", "train")(objects);
       }},
      {"ROTA_SERVICE as the Service's name", Kind::kJobSet,
       set("JobSet", kSetContainer + "/env/2/value", "train"),
       "ROTA_SERVICE is train, but the pods' Service is mnist", true,
       set("JobSet", kSetContainer + "/env/2/value", "$(JOBSET_NAME)")},
      {"ROTA_SERVICE as the Service's name", Kind::kJobSet,
       set("JobSet", "/spec/network/subdomain", "train"),
       "ROTA_SERVICE is missing, but the pods' Service is train", true,
       drop_element("JobSet", kSetContainer + "/env", 2)},
  };
}

std::vector<Case> cases_of_network() {
  return {
      {"the network of a set", Kind::kJobSet,
       set("JobSet", "/spec/network/publishNotReadyAddresses", false),
       "JobSet mnist: spec.network.publishNotReadyAddresses is false, so pods do not find each "
       "other by name before they are ready: make it true"},
      {"the network of a set", Kind::kTrainJob,
       set("TrainingRuntime", "/spec/template/spec/network/enableDNSHostnames", false),
       "TrainingRuntime mnist: spec.template.spec.network.enableDNSHostnames is false, so the pods "
       "have no names: make it true"},
      {"the network of a set", Kind::kTrainJob,
       set("ClusterTrainingRuntime", "/spec/template/spec/network/enableDNSHostnames", false),
       "ClusterTrainingRuntime mnist: spec.template.spec.network.enableDNSHostnames is false", true,
       be_of_the_cluster},
  };
}

std::vector<Case> cases_of_failure() {
  return {
      {"restartPolicy: Never", Kind::kJob,
       set("Job", "/spec/template/spec/restartPolicy", "OnFailure"),
       "restartPolicy is OnFailure, but podFailurePolicy allows only Never: make it Never"},
      {"restartPolicy: Never", Kind::kTrainJob,
       drop("TrainingRuntime", kRuntimeJob + "/template/spec/restartPolicy"),
       "restartPolicy is missing, but podFailurePolicy allows only Never: make it Never"},
      {"exit codes of podFailurePolicy", Kind::kJob,
       set("Job", kCodes + "/values", Tree::array({143, 130})), "are not in ascending order"},
      {"exit codes of podFailurePolicy", Kind::kJob,
       set("Job", kCodes + "/values", Tree::array({143, 143})), "or one appears twice"},
      {"exit codes of podFailurePolicy", Kind::kJob,
       set("Job", kCodes + "/values", Tree::array({0, 143})), "contain 0, which is a success"},
      {"exit codes of podFailurePolicy", Kind::kJob, drop("Job", kCodes + "/containerName"),
       "spec.podFailurePolicy.rules[1].onExitCodes.containerName is missing, so the code of "
       "any other container counts too: make it rota"},
      {"exit codes of podFailurePolicy", Kind::kJob, set("Job", kCodes + "/containerName", "main"),
       "containerName is main, but no container has this name: make it rota"},
      {"maxFailedIndexes: 0", Kind::kJob, drop("Job", "/spec/maxFailedIndexes"),
       "Job mnist: spec.maxFailedIndexes is missing"},
      {"podFailurePolicy", Kind::kJob, drop("Job", "/spec/podFailurePolicy"),
       "Job mnist: spec.podFailurePolicy is missing", false},
      {"a set's backoffLimit: 0", Kind::kJobSet,
       drop("JobSet", "/spec/replicatedJobs/0/template/spec/backoffLimit"),
       "backoffLimit is 6 by default", false},
      {"a set's backoffLimit: 0", Kind::kTrainJob,
       drop("ClusterTrainingRuntime", kRuntimeJob + "/backoffLimit"),
       "backoffLimit is 6 by default", false, be_of_the_cluster},
      {"podManagementPolicy: Parallel", Kind::kStatefulSet,
       drop("StatefulSet", "/spec/podManagementPolicy"),
       "StatefulSet mnist: spec.podManagementPolicy is OrderedReady by default"},
      {"--when-done wait", Kind::kStatefulSet,
       set("StatefulSet", kJobContainer + "/command", {"rotarun", "mnist", "--when-done"}),
       "has no --when-done wait", false},
      {"--when-done wait", Kind::kStatefulSet,
       set("StatefulSet", kJobContainer + "/command",
           {"rotarun", "--when-done", "wait", "--when-done=exit", "mnist"}),
       "has --when-done exit, so a StatefulSet starts the job again after a success: make it wait",
       false,
       set("StatefulSet", kJobContainer + "/command",
           {"rotarun", "--when-done", "exit", "--when-done=wait", "mnist"})},
      {"--when-done wait", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--when-done", "wait", "mnist"}),
       "command has --when-done wait, so no pod of Job mnist ends after a success, and the job "
       "never completes: leave it out",
       true, set("Job", kJobContainer + "/command", {"rotarun", "--when-done", "exit", "mnist"})},
  };
}

std::vector<Case> cases_of_key() {
  return {
      {"a key, mounted where rotarun looks", Kind::kJob,
       drop_element("Job", kJobContainer + "/volumeMounts", 0),
       "volumeMounts has nothing at /etc/rota/key"},
      {"a key, mounted where rotarun looks", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--insecure", "mnist"}),
       "command has --insecure, which is only for hosts on loopback, but this job has several "
       "hosts: leave it "
       "out, and mount a key at /etc/rota",
       true,
       set("Job", kJobContainer + "/command", {"rotarun", "--this-host", "--insecure", "mnist"})},
      {"the key's mode, and fsGroup", Kind::kJob,
       drop("Job", "/spec/template/spec/volumes/0/secret/defaultMode"),
       "volumes: secret.defaultMode is 0644 by default, so other users may read the key"},
      {"the key's mode, and fsGroup", Kind::kJob,
       set("Job", "/spec/template/spec/volumes/0/secret/defaultMode", 0444),
       "volumes: secret.defaultMode is too wide, so other users may read the key"},
      {"the key's mode, and fsGroup", Kind::kJob,
       set("Job", "/spec/template/spec/volumes/0/secret/items/1/mode", 0644),
       "volumes: secret.items[1].mode is too wide, so other users may read the key", true,
       set("Job", "/spec/template/spec/volumes/0/secret/items",
           Tree::array({{{"key", "note"}, {"path", "note"}, {"mode", 0644}},
                        {{"key", "key"}, {"path", "key"}, {"mode", 0400}}}))},
      {"the key's mode, and fsGroup", Kind::kJob,
       drop("Job", "/spec/template/spec/securityContext/fsGroup"),
       "fsGroup is missing, so only root can read the key"},
      {"the Secret's item of 32 bytes or more", Kind::kJob, remove_object("Secret"),
       "has the Secret mnist-key, which is in none of these files", false},
      {"the Secret's item of 32 bytes or more", Kind::kJob, set("Secret", "/data/key", "a2V5"),
       "Secret mnist-key: data.key has 3 bytes, but a key has 32 or more"},
      {"the Secret's item of 32 bytes or more", Kind::kJob, drop("Secret", "/data/key"),
       "Secret mnist-key: data.key is missing"},
  };
}

std::vector<Case> cases_of_resources() {
  return {
      {"a command line that rotarun takes", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--dead-line", "5", "mnist"}),
       "rotarun would refuse it with \"unknown option --dead-line; did you mean --deadline?\"",
       true, set("Job", kJobContainer + "/command", {"rotarun", "--np", "$(COUNT)", "mnist"})},
      {"a command line that rotarun takes", Kind::kJob,
       set("Job", kJobContainer + "/command", {"sh", "-c", "exec rotarun mnist"}),
       "command: no item of this list is rotarun, so rotarun's options are not checked: "
       "make rotarun an item, and each word after it an item of its own, as in [rotarun, mnist]",
       false, set("Job", kJobContainer + "/command", {"tini", "/usr/bin/rotarun", "mnist"})},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       set("Job", kLimits + "/memory", "16Mi"),
       "memory is \"16Mi\", but 2 ranks of a model of 0 parameters need "},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       set("Job", "/metadata/annotations", {{"rota/parameters", "100000000"}}),
       "2 ranks of a model of 100000000 parameters need 2406Mi before the program has any data"},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       set("Job", kLimits + "/memory", "lots"), "is not an amount: write it like 512Mi"},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       drop("Job", kLimits + "/memory"), "memory is missing", false},
      {"a CPU limit of a core or more", Kind::kJob, set("Job", kLimits + "/cpu", "900m"),
       "cpu is \"900m\", less than a core"},
      {"a CPU limit of a core or more", Kind::kJob, set("Job", kLimits + "/cpu", 1),
       "cpu is 1, but 2 ranks share it", false},
      {"a request not above its limit", Kind::kJob, set("Job", kRequests + "/cpu", "2100m"),
       "requests.cpu is \"2100m\", but the API refuses a request above the limit, which is \"2\": "
       "lower "
       "it, or raise the limit"},
      {"a request not above its limit", Kind::kJob, set("Job", kRequests + "/memory", "2Gi"),
       R"(requests.memory is "2Gi", but the API refuses a request above the limit, which is "1Gi")",
       true,
       [](Objects& objects) {
         set("Job", kLimits + "/memory", "1Gi")(objects);
         set("Job", kLimits + "/cpu", "0.7")(objects);
         set("Job", kRequests + "/cpu", "700m")(objects);
       }},
      {"a GPU for each rank", Kind::kJob, set("Job", kLimits + "/nvidia.com~1gpu", 1),
       "nvidia.com/gpu is 1, but there are 2 ranks", false,
       set("Job", kLimits + "/nvidia.com~1gpu", "2")},
  };
}

std::vector<Case> cases_of_pod() {
  return {
      {"probes that reach --status-port", Kind::kJob,
       set("Job", kJobContainer + "/livenessProbe/httpGet/port", 8081),
       "livenessProbe.httpGet.port is 8081, which is 8081, but --status-port is 8080: make them "
       "equal"},
      {"probes that reach --status-port", Kind::kJob,
       set("Job", kJobContainer + "/readinessProbe/httpGet/port", "http"),
       "readinessProbe.httpGet.port is http, but no port of the container has this name"},
      {"probes that reach --status-port", Kind::kJob,
       [](Objects& objects) {
         set("Job", kJobContainer + "/command/2", "8080")(objects);
         drop("Job", kJobContainer + "/livenessProbe")(objects);
       },
       "but --status-port 8080 answers only inside the pod: make it [::]:8080"},
      {"probes that reach --status-port", Kind::kJob,
       [](Objects& objects) {
         set("Job", kJobContainer + "/command",
             {"rotarun", "mnist", "--status-port=8080"})(objects);
         drop("Job", kJobContainer + "/livenessProbe")(objects);
       },
       "but nothing answers there: add --status-port [::]:8080 before the program"},
      {"probes that reach --status-port", Kind::kJob,
       set("Job", kJobContainer + "/livenessProbe/httpGet/path", "/readyz"),
       "livenessProbe.httpGet.path is /readyz, so a host that only waits for other hosts is "
       "killed"},
      {"terminationGracePeriodSeconds above --grace", Kind::kJob,
       set("Job", "/spec/template/spec/terminationGracePeriodSeconds", 20),
       "terminationGracePeriodSeconds is 20, but --grace gives the ranks 20.0 seconds"},
      {"terminationGracePeriodSeconds above --grace", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--grace", "1m", "mnist"}),
       "terminationGracePeriodSeconds is 30, but --grace gives the ranks 60.0 seconds"},
      {"dnsPolicy with hostNetwork", Kind::kJob, drop("Job", "/spec/template/spec/dnsPolicy"),
       "dnsPolicy is missing, but with hostNetwork, pods then ask the node's name "
       "servers",
       true, be_on_host_network},
      {"ROTA_HOST with hostNetwork", Kind::kJob, drop_element("Job", kJobContainer + "/env", 0),
       "env has no ROTA_HOST, but with hostNetwork a pod has the name of its node", true,
       be_on_host_network},
      {"ROTA_HOST with hostNetwork", Kind::kJob, drop_element("Job", kJobContainer + "/env", 0),
       "env has no ROTA_HOST, but with hostNetwork a pod has the name of its node", true,
       list_its_hosts_on_host_network},
      {"enableServiceLinks and automountServiceAccountToken", Kind::kJob,
       drop("Job", "/spec/template/spec/enableServiceLinks"), "enableServiceLinks is not false",
       false},
      {"enableServiceLinks and automountServiceAccountToken", Kind::kJob,
       set("Job", "/spec/template/spec/automountServiceAccountToken", true),
       "automountServiceAccountToken is not false", false},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& some : {cases_of_names(), cases_of_world(), cases_of_world_by_kind(),
                           cases_of_service(), cases_of_network(), cases_of_failure(),
                           cases_of_key(), cases_of_resources(), cases_of_pod()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (const auto& some : {rules_of_names(), rules_of_world(), rules_of_service(),
                           rules_of_failure(), rules_of_key(), rules_of_pod()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Findings findings_of(const std::string& rule, Objects objects) {
  const Manifest manifest(std::move(objects));
  Findings findings;
  for (const Rule& each : all_rules()) {
    if (each.name != rule) continue;
    for (const Workload& workload : manifest.workloads) {
      for (Finding& finding : each.check(manifest, workload)) findings.push_back(finding);
    }
  }
  return findings;
}

TEST(Rules, SayWhatIsWrongAndNothingOfTheGoodTwin) {
  for (const Case& each : all_cases()) {
    SCOPED_TRACE(each.rule + ": " + each.text);
    Objects objects = rendered(each.kind);
    each.prepare(objects);
    EXPECT_THAT(findings_of(each.rule, objects), IsEmpty());
    each.spoil(objects);
    const Findings findings = findings_of(each.rule, objects);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_THAT(findings[0].text, ::testing::HasSubstr(each.text));
    EXPECT_EQ(findings[0].is_error, each.is_error);
  }
}

TEST(Rules, LetASinglePortHaveNoName) {
  Objects objects = rendered(Kind::kJob);
  of_kind(objects, "Service")["spec"]["ports"] = Tree::array({{{"port", 7700}}});
  EXPECT_THAT(findings_of("names of ports", objects), IsEmpty());
}

TEST(Rules, HaveABadExampleEach) {
  std::set<std::string> tried;
  for (const Case& each : all_cases()) tried.insert(each.rule);
  std::set<std::string> known;
  for (const Rule& each : all_rules()) known.insert(std::string(each.name));
  EXPECT_EQ(tried, known);
}

TEST(Rules, AreOnThePageAboutManifests) {
  std::ifstream file(testing::source_path("docs/manifests.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const Rule& each : all_rules()) {
    EXPECT_THAT(page, ::testing::HasSubstr("\n| " + std::string(each.name) + " | "));
  }
}

}  // namespace
}  // namespace rota::manifest

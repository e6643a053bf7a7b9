// Each rule of rotarun render --check: what it says about a manifest that breaks it, and that it
// says nothing about the same one before it was broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "manifest/rendered.h"

namespace rota::manifest {
namespace {

using ::testing::IsEmpty;

using Objects = std::vector<Tree>;
using Pointer = Tree::json_pointer;

struct Case {
  std::string rule;
  Kind kind;
  std::function<void(Objects&)> spoil;
  std::string text;  // Of the one finding.
  bool is_error = true;
  std::function<void(Objects&)> prepare = [](Objects&) {};  // Of the good twin as well.
};

// Changes that most cases are made of.
auto set(const std::string& kind, const std::string& pointer, const Tree& value) {
  return [=](Objects& objects) { of_kind(objects, kind)[Pointer(pointer)] = value; };
}

auto drop(const std::string& kind, const std::string& pointer) {
  return [=](Objects& objects) {
    const Pointer place(pointer);
    of_kind(objects, kind)[place.parent_pointer()].erase(place.back());
  };
}

auto drop_element(const std::string& kind, const std::string& pointer, std::size_t index) {
  return [=](Objects& objects) { of_kind(objects, kind)[Pointer(pointer)].erase(index); };
}

auto remove_object(const std::string& kind) {
  return [=](Objects& objects) {
    std::erase_if(objects, [&](const Tree& each) { return text_at(each, "kind") == kind; });
  };
}

// A pod as TFJob makes them, with its Service.
void be_of_tfjob(Objects& objects) {
  Tree pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "mnist-worker-0"}}}};
  const Tree& job = of_kind(objects, "Job");
  pod["metadata"]["labels"] = map_at(job, "spec.template.metadata.labels");
  pod["spec"] = map_at(job, "spec.template.spec");
  pod["spec"].erase("subdomain");
  pod["spec"]["containers"][0].erase("readinessProbe");
  pod["spec"]["containers"][0]["env"] =
      Tree::array({{{"name", "TF_CONFIG"}, {"value", "{\"cluster\": {}}"}}});
  Tree service = of_kind(objects, "Service");
  service["spec"].erase("publishNotReadyAddresses");
  objects = {of_kind(objects, "Secret"), service, pod};
}

const std::string kJobContainer = "/spec/template/spec/containers/0";
const std::string kSetContainer = "/spec/replicatedJobs/0/template/spec/template/spec/containers/0";
const std::string kRuntimeJob = "/spec/template/spec/replicatedJobs/0/template/spec";
const std::string kCodes = "/spec/podFailurePolicy/rules/1/onExitCodes";
const std::string kLong(62, 'a');

std::vector<Case> cases_of_names() {
  return {
      {"a name that pods can be found by", Kind::kJob, set("Job", "/metadata/name", "Mnist_1"),
       "Job Mnist_1: metadata.name is \"Mnist_1\", and pods are to be found by it"},
      {"63 letters with the index", Kind::kJob, set("Job", "/metadata/name", kLong),
       "metadata.name makes the pod " + kLong +
           "-3 of 64 letters, and a host's name has 63 at most: shorten it by 1"},
      {"63 letters with the index", Kind::kJobSet, set("JobSet", "/metadata/name", kLong),
       "metadata.name makes the pod " + kLong + "-hosts-0-3 of 72 letters"},
      {"63 letters with the index", Kind::kTrainJob, set("TrainJob", "/metadata/name", kLong),
       "metadata.name makes the pod " + kLong + "-node-0-3 of 71 letters"},
      {"63 letters with the index", Kind::kStatefulSet,
       set("StatefulSet", "/metadata/name", std::string(53, 'a')),
       "has 53 letters, and a StatefulSet's has 52 at most"},
  };
}

std::vector<Case> cases_of_world() {
  return {
      {"completionMode: Indexed", Kind::kJob, drop("Job", "/spec/completionMode"),
       "Job mnist: spec.completionMode is missing, and without an index no pod knows which host it "
       "is: make it Indexed"},
      {"completionMode: Indexed", Kind::kJobSet,
       set("JobSet", "/spec/replicatedJobs/0/template/spec/completionMode", "NonIndexed"),
       "JobSet mnist: spec.replicatedJobs[0].template.spec.completionMode is NonIndexed"},
      {"parallelism as completions", Kind::kJob, set("Job", "/spec/parallelism", 3),
       "Job mnist: spec.parallelism is 3 and completions 4, and all pods have to run at once: make "
       "them equal"},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       set("Job", kJobContainer + "/env/0/value", "5"),
       "ROTA_HOSTS is 5, and spec.completions makes 4 pods: make them equal"},
      {"ROTA_HOSTS as the number of pods", Kind::kJob,
       drop_element("Job", kJobContainer + "/env", 0),
       "has no ROTA_HOSTS, and nobody else tells a pod how many there are: add it, with the value "
       "\"4\""},
      {"ROTA_HOSTS as the number of pods", Kind::kStatefulSet,
       set("StatefulSet", "/spec/replicas", 3), "ROTA_HOSTS is 4, and spec.replicas makes 3 pods"},
      {"ROTA_HOSTS as the number of pods", Kind::kJobSet,
       set("JobSet", "/spec/replicatedJobs/0/replicas", 2), "makes 8 pods: make them equal"},
      {"ROTA_WORLD as hosts times slots", Kind::kJob,
       set("Job", kJobContainer + "/env/2", {{"name", "ROTA_WORLD"}, {"value", "9"}}),
       "ROTA_WORLD is 9, and 4 pods of 2 slots make 8 ranks: make them equal", true,
       set("Job", kJobContainer + "/env/2", {{"name", "ROTA_WORLD"}, {"value", "8"}})},
      {"a TrainJob's trainer.numNodes", Kind::kTrainJob, drop("TrainJob", "/spec/trainer"),
       "TrainJob mnist: spec.trainer is missing, and without it no pod is told which node it is"},
      {"a TrainJob's trainer.numNodes", Kind::kTrainJob, drop("TrainJob", "/spec/trainer/numNodes"),
       "TrainJob mnist: spec.trainer.numNodes is missing"},
      {"a TrainJob's runtime", Kind::kTrainJob, set("TrainJob", "/spec/runtimeRef/name", "torch"),
       "TrainJob mnist: spec.runtimeRef names \"torch\", which is in none of these files", false},
      {"what Trainer tells its pods", Kind::kTrainJob,
       drop("TrainingRuntime", "/spec/mlPolicy/torch"),
       "TrainingRuntime mnist: spec.mlPolicy.torch is missing"},
      {"what Trainer tells its pods", Kind::kTrainJob,
       set("TrainingRuntime", kRuntimeJob + "/template/spec/containers/0/name", "rota"),
       "is \"rota\", and Trainer tells its pods about the world in the container node alone"},
      {"what Trainer tells its pods", Kind::kTrainJob,
       set("TrainingRuntime", kRuntimeJob + "/template/spec/containers/0/env/0",
           {{"name", "ROTA_HOSTS"}, {"value", "3"}}),
       "ROTA_HOSTS is 3, and spec.trainer.numNodes is 4: leave it out"},
      {"a JobSet's labels as variables", Kind::kJobSet,
       set("JobSet", kSetContainer + "/env/4/valueFrom/fieldRef/fieldPath", "metadata.name"),
       "JOBSET_JOB_INDEX is of another field: take it from the fieldPath "
       "metadata.labels['jobset.sigs.k8s.io/job-index']"},
      {"a JobSet's labels as variables", Kind::kJobSet,
       drop_element("JobSet", kSetContainer + "/env", 6), "JOBSET_RESTART_ATTEMPT is missing",
       false},
      {"ROTA_ORDINAL_START as ordinals.start", Kind::kStatefulSet,
       set("StatefulSet", "/spec/ordinals", {{"start", 1}}),
       "StatefulSet mnist: spec.ordinals.start is 1, which a pod cannot see, and "
       "ROTA_ORDINAL_START is missing: make it \"1\""},
  };
}

std::vector<Case> cases_of_service() {
  return {
      {"subdomain, or serviceName, as the Service's name", Kind::kJob,
       set("Job", "/spec/template/spec/subdomain", "train"),
       "Job mnist: spec.template.spec.subdomain is train, and the Service that selects these pods "
       "is another: make it mnist"},
      {"subdomain, or serviceName, as the Service's name", Kind::kStatefulSet,
       drop("StatefulSet", "/spec/serviceName"),
       "StatefulSet mnist: spec.serviceName is missing, and the Service that selects these pods is "
       "another: make it mnist"},
      {"subdomain, or serviceName, as the Service's name", Kind::kJob, remove_object("Service"),
       "subdomain is mnist, and that Service is in none of these files", false},
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
       "waits for the others, who cannot find a pod that is not ready by Service mnist", true,
       be_of_tfjob},
      {"names of ports", Kind::kJob, drop("Service", "/spec/ports/1/name"),
       "Service mnist: spec.ports[1].name is missing"},
      {"ROTA_SERVICE as the Service's name", Kind::kJob,
       set("Job", kJobContainer + "/env/2/value", "train"),
       "ROTA_SERVICE is train, and the pods' Service is mnist"},
      {"ROTA_SERVICE as the Service's name", Kind::kStatefulSet,
       drop_element("StatefulSet", kJobContainer + "/env", 2), "ROTA_SERVICE is missing"},
      {"the network of a set", Kind::kJobSet,
       set("JobSet", "/spec/network/publishNotReadyAddresses", false),
       "JobSet mnist: spec.network.publishNotReadyAddresses is false"},
      {"the network of a set", Kind::kTrainJob,
       set("TrainingRuntime", "/spec/template/spec/network/enableDNSHostnames", false),
       "TrainingRuntime mnist: spec.template.spec.network.enableDNSHostnames is false"},
  };
}

std::vector<Case> cases_of_failure() {
  return {
      {"restartPolicy: Never", Kind::kJob,
       set("Job", "/spec/template/spec/restartPolicy", "OnFailure"),
       "restartPolicy is OnFailure, and podFailurePolicy takes Never alone: make it Never"},
      {"restartPolicy: Never", Kind::kTrainJob,
       drop("TrainingRuntime", kRuntimeJob + "/template/spec/restartPolicy"),
       "restartPolicy is missing, and podFailurePolicy takes Never alone: make it Never"},
      {"exit codes of podFailurePolicy", Kind::kJob,
       set("Job", kCodes + "/values", Tree::array({143, 130})), "are not in ascending order"},
      {"exit codes of podFailurePolicy", Kind::kJob,
       set("Job", kCodes + "/values", Tree::array({143, 143})), "or one is there twice"},
      {"exit codes of podFailurePolicy", Kind::kJob,
       set("Job", kCodes + "/values", Tree::array({0, 143})), "have 0, which is a success"},
      {"exit codes of podFailurePolicy", Kind::kJob, drop("Job", kCodes + "/containerName"),
       "spec.podFailurePolicy.rules[1].onExitCodes.containerName is missing, so that the code of "
       "any other container counts too: make it rota"},
      {"exit codes of podFailurePolicy", Kind::kJob, set("Job", kCodes + "/containerName", "main"),
       "containerName is main, and no container is called so: make it rota"},
      {"maxFailedIndexes: 0", Kind::kJob, drop("Job", "/spec/maxFailedIndexes"),
       "Job mnist: spec.maxFailedIndexes is missing"},
      {"podFailurePolicy", Kind::kJob, drop("Job", "/spec/podFailurePolicy"),
       "Job mnist: spec.podFailurePolicy is missing", false},
      {"a set's backoffLimit: 0", Kind::kJobSet,
       drop("JobSet", "/spec/replicatedJobs/0/template/spec/backoffLimit"),
       "backoffLimit is 6 by default", false},
      {"podManagementPolicy: Parallel", Kind::kStatefulSet,
       drop("StatefulSet", "/spec/podManagementPolicy"),
       "StatefulSet mnist: spec.podManagementPolicy is OrderedReady by default"},
      {"--when-done wait", Kind::kStatefulSet,
       set("StatefulSet", kJobContainer + "/command", {"rotarun", "mnist", "--when-done"}),
       "has no --when-done wait", false},
  };
}

std::vector<Case> cases_of_key() {
  return {
      {"a key, mounted where rotarun looks", Kind::kJob,
       drop_element("Job", kJobContainer + "/volumeMounts", 0),
       "volumeMounts has nothing at /etc/rota/key"},
      {"the key's mode, and fsGroup", Kind::kJob,
       drop("Job", "/spec/template/spec/volumes/0/secret/defaultMode"),
       "the secret's defaultMode is 0644 by default, so that others may read the key"},
      {"the key's mode, and fsGroup", Kind::kJob,
       drop("Job", "/spec/template/spec/securityContext/fsGroup"),
       "fsGroup is missing, so that the key is root's alone"},
      {"the Secret's item of 32 bytes or more", Kind::kJob, remove_object("Secret"),
       "has the Secret mnist-key, which is in none of these files", false},
      {"the Secret's item of 32 bytes or more", Kind::kJob, set("Secret", "/data/key", "a2V5"),
       "Secret mnist-key: data.key holds 3 bytes, and a key has 32 or more"},
      {"the Secret's item of 32 bytes or more", Kind::kJob, drop("Secret", "/data/key"),
       "Secret mnist-key: data.key is missing"},
  };
}

std::vector<Case> cases_of_pod() {
  const std::string limits = kJobContainer + "/resources/limits";
  return {
      {"a command line that rotarun takes", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--dead-line", "5", "mnist"}),
       "rotarun would refuse it with \"unknown option --dead-line; did you mean --deadline?\"",
       true, set("Job", kJobContainer + "/command", {"rotarun", "--np", "$(COUNT)", "mnist"})},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       set("Job", limits + "/memory", "16Mi"),
       "memory is \"16Mi\", and 2 ranks of a model of 0 parameters need "},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       set("Job", "/metadata/annotations", {{"rota/parameters", "100000000"}}),
       "2 ranks of a model of 100000000 parameters need 2406Mi before the program has any data"},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       set("Job", limits + "/memory", "lots"), "is no amount: write it like 512Mi"},
      {"a memory limit that ranks and buckets fit into", Kind::kJob,
       drop("Job", limits + "/memory"), "memory is missing", false},
      {"a CPU limit of a core or more", Kind::kJob, set("Job", limits + "/cpu", "900m"),
       "cpu is \"900m\", less than a core"},
      {"a CPU limit of a core or more", Kind::kJob, set("Job", limits + "/cpu", 1),
       "cpu is 1, and 2 ranks share that", false},
      {"a GPU for each rank", Kind::kJob, set("Job", limits + "/nvidia.com~1gpu", 1),
       "nvidia.com/gpu is 1, and there are 2 ranks", false,
       set("Job", limits + "/nvidia.com~1gpu", "2")},
      {"probes that reach --status-port", Kind::kJob,
       set("Job", kJobContainer + "/livenessProbe/httpGet/port", 8081),
       "livenessProbe.httpGet.port is 8081, which is 8081, and --status-port is 8080: make them "
       "equal"},
      {"probes that reach --status-port", Kind::kJob,
       set("Job", kJobContainer + "/readinessProbe/httpGet/port", "http"),
       "readinessProbe.httpGet.port is http, and no port of the container is called so"},
      {"probes that reach --status-port", Kind::kJob,
       [](Objects& objects) {
         set("Job", kJobContainer + "/command/2", "8080")(objects);
         drop("Job", kJobContainer + "/livenessProbe")(objects);
       },
       "and --status-port 8080 answers within the pod alone: make it [::]:8080"},
      {"probes that reach --status-port", Kind::kJob,
       [](Objects& objects) {
         set("Job", kJobContainer + "/command",
             {"rotarun", "mnist", "--status-port=8080"})(objects);
         drop("Job", kJobContainer + "/livenessProbe")(objects);
       },
       "and nothing answers there: add --status-port [::]:8080 before the program"},
      {"probes that reach --status-port", Kind::kJob,
       set("Job", kJobContainer + "/livenessProbe/httpGet/path", "/readyz"),
       "livenessProbe.httpGet.path is /readyz, so that a host is killed which only waits"},
      {"terminationGracePeriodSeconds above --grace", Kind::kJob,
       set("Job", "/spec/template/spec/terminationGracePeriodSeconds", 20),
       "terminationGracePeriodSeconds is 20, and the ranks have 20.0 seconds by --grace"},
      {"terminationGracePeriodSeconds above --grace", Kind::kJob,
       set("Job", kJobContainer + "/command", {"rotarun", "--grace", "1m", "mnist"}),
       "terminationGracePeriodSeconds is 30, and the ranks have 60.0 seconds by --grace"},
      {"dnsPolicy with hostNetwork", Kind::kJob, drop("Job", "/spec/template/spec/dnsPolicy"),
       "dnsPolicy is missing, and with hostNetwork the names of pods are asked for at the node's "
       "servers",
       true,
       [](Objects& objects) {
         set("Job", "/spec/template/spec/hostNetwork", true)(objects);
         set("Job", "/spec/template/spec/dnsPolicy", "ClusterFirstWithHostNet")(objects);
       }},
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
  for (const auto& some : {cases_of_names(), cases_of_world(), cases_of_service(),
                           cases_of_failure(), cases_of_key(), cases_of_pod()}) {
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

TEST(Rules, HaveABadExampleEach) {
  std::set<std::string> tried;
  for (const Case& each : all_cases()) tried.insert(each.rule);
  std::set<std::string> known;
  for (const Rule& each : all_rules()) known.insert(std::string(each.name));
  EXPECT_EQ(tried, known);
}

TEST(Rules, AreOnThePageAboutManifests) {
  std::ifstream file(ROTA_SOURCE_DIR "/docs/manifests.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const Rule& each : all_rules()) {
    EXPECT_THAT(page, ::testing::HasSubstr("\n| " + std::string(each.name) + " | "));
  }
}

TEST(Check, FindsNothingWrongWithWhatIsRendered) {
  for (const Kind kind : {Kind::kJob, Kind::kJobSet, Kind::kTrainJob, Kind::kStatefulSet}) {
    SCOPED_TRACE(to_text(kind));
    const Manifest manifest(rendered(kind));
    EXPECT_THAT(check(manifest), IsEmpty());
    EXPECT_EQ(manifest.workloads.size(), 1U);
  }
}

TEST(Check, SaysWhereNothingStartsRotarun) {
  Objects objects = rendered(Kind::kJob);
  remove_object("Job")(objects);
  const Findings findings = check(Manifest(std::move(objects)));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].text, ::testing::StartsWith("nothing here starts rotarun"));
}

TEST(Check, LeavesOtherProgramsAlone) {
  Objects objects = rendered(Kind::kStatefulSet);
  Tree other = of_kind(objects, "StatefulSet");
  other["spec"]["template"]["spec"] = {{"containers", Tree::array({{{"name", "db"}}})}};
  other["spec"].erase("podManagementPolicy");
  objects.push_back(other);
  EXPECT_THAT(check(Manifest(std::move(objects))), IsEmpty());
}

// A namespace is a world of its own.
TEST(Check, LooksForAServiceInTheSameNamespace) {
  Objects objects = rendered(Kind::kJob);
  set("Service", "/metadata/namespace", "elsewhere")(objects);
  const Findings findings = check(Manifest(std::move(objects)));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].text, ::testing::HasSubstr("that Service is in none of these files"));
}

// Whatever stands where a map or a text is expected, it is no reason to fall over.
TEST(Check, GetsOverAnyShape) {
  for (const Kind kind : {Kind::kJob, Kind::kJobSet, Kind::kTrainJob, Kind::kStatefulSet}) {
    for (const Tree& wrong : {Tree(nullptr), Tree(7), Tree("text"), Tree::array({1}), Tree(true)}) {
      const Objects good = rendered(kind);
      const Tree flat = Tree(good).flatten();
      for (const auto& item : flat.items()) {
        for (Pointer place(item.key()); !place.empty(); place = place.parent_pointer()) {
          if (place.parent_pointer().empty()) break;
          Tree all = good;
          all[place] = wrong;
          Objects spoiled;
          for (const Tree& each : all) spoiled.push_back(each);
          check(Manifest(std::move(spoiled)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace rota::manifest

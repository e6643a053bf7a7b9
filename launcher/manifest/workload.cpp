// What makes the pods of a job, seen the same way whatever its kind.
#include "launcher/manifest/workload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <rota/error.h>

#include "cluster/sources.h"
#include "cluster/specification.h"
#include "launcher/command/flags.h"

namespace rota::manifest {
namespace {

constexpr std::string_view kProgram = "rotarun";

bool is_runtime(const Tree& object) {
  const std::string kind = text_at(object, "kind");
  return kind == "TrainingRuntime" || kind == "ClusterTrainingRuntime";
}

bool is_program(const Tree& word) {
  if (!word.is_string()) return false;
  const auto text = word.get<std::string>();
  return text == kProgram || text.ends_with("/rotarun");
}

bool has_program(const Tree& container) {
  return std::ranges::any_of(list_at(container, "command"), is_program) ||
         std::ranges::any_of(list_at(container, "args"), is_program);
}

bool is_ours(const Tree& container) {
  if (has_program(container)) return true;
  return std::ranges::any_of(list_at(container, "env"), [](const Tree& variable) {
    return text_at(variable, "name").starts_with("ROTA_");
  });
}

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

const Tree& Workload::pod_labels() const {
  static const Tree kNone = Tree::object();
  if (pods_owner == nullptr) return kNone;
  return map_at(*pods_owner,
                template_path + (template_path.empty() ? "" : ".") + "metadata.labels");
}

const Tree& Workload::pod_spec() const {
  static const Tree kNone = Tree::object();
  if (pods_owner == nullptr || (template_path.empty() && kind != "Pod")) return kNone;
  return map_at(*pods_owner, template_path + (template_path.empty() ? "" : ".") + "spec");
}

const Tree& Workload::job_spec() const {
  static const Tree kNone = Tree::object();
  return pods_owner == nullptr || job_path.empty() ? kNone : map_at(*pods_owner, job_path);
}

const Tree& Workload::main_container() const {
  return map_at(pod_spec(), "containers[" + std::to_string(container) + "]");
}

std::vector<Variable> Workload::variables() const {
  std::vector<Variable> all;
  for (const Tree& each : list_at(main_container(), "env")) {
    Variable variable{.name = text_at(each, "name"),
                      .value = text_at(each, "value"),
                      .field_path = text_at(each, "valueFrom.fieldRef.fieldPath")};
    all.push_back(std::move(variable));
  }
  return all;
}

// "rotarun" is left out, and so is what stands before it; the entrypoint of an image is unknown.
std::vector<std::string> Workload::words() const {
  std::vector<std::string> all;
  for (const char* field : {"command", "args"}) {
    for (const Tree& word : list_at(main_container(), field)) {
      const std::string text = word.is_string() ? word.get<std::string>() : std::string();
      if (text == kProgram || text.ends_with("/rotarun")) {
        all.clear();
      } else {
        all.push_back(text);
      }
    }
  }
  return all;
}

bool Workload::hides_its_program() const {
  return !list_at(main_container(), "command").empty() && !has_program(main_container());
}

// By the library's own parser, but for what the kubelet puts into it first.
std::optional<HostList> Workload::host_list() const {
  const auto all = variables();
  const Variable* hosts = find_variable(all, "ROTA_HOSTS");
  if (hosts == nullptr) return std::nullopt;
  if (hosts->value.find("$(") != std::string::npos) return HostList{};
  const std::vector<std::string> entries = {"ROTA_HOSTS=" + hosts->value};
  try {
    const auto specification =
        cluster::from_rota_hosts({.environment = cluster::Environment(entries)});
    if (!specification) return std::nullopt;
    HostList list;
    for (const cluster::Host& host : specification->hosts) list.names.push_back(host.name);
    return list;
  } catch (const Error& error) {
    return HostList{.trouble = error.what()};
  }
}

// "mnist-3", or "mnist-hosts-0-3" where jobs are replicated; what follows a dot is the Service's.
bool Workload::is_own_pod(std::string_view host_name) const {
  const std::string_view label = host_name.substr(0, host_name.find('.'));
  if (kind == "Pod") return label == name;
  const std::string before = name + "-" + (set_name.empty() ? "" : set_name + "-");
  return label.starts_with(before) &&
         label.find_first_not_of("0123456789-", before.size()) == std::string_view::npos;
}

bool Workload::names_its_hosts() const {
  const std::vector<std::string> all = words();
  const auto variables_here = variables();
  const bool is_flag = std::ranges::any_of(
      all, [](const std::string& word) { return word.find("worker_hosts") != std::string::npos; });
  return is_flag || host_list() || find_variable(variables_here, "TF_CONFIG") != nullptr ||
         has_flag(all, "host") || has_flag(all, "hostfile") || has_flag(all, "this-host");
}

bool Workload::is_trainers() const { return kind == "TrainJob" || is_runtime(*object); }

std::size_t Workload::slot_count() const {
  const auto all = variables();
  const Variable* slots = find_variable(all, "ROTA_SLOTS");
  const auto count =
      slots == nullptr ? count_at(*object, "spec.trainer.numProcPerNode") : to_count(slots->value);
  return is_rank_count(count) ? *count : 1;
}

std::optional<std::size_t> Workload::world_size() const {
  const std::size_t hosts = host_count.value_or(1);
  if (!is_rank_count(hosts)) return std::nullopt;
  return slot_count() * hosts;
}

std::string Workload::pod_field(const std::string& path) const {
  const std::string before = template_path.empty() ? "spec" : template_path + ".spec";
  return name_of(pods_owner != nullptr ? *pods_owner : *object) + ": " + before + "." + path;
}

std::string Workload::job_field(const std::string& path) const {
  return name_of(pods_owner != nullptr ? *pods_owner : *object) + ": " + job_path + "." + path;
}

std::string Workload::container_field(const std::string& path) const {
  return pod_field("containers[" + std::to_string(container) + "]." + path);
}

std::string Workload::object_field(const std::string& path) const {
  return name_of(*object) + ": " + path;
}

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

std::optional<std::size_t> to_count(const std::string& text) {
  std::size_t count = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && read_to == end ? std::optional(count) : std::nullopt;
}

bool is_rank_count(std::optional<std::size_t> count) {
  return count && *count >= 1 && *count <= cluster::kMaxRanks;
}

std::string name_of(const Tree& object) {
  return text_at(object, "kind") + " " + text_at(object, "metadata.name");
}

const Variable* find_variable(const std::vector<Variable>& variables, std::string_view name) {
  // The last of a name is the one that counts.
  const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                  [&](const Variable& each) { return each.name == name; });
  return found == variables.rend() ? nullptr : &*found;
}

std::optional<std::string> flag_value(const std::vector<std::string>& words,
                                      std::string_view flag) {
  std::optional<std::string> last;
  for (std::size_t i = 0; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "--") break;
    const std::size_t begin = words[i].find_first_not_of('-');
    if (begin == std::string::npos) break;
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string name = words[i].substr(begin, equals - begin);
    const bool is_joined = equals < words[i].size();
    const launcher::Flag* known = launcher::find_flag(name);
    const bool takes_value = known != nullptr && !known->value.empty();
    std::string value;
    if (is_joined) value = words[i].substr(equals + 1);
    if (!is_joined && takes_value && i + 1 < words.size()) value = words[++i];
    if (name == flag) last = value;
  }
  return last;
}

bool has_flag(const std::vector<std::string>& words, std::string_view flag) {
  return flag_value(words, flag).has_value();
}

}  // namespace rota::manifest

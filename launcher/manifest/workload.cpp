// Reads a workload, the object that makes the pods of a job, in the same way for every kind.
#include "launcher/manifest/workload.h"

#include <algorithm>
#include <charconv>

#include <rota/error.h>

#include "cluster/sources.h"
#include "cluster/specification.h"
#include "launcher/command/flags.h"

namespace rota::manifest {
namespace {

constexpr std::string_view kProgram = "rotarun";

bool is_program(const Tree& word) {
  if (!word.is_string()) return false;
  const auto text = word.get<std::string>();
  return text == kProgram || text.ends_with("/rotarun");
}

bool has_program(const Tree& container) {
  return std::ranges::any_of(list_at(container, "command"), is_program) ||
         std::ranges::any_of(list_at(container, "args"), is_program);
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

// Returns the words after "rotarun". Without "rotarun" it returns all words, since the entrypoint
// of the image is unknown.
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

// Reads the list with the library's own parser. A list with $(VARIABLE), which the kubelet fills
// in, is empty.
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

// Returns whether a pod has this name. A pod is "mnist-3", or "mnist-hosts-0-3" in a replicated
// job. The part after the first dot names the Service.
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

bool is_runtime(const Tree& object) {
  const std::string_view kind = view_at(object, "kind");
  return kind == "TrainingRuntime" || kind == "ClusterTrainingRuntime";
}

bool is_ours(const Tree& container) {
  if (has_program(container)) return true;
  return std::ranges::any_of(list_at(container, "env"), [](const Tree& variable) {
    return text_at(variable, "name").starts_with("ROTA_");
  });
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
  // If a name occurs several times, the last one counts.
  const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                  [&](const Variable& each) { return each.name == name; });
  return found == variables.rend() ? nullptr : &*found;
}

std::string shown_value(const Variable* variable) {
  if (variable == nullptr) return "missing";
  return variable->value.empty() ? "empty" : variable->value;
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

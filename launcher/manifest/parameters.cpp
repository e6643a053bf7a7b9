// Parses the command line of rotarun render. One table serves parsing, --help and suggestions.
#include "launcher/manifest/parameters.h"

#include <rota/nearest_name.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#define CXXOPTS_VECTOR_DELIMITER '\0'
#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "cluster/specification.h"
#include "launcher/command/options.h"
#include "launcher/job/exit_policy.h"
#include "launcher/manifest/names.h"
#include "launcher/manifest/quantity.h"

namespace rota::manifest {
namespace {

using launcher::UsageError;

struct Flag {
  std::string_view name;
  std::string_view value;
  std::string_view help;
};

constexpr Flag kFlags[] = {
    {"name", "NAME", "The name of the job and of its objects"},
    {"workers", "N", "The number of pods that train together"},
    {"slots", "N", "Ranks of each pod (default: 1)"},
    {"image", "IMAGE", "An image with rotarun and the program"},
    {"kind", "job|jobset|trainjob|statefulset",
     "The kind of object that makes the pods (default: job)"},
    {"gpu", "N", "GPUs of each pod, nvidia.com/gpu (default: 0)"},
    {"cpu", "CORES", "CPU limit of each pod (default: one core for each slot)"},
    {"cpu-request", "CORES", "CPU request of each pod (default: as --cpu)"},
    {"memory", "BYTES",
     "Memory limit of each pod (default: from a formula, with 256Mi for the program of each rank)"},
    {"parameters", "N", "Parameters of the model, for the memory formula and for --check"},
    {"data-claim", "NAME", "A volume claim to mount at /data"},
    {"data-size", "BYTES",
     "Also print that claim, which many nodes can write to; kubectl delete -f deletes it too"},
    {"key-secret", "NAME",
     "An existing Secret with the job's key in its item \"key\" (default: a new one is printed)"},
    {"namespace", "NAME", "The namespace of the objects (default: where they are applied)"},
    {"restarts", "N", "How often the world may form again after a failure (default: 3)"},
    {"check", "", "Read manifests, from FILE... or - for standard input, and print what is wrong"},
    {"help", "", "Print this help"},
};

struct KindName {
  std::string_view name;
  Kind kind;
};

constexpr KindName kKinds[] = {{"job", Kind::kJob},
                               {"jobset", Kind::kJobSet},
                               {"trainjob", Kind::kTrainJob},
                               {"statefulset", Kind::kStatefulSet}};

constexpr std::uint64_t kMostParameters = 1'000'000'000'000;

cxxopts::Options make_parser() {
  cxxopts::Options parser(
      "rotarun render",
      "Prints the Kubernetes objects of a job, or checks the objects in a file.\n");
  parser.custom_help(
      "--name NAME --workers N --image IMAGE [options] -- [rotarun's options] "
      "program [arguments]\n  rotarun render --check FILE...");
  parser.positional_help("");
  for (const Flag& flag : kFlags) {
    std::shared_ptr<cxxopts::Value> value = cxxopts::value<bool>();
    if (!flag.value.empty()) value = cxxopts::value<std::string>();
    parser.add_options()(std::string(flag.name), std::string(flag.help), value,
                         std::string(flag.value));
  }
  return parser;
}

[[noreturn]] void throw_unknown(const std::string& argument) {
  std::vector<std::string_view> names;
  for (const Flag& flag : kFlags) names.push_back(flag.name);
  const std::string name = argument.substr(0, argument.find('='));
  std::string text = "unknown option " + name;
  const auto nearest = nearest_name(name.substr(name.find_first_not_of('-')), names);
  if (!nearest.empty()) text += "; did you mean --" + std::string(nearest) + "?";
  throw UsageError(text);
}

void require_known(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (!argument.starts_with('-') || argument == "-") continue;
    const std::string name = argument.substr(0, argument.find('='));
    const bool is_known = std::ranges::any_of(
        kFlags, [&](const Flag& flag) { return name == "--" + std::string(flag.name); });
    if (!is_known && argument.size() > 1 && !std::isdigit(argument[1])) throw_unknown(argument);
  }
}

template <class Count>
Count count_within(const std::string& flag, const std::string& text, Count least, Count most) {
  Count count = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && read_to == end && count >= least && count <= most) return count;
  throw UsageError("--" + flag + " " + text + ": the value must be a whole number from " +
                   std::to_string(least) + " to " + std::to_string(most));
}

std::string to_quantity(const std::string& flag, const std::string& text) {
  if (parse_quantity(text).value_or(0) > 0) return text;
  throw UsageError("--" + flag + " " + text + ": the value must be an amount, such as " +
                   (flag.starts_with("cpu") ? "2 or 500m" : "512Mi or 2Gi"));
}

std::string to_object_name(const std::string& flag, const std::string& text) {
  if (is_object_name(text)) return text;
  throw UsageError("--" + flag + " " + text +
                   ": a name must consist of lower-case letters, digits, hyphens and dots, with a "
                   "letter or a digit at both ends");
}

// Checks the name of a namespace. A namespace has no dots in its name.
std::string to_label(const std::string& flag, const std::string& text) {
  if (is_label(text)) return text;
  throw UsageError("--" + flag + " " + text +
                   ": a name must consist of at most 63 lower-case letters, digits and hyphens, "
                   "with a letter or a digit at both ends");
}

Kind to_kind(const std::string& text) {
  for (const KindName& each : kKinds) {
    if (each.name == text) return each.kind;
  }
  throw UsageError("--kind " + text +
                   ": the value must be one of job, jobset, trainjob, statefulset");
}

void read_counts(const std::string& name, const std::string& text, Parameters& parameters) {
  const auto ranks = [&](std::size_t least) {
    return count_within(name, text, least, cluster::kMaxRanks);
  };
  if (name == "workers") parameters.worker_count = ranks(1);
  if (name == "slots") parameters.slot_count = ranks(1);
  if (name == "gpu") parameters.gpu_count = ranks(0);
  if (name == "restarts") parameters.restart_count = ranks(0);
  if (name == "parameters") {
    parameters.parameter_count = count_within(name, text, std::uint64_t{1}, kMostParameters);
  }
}

void read_texts(const std::string& name, const std::string& text, Parameters& parameters) {
  if (name == "name") parameters.name = text;
  if (name == "image") parameters.image = text;
  if (name == "kind") parameters.kind = to_kind(text);
  if (name == "cpu") parameters.cpu = to_quantity(name, text);
  if (name == "cpu-request") parameters.cpu_request = to_quantity(name, text);
  if (name == "memory") parameters.memory = to_quantity(name, text);
  if (name == "data-claim") parameters.data_claim = to_object_name(name, text);
  if (name == "data-size") parameters.data_size = to_quantity(name, text);
  if (name == "key-secret") parameters.key_secret = to_object_name(name, text);
  if (name == "namespace") parameters.name_space = to_label(name, text);
}

// The name of the kind in the API, and the name of its replicated job.
struct PodNames {
  std::string_view kind;
  std::string set;
};

PodNames pod_names(Kind kind) {
  switch (kind) {
    case Kind::kJobSet:
      return {"JobSet", "hosts"};
    case Kind::kTrainJob:
      return {"TrainJob", "node"};
    case Kind::kStatefulSet:
      return {"StatefulSet", ""};
    case Kind::kJob:
      break;
  }
  return {"Job", ""};
}

void check_name(const Parameters& parameters) {
  const std::string& name = parameters.name;
  if (!is_service_name(name)) {
    throw UsageError("--name " + name +
                     ": a name must consist of at most 63 lower-case letters, digits and hyphens, "
                     "with a letter first and no hyphen last");
  }
  const auto [kind, set] = pod_names(parameters.kind);
  const std::string pod = longest_pod_name(kind, name, set, parameters.worker_count);
  if (pod.size() > kMostNameLetters) {
    throw UsageError("--name " + name + ": the pod " + pod + " would have " +
                     std::to_string(pod.size()) + " letters, but a host's name has at most 63");
  }
  if (name.size() > most_letters(kind)) {
    throw UsageError("--name " + name + ": a StatefulSet's name has at most " +
                     std::to_string(most_letters(kind)) + " letters");
  }
}

void check_amounts(const cxxopts::ParseResult& given, const Parameters& parameters) {
  if (parameters.worker_count * parameters.slot_count > cluster::kMaxRanks) {
    throw UsageError("--workers times --slots is the number of ranks: at most " +
                     std::to_string(cluster::kMaxRanks));
  }
  if (parse_quantity(parameters.cpu).value_or(1) < 1) {
    throw UsageError("--cpu " + parameters.cpu +
                     ": with less than a core, a rank would be paused again and again; give 1 or "
                     "more, and use --cpu-request for less");
  }
  if (!parameters.data_size.empty() && parameters.data_claim.empty()) {
    throw UsageError("--data-size is the size of a claim: name the claim with --data-claim");
  }
  if (parameters.kind == Kind::kStatefulSet && given.count("restarts") > 0) {
    throw UsageError(
        "--restarts does not apply to a StatefulSet, which always starts its pods again, without "
        "a limit: leave --restarts out");
  }
}

// Parses the words after "--" with rotarun's own parser, so that this parser's messages explain
// errors.
void read_command_line(std::vector<std::string> words, Parameters& parameters) {
  if (words.empty()) throw UsageError("there is no program to start: give it after \"--\"");
  const launcher::Options options = launcher::parse_options(words);
  const bool has_program = std::ranges::any_of(options.groups, [](const launcher::Group& group) {
    const std::string first = group.program.empty() ? "" : group.program.front();
    return first == "rotarun" || first.ends_with("/rotarun");
  });
  if (has_program) throw UsageError("rotarun render adds rotarun itself: leave it out after --");
  if (options.status_address) {
    throw UsageError(
        "--status-port: the pods answer at port 8080, which their probes use: leave it out");
  }
  if (options.host_list || options.hostfile || options.this_host || options.follow) {
    throw UsageError(
        "the hosts of the job are its pods, and --workers gives their number: leave out --host, "
        "--hostfile, --this-host and --follow");
  }
  const auto grace = options.grace.value_or(launcher::kRequestGrace);
  parameters.grace_seconds =
      static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(grace).count());
  parameters.first_port = options.ports.first;
  parameters.encrypts = options.encrypt;
  parameters.command_line = std::move(words);
}

}  // namespace

std::string to_text(Kind kind) {
  return std::string(std::ranges::find(kKinds, kind, &KindName::kind)->name);
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  constexpr std::size_t kUsualRestarts = 3;
  const auto split = std::ranges::find(arguments, "--");
  std::vector<std::string> own(arguments.begin(), split);
  require_known(own);
  std::vector<const char*> argv{"rotarun render"};
  for (const std::string& argument : own) argv.push_back(argument.c_str());
  CommandLine line;
  Parameters& parameters = line.parameters;
  parameters.restart_count = kUsualRestarts;
  try {
    cxxopts::Options parser = make_parser();
    const auto given = parser.parse(static_cast<int>(argv.size()), argv.data());
    line.help = given.count("help") > 0;
    line.is_check = given.count("check") > 0;
    if (line.help) return line;
    line.files = given.unmatched();
    if (line.is_check) {
      if (line.files.empty()) throw UsageError("--check needs a file, or - for standard input");
      if (given.arguments().size() > 1)
        throw UsageError("--check cannot be combined with other options");
      return line;
    }
    for (const auto& pair : given.arguments()) {
      read_counts(pair.key(), pair.value(), parameters);
      read_texts(pair.key(), pair.value(), parameters);
    }
    if (!line.files.empty()) {
      throw UsageError("give the program and its arguments after \"--\": -- " + line.files[0]);
    }
    for (const char* needed : {"name", "workers", "image"}) {
      if (given.count(needed) == 0) throw UsageError("--" + std::string(needed) + " is needed");
    }
    check_name(parameters);
    check_amounts(given, parameters);
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
  read_command_line({split == arguments.end() ? split : split + 1, arguments.end()}, parameters);
  return line;
}

std::string help_text() {
  return make_parser().help() + R"(
--check exits with 0 if nothing is wrong, and otherwise with 78; hints do not count.

Examples:
  rotarun render --name mnist --workers 4 --slots 2 --image rota-mnist -- mnist | kubectl apply -f -
  rotarun render --kind jobset --name mnist --workers 4 --gpu 1 --image rota-mnist \
                 --data-claim mnist-data -- mnist --checkpoint-dir /data/checkpoints
  kubectl kustomize k8s/overlays/job | rotarun render --check -
)";
}

}  // namespace rota::manifest

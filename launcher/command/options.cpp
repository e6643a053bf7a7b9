// Parses the command line of rotarun. First it separates rotarun's options from the program and its
// arguments; then cxxopts parses the options.
#include "launcher/command/options.h"

#include <algorithm>
#include <csignal>

// A value of -x may contain commas. By default, cxxopts would cut the value there. cxxopts can
// parse the options of rotarun without regular expressions.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "cluster/environment.h"
#include "launcher/command/flags.h"
#include "launcher/command/option_values.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

// Separates groups, as for mpirun.
constexpr std::string_view kNextGroup = ":";

[[noreturn]] void throw_unknown(const std::string& argument) {
  const std::size_t begin = argument.find_first_not_of('-');
  const std::string name = argument.substr(begin, argument.find('=') - begin);
  std::string text = "unknown option " + argument.substr(0, argument.find('='));
  const std::string_view nearest = nearest_flag(name);
  if (!nearest.empty()) text += "; did you mean --" + std::string(nearest) + "?";
  throw UsageError(text);
}

// An option of rotarun, read from the front of the arguments.
struct Given {
  const Flag* flag = nullptr;
  std::optional<std::string> value;  // The value in the same argument: --np=4, -n4.
  const Habit* habit = nullptr;      // Another launcher's flag that was typed, or null.
};

Given read_habit(const Habit& habit, const std::string& argument,
                 std::optional<std::string> value) {
  const Flag* flag = find_flag(habit.flag);
  if (flag) return {flag, std::move(value), &habit};
  throw UsageError(argument.substr(0, argument.find('=')) + ": " + std::string(habit.advice));
}

// Reads a flag. A long name may also follow one hyphen, such as -np, as for mpirun.
Given read_flag(const std::string& argument) {
  const std::size_t name_begin = argument.starts_with("--") ? 2 : 1;
  const std::size_t name_end = std::min(argument.find('='), argument.size());
  Given given{find_flag(argument.substr(name_begin, name_end - name_begin)), std::nullopt, nullptr};
  if (name_end < argument.size()) given.value = argument.substr(name_end + 1);
  if (given.flag) return given;
  if (const Habit* habit = find_habit(argument.substr(name_begin, name_end - name_begin))) {
    return read_habit(*habit, argument, given.value);
  }
  const Flag* by_letter = name_begin == 1 ? find_flag(argument.substr(1, 1)) : nullptr;
  if (!by_letter || by_letter->value.empty()) throw_unknown(argument);
  const std::string rest = argument.substr(2);
  if (find_flag(rest.substr(0, 1)) == nullptr && by_letter->name == "np" &&
      rest.find_first_not_of("0123456789") != std::string::npos) {
    throw_unknown(argument);  // -nq is a typing error, not a count of q.
  }
  return {by_letter, rest, nullptr};
}

// The arguments of one group.
struct Divided {
  std::vector<std::string> ours;  // "--name=value" and "--name".
  std::vector<std::string> program;
  bool has_next = false;  // Another group follows ":".
};

using Arguments = std::vector<std::string>;

// Reads one group that begins at `next`. Moves `next` to the group that follows.
Divided divide(Arguments::const_iterator& next, Arguments::const_iterator end) {
  Divided divided;
  while (next != end && next->starts_with('-') && *next != "-") {
    const std::string& argument = *next++;
    if (argument == "--") break;
    Given given = read_flag(argument);
    const std::string name = "--" + std::string(given.flag->name);
    if (given.flag->value.empty()) {
      if (given.value) throw UsageError(name + " takes no value");
      divided.ours.push_back(name);
      continue;
    }
    if (!given.value) {
      if (next == end) {
        throw UsageError(name + " needs a value: " + std::string(given.flag->value));
      }
      given.value = *next++;
    }
    if (const Habit* habit = given.habit) {
      given.value = std::string(habit->before) + *given.value + std::string(habit->after);
    }
    divided.ours.push_back(name + "=" + *given.value);
  }
  const auto program_end = std::find(next, end, kNextGroup);
  divided.program.assign(next, program_end);
  divided.has_next = program_end != end;
  next = divided.has_next ? program_end + 1 : end;
  return divided;
}

cxxopts::Options make_parser() {
  cxxopts::Options parser("rotarun", "Starts a program as N ranks that train together.\n");
  parser.custom_help("[options] program [arguments]");
  for (const Flag& flag : flags()) {
    const std::string names = (flag.short_name.empty() ? "" : std::string(flag.short_name) + ",") +
                              std::string(flag.name);
    std::shared_ptr<cxxopts::Value> value = cxxopts::value<bool>();
    if (!flag.value.empty()) value = cxxopts::value<std::string>();
    if (flag.name == "export") value = cxxopts::value<std::vector<std::string>>();
    parser.add_options(std::string(flag.group))(names, std::string(flag.help), value,
                                                std::string(flag.value));
  }
  return parser;
}

PortRange ports_of(const cluster::Environment& environment) {
  const std::string* ports = environment.find("ROTA_PORTS");
  return ports ? to_ports("ROTA_PORTS=" + *ports, *ports) : PortRange();
}

bool is_to_encrypt(const cluster::Environment& environment) {
  const std::string text = environment.text("ROTA_ENCRYPT");
  const auto is_on = cluster::parse_switch(text);
  if (!is_on) throw UsageError("ROTA_ENCRYPT=" + text + ": the value must be 1 or 0");
  return *is_on;
}

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

template <class Value>
Value choose(const std::string& flag, const std::string& text,
             const std::vector<Choice<Value>>& choices) {
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == text) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  throw UsageError("--" + flag + " " + text + ": the value must be one of " + names);
}

std::vector<Choice<const base::TransportRow*>> transport_choices() {
  std::vector<Choice<const base::TransportRow*>> choices{{"auto", nullptr}};
  for (const base::TransportRow& row : base::kTransports) {
    if (base::may_be_asked_for(row)) choices.push_back({row.name, &row});
  }
  return choices;
}

// Refuses a place that only mpirun knows, such as "socket".
void require_known_place(const std::string& flag, const std::string& text) {
  for (const std::string_view name : {"socket", "package", "l3cache", "l2cache", "hwthread"}) {
    if (text != name) continue;
    const bool is_small = name == "hwthread" || name == "l2cache";
    throw UsageError("--" + flag + " " + text +
                     ": rotarun knows only cores and NUMA nodes; use --" + flag +
                     (is_small ? " core" : " numa"));
  }
}

void read_map_by(const std::string& text, Options& options) {
  require_known_place("map-by", text);
  constexpr std::string_view kBefore = "ppr:";
  constexpr std::string_view kAfter = ":node";
  if (text.starts_with(kBefore)) {
    const std::size_t end = text.ends_with(kAfter) ? text.size() - kAfter.size() : 0;
    const auto count = end <= kBefore.size()
                           ? std::nullopt
                           : to_count(std::string_view(text).substr(0, end).substr(kBefore.size()),
                                      rendezvous::kMaxWorldSize);
    if (!count) {
      throw UsageError("--map-by " + text + ": the value must be ppr:N:node, with N from 1 to " +
                       std::to_string(rendezvous::kMaxWorldSize) +
                       "; -N and --nproc-per-node take N alone");
    }
    options.map_by = MapBy::kFixedPerNode;
    options.ranks_per_node = *count;
    return;
  }
  options.map_by = choose<MapBy>("map-by", text,
                                 {{"slot", MapBy::kSlot},
                                  {"node", MapBy::kNode},
                                  {"ppr:N:node", MapBy::kFixedPerNode},
                                  {"core", MapBy::kCore},
                                  {"numa", MapBy::kNuma}});
}

void read_switches(const cxxopts::ParseResult& given, Options& options) {
  options.tag_output = given.count("tag-output") > 0;
  options.timestamp_output = given.count("timestamp-output") > 0;
  options.gather_output = given.count("gather-output") > 0;
  options.oversubscribe = given.count("oversubscribe") > 0;
  options.share_devices = given.count("share-devices") > 0;
  options.report_bindings = given.count("report-bindings") > 0;
  options.this_host = given.count("this-host") > 0;
  options.follow = given.count("follow") > 0;
  options.insecure = given.count("insecure") > 0;
  options.encrypt = given.count("encrypt") > 0;
  options.show_ranks = given.count("show-ranks") > 0;
  options.preflight = given.count("preflight") > 0;
  options.json = given.count("json") > 0;
  options.explain = given.count("explain") > 0;
  options.verbose = given.count("verbose") > 0;
  options.version = given.count("version") > 0;
  options.help = given.count("help") > 0;
}

// Refuses two values of one flag: -N 2 is read as --map-by ppr:2:node, so -N and --map-by give two
// values.
void require_one_mapping(const cxxopts::ParseResult& given) {
  std::optional<std::string> first;
  for (const auto& pair : given.arguments()) {
    if (pair.key() != "map-by") continue;
    if (!first) first = pair.value();
    if (*first == pair.value()) continue;
    throw UsageError("--map-by " + *first + " and --map-by " + pair.value() +
                     ": give only one of them; -N 2 means --map-by ppr:2:node");
  }
}

void read_values(const cxxopts::ParseResult& given, Options& options) {
  require_one_mapping(given);
  for (const auto& pair : given.arguments()) {
    const std::string& name = pair.key();
    const std::string& text = pair.value();
    if (name == "cpus-per-rank") options.cpus_per_rank = to_rank_count(name, text);
    if (name == "host") options.host_list = text;
    if (name == "hostfile") options.hostfile = text;
    if (name == "timeout") options.timeout = to_duration(name, text, false);
    if (name == "deadline") options.deadline = to_duration(name, text, false);
    if (name == "join-timeout") options.join_timeout = to_duration(name, text, false);
    if (name == "agent") options.agent = text;
    if (name == "address") options.address = to_usual_form(text);
    if (name == "prefix") options.prefix = to_directory(name, text);
    if (name == "key-file") options.key_file = text;
    if (name == "tuned") options.tuned_file = to_path(name, text);
    if (name == "key-fd") options.key_fd = to_descriptor(name, text);
    if (name == "grace") options.grace = to_duration(name, text, true);
    if (name == "output-filename") options.output_directory = to_directory(name, text);
    if (name == "status-port") options.status_address = to_status_address(text);
    if (name == "bind-to") {
      require_known_place(name, text);
      options.bind_to = choose<BindTo>(
          name, text, {{"none", BindTo::kNone}, {"core", BindTo::kCore}, {"numa", BindTo::kNuma}});
    }
    if (name == "stop-signal") {
      options.stop_signal = choose<int>(
          name, text,
          {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}});
    }
    if (name == "when-done") {
      options.when_done =
          choose<WhenDone>(name, text, {{"exit", WhenDone::kExit}, {"wait", WhenDone::kWait}});
    }
    if (name == "map-by") read_map_by(text, options);
    if (name == "rank-by") {
      options.rank_by =
          choose<RankBy>(name, text, {{"slot", RankBy::kSlot}, {"node", RankBy::kNode}});
    }
    if (name == "ports") options.ports = to_ports("--ports " + text, text);
    if (name == "transport") options.transport = choose(name, text, transport_choices());
  }
}

// Refuses --preflight with --show-ranks or --explain, and --json with neither --show-ranks nor
// --preflight.
void require_one_question(const Options& options) {
  if (options.preflight && (options.show_ranks || options.explain)) {
    throw UsageError(std::string("--preflight and --") +
                     (options.show_ranks ? "show-ranks" : "explain") + ": give only one of them");
  }
  if (options.json && !options.show_ranks && !options.preflight) {
    throw UsageError(
        "--json prints the rank table or what --preflight finds: give it with --show-ranks or "
        "--preflight");
  }
}

// Refuses options that contradict --transport mpi.
void require_open_messages(const Options& options) {
  if (!goes_over_mpi(options)) return;
  if (options.encrypt) {
    throw UsageError(
        "--encrypt (or ROTA_ENCRYPT) and --transport mpi: rota cannot encrypt what MPI sends; "
        "leave "
        "out one of them");
  }
  for (const Group& group : options.groups) {
    if (group.is_evaluator || group.mpi != MpiChoice::kNone) continue;
    throw UsageError(
        "--mpi none and --transport mpi: the ranks would have no MPI to send with; leave out one "
        "of "
        "them");
  }
}

bool is_of_group(const std::string& name) {
  return name == "np" || name == "export" || name == "wdir" || name == "role" || name == "mpi";
}

Group read_group(const cxxopts::ParseResult& given, std::vector<std::string> program) {
  Group group{.program = std::move(program)};
  for (const auto& pair : given.arguments()) {
    const std::string& name = pair.key();
    const std::string& text = pair.value();
    if (name == "np") group.count = to_rank_count(name, text);
    if (name == "export") group.variables.push_back(to_variable(text));
    if (name == "wdir") group.working_directory = to_directory(name, text);
    if (name == "role") {
      group.is_evaluator = choose<bool>(name, text, {{"worker", false}, {"evaluator", true}});
    }
    if (name == "mpi") {
      group.mpi = choose<MpiChoice>(name, text,
                                    {{"auto", MpiChoice::kAuto},
                                     {"pmix", MpiChoice::kPmix},
                                     {"pmi", MpiChoice::kPmi},
                                     {"none", MpiChoice::kNone}});
    }
  }
  return group;
}

// Checks a group after the first one: options for all programs must come before the first program.
void require_of_group(const cxxopts::ParseResult& given) {
  for (const auto& pair : given.arguments()) {
    if (is_of_group(pair.key())) continue;
    throw UsageError("--" + pair.key() + " is for all programs: give it before the first program");
  }
}

bool has_program(const Group& group) {
  return !group.program.empty() && !group.program.front().empty();
}

void check_groups(const Options& options) {
  const bool starts_nothing =
      options.help || options.version || options.show_ranks || options.explain || options.follow;
  const auto& groups = options.groups;
  const bool are_several = groups.size() > 1;
  if ((!starts_nothing || are_several) && !std::ranges::all_of(groups, has_program)) {
    throw UsageError(are_several ? "there is no program to start on one side of ':'"
                                 : "there is no program to start");
  }
  const auto group_count = std::ranges::count(groups, false, &Group::is_evaluator);
  if (group_count == 0)
    throw UsageError(
        "every program is an evaluator, so no rank would train: give a program without --role "
        "evaluator");
  if (group_count > 1 && !options.rank_count) {
    throw UsageError("several programs have ranks: give each of them its own --np");
  }
}

void check_together(const Options& options) {
  if (options.this_host && (options.host_list || options.hostfile)) {
    throw UsageError(
        "--this-host runs the job on this host alone, but --host and --hostfile name several "
        "hosts: leave out one of them");
  }
  if (options.host_list && options.hostfile) {
    throw UsageError("--host and --hostfile: give only one of them");
  }
  if (options.key_fd && !options.key_file.empty()) {
    throw UsageError("--key-file and --key-fd: give only one of them");
  }
  if (options.insecure && (options.key_fd || !options.key_file.empty())) {
    throw UsageError(
        "--insecure uses no key, but --key-file or --key-fd names one: leave out one of the two");
  }
  require_open_messages(options);
  require_one_question(options);
}

cxxopts::ParseResult parse(const std::vector<std::string>& ours) {
  std::vector<const char*> argv{"rotarun"};
  for (const std::string& argument : ours) argv.push_back(argument.c_str());
  cxxopts::Options parser = make_parser();
  return parser.parse(static_cast<int>(argv.size()), argv.data());
}

// Reads from the environment the options that no flag gives.
void read_environment(const cxxopts::ParseResult& given,
                      const std::vector<std::string>& environment, Options& options) {
  if (options.help || options.version) return;
  const cluster::Environment others(environment);
  if (given.count("ports") == 0) options.ports = ports_of(others);
  if (!options.encrypt) options.encrypt = is_to_encrypt(others);
  const std::string* tuned = others.find("ROTA_TUNED");
  if (options.tuned_file.empty() && tuned && !tuned->empty()) {
    options.tuned_file = to_path("tuned", *tuned);
  }
}

}  // namespace

bool goes_over_mpi(const Options& options) noexcept {
  return options.transport && options.transport->name == base::kOverMpi;
}

Options parse_options(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment) {
  Options options;
  options.groups.clear();
  try {
    auto next = arguments.begin();
    for (bool has_next = true; has_next;) {
      Divided divided = divide(next, arguments.end());
      has_next = divided.has_next;
      const auto given = parse(divided.ours);
      const bool is_first = options.groups.empty();
      if (!is_first) require_of_group(given);
      if (is_first) read_switches(given, options);
      if (is_first) read_values(given, options);
      if (is_first) read_environment(given, environment, options);
      options.groups.push_back(read_group(given, std::move(divided.program)));
    }
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
  options.rank_count = count_ranks(options.groups);
  check_together(options);
  check_groups(options);
  return options;
}

std::string help_text() {
  std::vector<std::string> groups;
  for (const Flag& flag : flags()) {
    const std::string group(flag.group);
    const bool is_new = std::ranges::find(groups, group) == groups.end();
    if (is_new && group != kInternal) groups.push_back(group);
  }
  return make_parser().help(groups) + R"(
Options end at the program. The words after it are its arguments, up to ":". After ":" another
program may follow, with its own -np, -x, --wdir and --role. "--" also ends the options.
SECONDS may have a unit: 2.5, 500ms, 10s, 3m.

Examples:
  rotarun -np 4 ./train --epochs 5          four ranks on this machine
  rotarun -np 2 --bind-to core --tag-output ./train
                                            a core for each rank, lines tagged with their rank
  rotarun -np 4 --transport tcp --deadline 5 --output-filename logs ./train
                                            over loopback TCP; if a rank is silent for 5 s, the
                                            job ends; output also in logs/rank.N/
  rotarun render --help                     manifests for Kubernetes, printed and checked
)";
}

}  // namespace rota::launcher

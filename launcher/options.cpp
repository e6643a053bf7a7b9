// The command line of rotarun. What belongs to rotarun is told from what belongs to the program
// first; then cxxopts parses the former.
#include "launcher/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <rota/error.h>

// A value of -x may hold commas; cxxopts would cut it there. Regular expressions are more
// than these options need.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "cluster/environment.h"
#include "launcher/flags.h"
#include "os/address.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

constexpr double kMostSeconds = 1e8;

// As mpirun has it.
constexpr std::string_view kNextGroup = ":";

[[noreturn]] void throw_unknown(const std::string& argument) {
  const std::size_t begin = argument.find_first_not_of('-');
  const std::string name = argument.substr(begin, argument.find('=') - begin);
  std::string text = "unknown option " + argument.substr(0, argument.find('='));
  const std::string_view nearest = nearest_flag(name);
  if (!nearest.empty()) text += "; did you mean --" + std::string(nearest) + "?";
  throw UsageError(text);
}

// One option of ours, read off the front of the arguments.
struct Given {
  const Flag* flag = nullptr;
  std::optional<std::string> value;  // What stands in the same argument: --np=4, -n4.
};

// mpirun takes long names after one hyphen as well, such as -np.
Given read_flag(const std::string& argument) {
  const std::size_t name_begin = argument.starts_with("--") ? 2 : 1;
  const std::size_t name_end = std::min(argument.find('='), argument.size());
  Given given{find_flag(argument.substr(name_begin, name_end - name_begin)), std::nullopt};
  if (name_end < argument.size()) given.value = argument.substr(name_end + 1);
  if (given.flag) return given;
  const Flag* by_letter = name_begin == 1 ? find_flag(argument.substr(1, 1)) : nullptr;
  if (!by_letter || by_letter->value.empty()) throw_unknown(argument);
  const std::string rest = argument.substr(2);
  if (find_flag(rest.substr(0, 1)) == nullptr && by_letter->name == "np" &&
      rest.find_first_not_of("0123456789") != std::string::npos) {
    throw_unknown(argument);  // -nq is a slip, not a count of q.
  }
  return {by_letter, rest};
}

// What belongs to one group.
struct Divided {
  std::vector<std::string> ours;  // "--name=value" and "--name".
  std::vector<std::string> program;
  bool has_next = false;  // There is another group behind its ":".
};

using Arguments = std::vector<std::string>;

// Reads one group, from `next` on.
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
    parser.add_options()(names, std::string(flag.help), value, std::string(flag.value));
  }
  return parser;
}

// Empty where the text is no whole number from 1 to `most`.
std::optional<std::size_t> to_count(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, count);
  const bool is_good = error == std::errc() && read_to == end && count > 0 && count <= most;
  return is_good ? std::optional(count) : std::nullopt;
}

std::size_t to_rank_count(const std::string& name, const std::string& text) {
  const auto count = to_count(text, rendezvous::kMaxWorldSize);
  if (count) return *count;
  throw UsageError("--" + name + " " + text + ": a whole number from 1 to " +
                   std::to_string(rendezvous::kMaxWorldSize) + " is needed");
}

// `given` is how the text came here, for the message.
PortRange to_ports(const std::string& given, std::string_view text) {
  constexpr std::size_t kMaxPort = 65535;
  const std::size_t hyphen = std::min(text.find('-'), text.size());
  const auto first = to_count(text.substr(0, hyphen), kMaxPort);
  const auto last = to_count(text.substr(std::min(hyphen + 1, text.size())), kMaxPort);
  if (!first || !last || *first > *last) {
    throw UsageError(given + ": FIRST-LAST is needed, two ports from 1 to 65535 in their order");
  }
  return {static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

PortRange ports_of(const cluster::Environment& environment) {
  const std::string* ports = environment.find("ROTA_PORTS");
  return ports ? to_ports("ROTA_PORTS=" + *ports, *ports) : PortRange();
}

bool is_to_encrypt(const cluster::Environment& environment) {
  const std::string text = environment.text("ROTA_ENCRYPT");
  const auto is_on = cluster::parse_switch(text);
  if (!is_on) throw UsageError("ROTA_ENCRYPT=" + text + ": 1 or 0 is needed");
  return *is_on;
}

// The first three are the ranks' own.
int to_descriptor(const std::string& name, const std::string& text) {
  constexpr std::size_t kFirst = 3;
  constexpr std::size_t kMost = 1 << 20;
  const auto number = to_count(text, kMost);
  if (number && *number >= kFirst) return static_cast<int>(*number);
  throw UsageError("--" + name + " " + text + ": the number of a descriptor from 3 is needed");
}

// "20", "20s", "500ms", "2m".
std::optional<double> to_seconds(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit(read_to, static_cast<std::size_t>(end - read_to));
  if (unit.empty() || unit == "s") return number;
  if (unit == "ms") return number / 1000;
  if (unit == "m") return number * 60;
  return std::nullopt;
}

base::Duration to_duration(const std::string& name, const std::string& text, bool may_be_zero) {
  const auto seconds = to_seconds(text);
  if (!seconds || *seconds < 0 || *seconds > kMostSeconds || (*seconds == 0 && !may_be_zero)) {
    throw UsageError("--" + name + " " + text + ": a number of seconds " +
                     (may_be_zero ? "from 0" : "above 0") + " to 100000000 is needed");
  }
  const auto exact = std::chrono::duration<double>(*seconds);
  const auto rounded = std::chrono::duration_cast<base::Duration>(exact);
  return *seconds > 0 ? std::max(rounded, base::Duration(1)) : rounded;
}

Variable to_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  Variable variable{text.substr(0, equals), std::nullopt};
  if (equals != std::string::npos) variable.value = text.substr(equals + 1);
  if (variable.name.empty()) throw UsageError("-x " + text + ": NAME or NAME=VALUE is needed");
  return variable;
}

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

template <class Value>
Value choose(const std::string& flag, const std::string& text,
             std::initializer_list<Choice<Value>> choices) {
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == text) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  throw UsageError("--" + flag + " " + text + ": one of " + names + " is needed");
}

void read_map_by(const std::string& text, Options& options) {
  constexpr std::string_view kBefore = "ppr:";
  constexpr std::string_view kAfter = ":node";
  if (text.starts_with(kBefore)) {
    const std::size_t end = text.ends_with(kAfter) ? text.size() - kAfter.size() : 0;
    const auto count = end <= kBefore.size()
                           ? std::nullopt
                           : to_count(std::string_view(text).substr(0, end).substr(kBefore.size()),
                                      rendezvous::kMaxWorldSize);
    if (!count) {
      throw UsageError("--map-by " + text + ": ppr:N:node is needed, with N from 1 to " +
                       std::to_string(rendezvous::kMaxWorldSize));
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

std::string to_directory(const std::string& flag, const std::string& text) {
  if (text.empty()) throw UsageError("--" + flag + " needs a directory");
  return text;
}

// Rank 0 opens it, which may be in another directory.
std::string to_path(const std::string& flag, const std::string& text) {
  if (text.empty()) throw UsageError("--" + flag + " needs a file");
  return std::filesystem::absolute(text).lexically_normal().string();
}

// "8080", "0.0.0.0:8080", "[::1]:8080".
std::string to_status_address(const std::string& text) {
  std::string address = text.find(':') == std::string::npos ? "127.0.0.1:" + text : text;
  if (text.starts_with("localhost:")) address.replace(0, text.find(':'), "127.0.0.1");
  try {
    if (os::is_numeric(address)) return address;
  } catch (const Error&) {  // It is of another form.
  }
  throw UsageError("--status-port " + text +
                   ": a port is needed, or a numeric address and a port such as 0.0.0.0:8080");
}

void read_switches(const cxxopts::ParseResult& given, Options& options) {
  options.tag_output = given.count("tag-output") > 0;
  options.timestamp_output = given.count("timestamp-output") > 0;
  options.gather_output = given.count("gather-output") > 0;
  options.oversubscribe = given.count("oversubscribe") > 0;
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

void read_values(const cxxopts::ParseResult& given, Options& options) {
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
    if (name == "address") options.address = text;
    if (name == "prefix") options.prefix = to_directory(name, text);
    if (name == "key-file") options.key_file = text;
    if (name == "tuned") options.tuned_file = to_path(name, text);
    if (name == "key-fd") options.key_fd = to_descriptor(name, text);
    if (name == "grace") options.grace = to_duration(name, text, true);
    if (name == "output-filename") options.output_directory = to_directory(name, text);
    if (name == "status-port") options.status_address = to_status_address(text);
    if (name == "bind-to") {
      options.bind_to = choose<BindTo>(
          name, text, {{"none", BindTo::kNone}, {"core", BindTo::kCore}, {"numa", BindTo::kNuma}});
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
    if (name == "transport") {
      options.transport = choose<Transport>(name, text,
                                            {{"auto", Transport::kAuto},
                                             {"shm", Transport::kSharedMemory},
                                             {"tcp", Transport::kTcp}});
    }
  }
}

// Of those that are asked in place of a job.
void require_one_question(const Options& options) {
  if (options.preflight && (options.show_ranks || options.explain)) {
    throw UsageError(std::string("--preflight and --") +
                     (options.show_ranks ? "show-ranks" : "explain") + ": give one of them");
  }
  if (options.json && !options.show_ranks && !options.preflight) {
    throw UsageError(
        "--json is a form of the rank table or of what --preflight finds: it goes with "
        "--show-ranks or --preflight");
  }
}

bool is_of_group(const std::string& name) {
  return name == "np" || name == "export" || name == "wdir" || name == "role";
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
  }
  return group;
}

// One that follows another one: what is for all stands before the first program.
void require_of_group(const cxxopts::ParseResult& given) {
  for (const auto& pair : given.arguments()) {
    if (is_of_group(pair.key())) continue;
    throw UsageError("--" + pair.key() + " is for all programs: give it before the first one");
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
    throw UsageError(are_several ? "no program to start on one side of ':'"
                                 : "no program to start");
  }
  const auto group_count = std::ranges::count(groups, false, &Group::is_evaluator);
  if (group_count == 0) throw UsageError("every program is an evaluator, and nobody trains");
  if (group_count > 1 && !options.rank_count) {
    throw UsageError("of several programs that have ranks, each needs its --np");
  }
}

void check_together(const Options& options) {
  if (options.this_host && (options.host_list || options.hostfile)) {
    throw UsageError("--this-host is for no other, and --host and --hostfile are for several");
  }
  if (options.host_list && options.hostfile) {
    throw UsageError("--host and --hostfile: give one of them");
  }
  if (options.key_fd && !options.key_file.empty()) {
    throw UsageError("--key-file and --key-fd: give one of them");
  }
  if (options.insecure && (options.key_fd || !options.key_file.empty())) {
    throw UsageError("--insecure is without a key, and --key-file and --key-fd name one");
  }
  require_one_question(options);
}

cxxopts::ParseResult parse(const std::vector<std::string>& ours) {
  std::vector<const char*> argv{"rotarun"};
  for (const std::string& argument : ours) argv.push_back(argument.c_str());
  cxxopts::Options parser = make_parser();
  return parser.parse(static_cast<int>(argv.size()), argv.data());
}

// What is asked for there, and not by a flag.
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
  return make_parser().help() + R"(
Options end at the program; what follows is the program's, up to ":", behind which another program
may follow with its own -np, -x, --wdir and --role. "--" ends options too.
SECONDS may have a unit: 2.5, 500ms, 10s, 3m.

Examples:
  rotarun -np 4 ./train --epochs 5          four ranks on this machine
  rotarun -np 2 --bind-to core --tag-output ./train
                                            a core each, lines tagged with their rank
  rotarun -np 4 --transport tcp --deadline 5 --output-filename logs ./train
                                            over loopback TCP; a rank that is silent for 5 s
                                            ends the job; output also in logs/rank.N/
  rotarun render --help                     manifests for Kubernetes, printed and checked
)";
}

}  // namespace rota::launcher

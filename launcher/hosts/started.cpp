// Starts the other hosts of a job from this one: chooses the address and port for their
// connections, writes the start requests, and makes the command of each agent.
#include "launcher/hosts/started.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <rota/error.h>

#include "base/hex.h"
#include "base/port_range.h"
#include "cluster/environment.h"
#include "cluster/host_names.h"
#include "cluster/sources.h"
#include "launcher/hosts/across.h"
#include "launcher/hosts/agents/start_request.h"
#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/plan/job_scope.h"
#include "launcher/plan/nested_launch.h"
#include "os/address.h"
#include "os/host.h"
#include "os/patient_listener.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kNoAgent = "none";
constexpr std::string_view kSlurmAgent =
    "srun --nodes={n} --ntasks={n} --ntasks-per-node=1 --overlap --mpi=none --kill-on-bad-exit";

// Returns the hosts in the form of --host.
std::string list_of(const cluster::Specification& hosts) {
  std::string text;
  for (const cluster::Host& host : hosts.hosts) {
    text += (text.empty() ? "" : ",") + with_brackets(host.name);
    if (host.slots) text += ":" + std::to_string(*host.slots);
  }
  return text;
}

// Returns the numeric address by which a host reaches this host: this host's address on the route
// to that host.
std::string address_toward(const std::string& name, const names::Answer& answer) {
  if (answer.addresses.empty()) {
    throw UsageError(
        "host " + name + " has no address: " + answer.failure +
        "; so rotarun cannot find out which address of this host that host can reach: give this "
        "address with --address, or start rotarun on each host with ROTA_HOSTS and --agent none");
  }
  try {
    return os::address_toward(answer.addresses);
  } catch (const Error& error) {
    throw Error(error.code(),
                "host " + name + " cannot be reached: " + error.what() +
                    "; give this host a route to one of that host's addresses, or give the address "
                    "that this host has for that host with --address");
  }
}

// Listens at the first port of the range that is free, and that no rotarun has promised to its own
// ranks.
os::Listener listen_in(const PortRange& ports, const std::set<std::string>& own_addresses) {
  const std::string place =
      own_addresses.size() == 1 ? with_brackets(*own_addresses.begin()) : "everywhere";
  os::PassedPorts passed;
  auto listener = os::listen_between(place + ":0", ports.first, ports.last, passed);
  if (listener) return *std::move(listener);
  const std::string text = "none of the ports " + std::to_string(ports.first) + " to " +
                           std::to_string(ports.last) + " (--ports) is free: " + passed.trouble;
  if (passed.is_in_use) throw os::AddressInUse(text);
  throw Error(ErrorCode::kSystem, text);
}

std::string random_name() {
  std::array<std::byte, 16> bytes{};
  os::fill_with_randomness(bytes);
  return base::to_hex(bytes);
}

// Returns the path of rotarun on the other hosts. Some agents pass their arguments to a shell, so
// the path must not need quotes.
std::string remote_rotarun(const Options& options) {
  std::string path =
      options.prefix.empty() ? os::own_executable() : options.prefix + "/bin/rotarun";
  const bool is_plain = std::ranges::all_of(path, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+@,=:").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return path;
  throw UsageError("'" + path +
                   "' has characters that a remote shell may interpret: install rota in another "
                   "folder, and name that folder with --prefix");
}

std::vector<std::string> variables_to_pass(const Group& group,
                                           const std::vector<std::string>& environment) {
  std::vector<std::string> variables;
  for (const Variable& variable : group.variables) {
    if (variable.value) variables.push_back(variable.name + "=" + *variable.value);
    if (!variable.value && cluster::is_set(environment, variable.name)) {
      variables.push_back(variable.name + "=" + cluster::find_variable(environment, variable.name));
    }
  }
  return variables;
}

// Adds the range of ports to the arguments, and --encrypt if this host encrypts. The settings may
// come from ROTA_PORTS and ROTA_ENCRYPT, and the other hosts have another environment.
std::vector<std::string> arguments_for_others(const Options& options,
                                              std::vector<std::string> arguments) {
  if (options.encrypt) arguments.insert(arguments.begin(), "--encrypt");
  arguments.insert(arguments.begin(), {"--ports", base::to_text(options.ports)});
  return arguments;
}

// Returns the absolute path of a directory. An empty `directory` is the current one.
std::string whole_path(const std::string& directory) {
  if (directory.empty()) return std::filesystem::current_path().string();
  return std::filesystem::absolute(directory).string();
}

// Encodes the fields that are the same for all hosts. Throws UsageError if they are so long that
// fewer than 4096 bytes are left for the fields of a single host.
std::string write_down(const StartRequest& request) {
  constexpr std::size_t kMostOfAll = kMaxStartRequestBytes - 4096;
  std::string text = encode_common(request);
  if (text.size() <= kMostOfAll) return text;
  throw UsageError("the command line, the list of hosts and the variables of -x have " +
                   std::to_string(text.size()) + " bytes, but at most " +
                   std::to_string(kMostOfAll) + " can be sent to the other hosts");
}

// Returns what is the same for all hosts of the job. Paths are absolute, because the other hosts
// start in other directories.
StartRequest describe_job(const Options& options, const std::vector<std::string>& arguments,
                          const cluster::Specification& hosts,
                          const std::vector<std::string>& environment,
                          const StartedHosts& started) {
  StartRequest request{.arguments = arguments_for_others(options, arguments),
                       .hosts = list_of(hosts),
                       .version = ROTA_VERSION,
                       .job_id = started.host_plan.job_id,
                       .leader_host = hosts.own_host,
                       .key = started.key};
  for (const Group& group : options.groups) {
    request.variables.push_back(variables_to_pass(group, environment));
    request.working_directories.push_back(whole_path(group.working_directory));
  }
  for (const cluster::Host& host : hosts.hosts) {
    request.most_slots.push_back(host.most_slots.value_or(0));
  }
  if (!options.output_directory.empty()) {
    request.output_directory = whole_path(options.output_directory);
  }
  return request;
}

// Gives the options the directories, and the values of variables, from the host where the command
// was given. In a preflight, there is no directory for output.
void take_settings(const StartRequest& request, Options& options) {
  options.output_directory = request.output_directory;
  const std::size_t count = std::min(options.groups.size(), request.variables.size());
  for (std::size_t index = 0; index < count; ++index) {
    Group& group = options.groups[index];
    group.working_directory = request.working_directories[index];
    group.variables.clear();
    for (const std::string& entry : request.variables[index]) {
      const std::size_t equals = entry.find('=');
      group.variables.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
  }
}

}  // namespace

bool starts_others(const Options& options, const cluster::Specification& hosts) {
  if (options.agent == kNoAgent || is_nested_launch(hosts)) return false;
  return hosts.is_start_list || hosts.is_room;
}

bool are_asked_for(const Options& options, const cluster::Specification& hosts) {
  const bool are_named =
      std::ranges::none_of(hosts.hosts, [](const auto& host) { return host.name.empty(); });
  const bool is_own_unknown =
      !hosts.own_host && !hosts.has_srun && !is_nested_launch(hosts) && !hosts.hosts.empty();
  const bool is_way_unknown = starts_others(options, hosts) && options.address.empty();
  return are_named && (is_own_unknown || is_way_unknown);
}

StartedHosts start_others(const Options& options, const std::vector<std::string>& arguments,
                          const cluster::Specification& hosts,
                          const std::vector<names::Answer>& answers,
                          const std::vector<std::string>& environment,
                          const os::SignalWatch& signals) {
  const bool by_slurm = hosts.has_srun && options.agent.empty();
  cluster::Specification others = hosts;
  if (by_slurm) others.own_host.reset();  // The Slurm step starts rotarun on this node too.
  const std::vector<std::string> ours = os::own_addresses();
  const bool is_ours = options.address.empty() || cluster::is_loopback(options.address) ||
                       std::ranges::find(ours, options.address) != ours.end();
  if (!is_ours) {
    throw UsageError("--address " + options.address + " is not an address of this host");
  }
  std::set<std::string> own_addresses;
  std::vector<std::string> address_by_host;
  for (std::size_t host = 0; host < others.hosts.size(); ++host) {
    const bool is_own = others.own_host == host;
    address_by_host.push_back(is_own ? ""
                              : options.address.empty()
                                  ? address_toward(others.hosts[host].name, answers[host])
                                  : options.address);
    if (!is_own) own_addresses.insert(address_by_host.back());
  }
  const auto listen = [&] { return listen_in(options.ports, own_addresses); };
  auto listener = os::listen_patiently(listen, signals);
  StartedHosts started{
      .host_plan = {}, .key = {}, .listener = listener ? *std::move(listener) : listen()};
  const std::string port = std::to_string(os::parse_address(started.listener.address).port());
  started.host_plan = plan_started_hosts(others, started.listener.address);
  started.host_plan.job_id = random_name();
  started.key = auth::random_key();  // Each agent carries the key, so no host needs a key file.
  StartRequest request = describe_job(options, arguments, others, environment, started);
  std::string common = write_down(request);
  const std::string rotarun = remote_rotarun(options);
  std::vector<AgentPlan> plans;
  for (std::size_t host = 0; host < others.hosts.size() && !by_slurm; ++host) {
    if (others.own_host == host) continue;
    request.own_host = host;
    request.leader = with_brackets(address_by_host[host]) + ":" + port;
    const std::string agent = options.agent.empty() ? "ssh -o BatchMode=yes {host}" : options.agent;
    plans.push_back({.host = host,
                     .command = agent_command(agent, others.hosts[host].name, rotarun),
                     .request = encode_own(request, common.size())});
  }
  if (by_slurm) {
    std::string agent(kSlurmAgent);
    for (std::size_t at = 0; (at = agent.find("{n}")) != std::string::npos;) {
      agent.replace(at, 3, std::to_string(others.hosts.size()));
    }
    request.leader = with_brackets(*own_addresses.begin()) + ":" + port;
    plans.push_back({.host = {},
                     .command = agent_command(agent, "", rotarun),
                     .request = encode_own(request, common.size())});
  }
  started.agents = std::make_unique<Agents>(plans, std::move(common), environment, signals);
  return started;
}

int lead_started(StartedHosts hosts, const Options& options, const Facts& facts,
                 const RunContext& context, os::SignalWatch& signals) {
  Hello own = make_hello(hosts.host_plan, options, facts, context);
  return lead({.options = options,
               .facts = facts,
               .context = context,
               .signals = signals,
               .host_plan = std::move(hosts.host_plan),
               .key = hosts.key,
               .own = std::move(own),
               .listener = std::move(hosts.listener),
               .agents = hosts.agents.get()});
}

FollowRequest receive_follow_request(int input, const Facts& facts) {
  StartRequest request = read_start_request(input);
  if (request.version != ROTA_VERSION) {
    throw SpecificationError("this host has rota " ROTA_VERSION
                             ", but the host that starts the job has " +
                             request.version + ": install the same version everywhere");
  }
  FollowRequest followed{.options = parse_options(request.arguments),
                         .arguments = request.arguments,
                         .host_plan = {},
                         .key = request.key};
  Options& options = followed.options;
  options.status_address.reset();
  options.key_fd.reset();
  take_settings(request, options);
  const cluster::Given given{.host_name = facts.host, .host_list = request.hosts};
  cluster::Specification hosts = *cluster::from_host_list(given);
  const std::size_t limit_count = std::min(hosts.hosts.size(), request.most_slots.size());
  for (std::size_t host = 0; host < limit_count; ++host) {
    if (request.most_slots[host] > 0) hosts.hosts[host].most_slots = request.most_slots[host];
  }
  hosts.own_host = request.leader_host;
  followed.host_plan = plan_started_hosts(hosts, request.leader);
  followed.host_plan.job_id = request.job_id;
  if (!request.own_host) {
    const std::string node = cluster::find_variable(os::environment(), "SLURMD_NODENAME");
    request.own_host =
        cluster::find_host(hosts.hosts, node.empty() ? facts.host : node, os::own_addresses());
  }
  if (!request.own_host) {
    throw SpecificationError("this host, " + facts.host + ", was not found in the list of hosts " +
                             request.hosts +
                             ": list it once, by its host name or by one of its addresses");
  }
  followed.host_plan.own_host = *request.own_host;
  return followed;
}

int follow_started(FollowRequest request, int lifeline, const Facts& facts,
                   const RunContext& context, os::SignalWatch& signals) {
  Hello own = make_hello(request.host_plan, request.options, facts, context);
  return follow({.options = request.options,
                 .facts = facts,
                 .context = context,
                 .signals = signals,
                 .host_plan = std::move(request.host_plan),
                 .key = request.key,
                 .own = std::move(own),
                 .lifeline = lifeline});
}

}  // namespace rota::launcher

// A job whose other hosts are started from this one.
#include "launcher/hosts/started.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <rota/error.h>

#include "base/hex.h"
#include "cluster/environment.h"
#include "cluster/host_names.h"
#include "cluster/sources.h"
#include "launcher/hosts/across.h"
#include "launcher/hosts/agents/orders.h"
#include "launcher/hosts/meet/part.h"
#include "launcher/plan/one_slot_each.h"
#include "launcher/plan/reach.h"
#include "os/address.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

constexpr std::string_view kNoAgent = "none";
constexpr std::string_view kSlurmAgent =
    "srun --nodes={n} --ntasks={n} --ntasks-per-node=1 --overlap --mpi=none --kill-on-bad-exit";

// As --host takes it.
std::string list_of(const cluster::Specification& hosts) {
  std::string text;
  for (const cluster::Host& host : hosts.hosts) {
    text += (text.empty() ? "" : ",") + with_brackets(host.name);
    if (host.slots) text += ":" + std::to_string(*host.slots);
  }
  return text;
}

// The number by which a host reaches this one: that of the way to it.
std::string address_toward(const std::string& name, const names::Answer& answer) {
  if (answer.addresses.empty()) {
    throw UsageError(
        "host " + name + " has no address: " + answer.failure +
        "; so it is not known by which of ours it would reach us: give it by --address, or "
        "start rotarun on each host with ROTA_HOSTS and --agent none");
  }
  return os::address_toward(answer.addresses.front());
}

os::Listener listen_in(const PortRange& ports, const std::set<std::string>& own_addresses) {
  const std::string place =
      own_addresses.size() == 1 ? with_brackets(*own_addresses.begin()) : "everywhere";
  std::string trouble;
  for (std::size_t port = ports.first; port <= ports.last; ++port) {
    try {
      return os::listen_at(place + ":" + std::to_string(port));
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  throw Error(ErrorCode::kSystem, "no port of " + std::to_string(ports.first) + " to " +
                                      std::to_string(ports.last) +
                                      " (--ports) is free: " + trouble);
}

std::string random_name() {
  std::array<std::byte, 16> bytes{};
  os::fill_with_randomness(bytes);
  return base::to_hex(bytes);
}

// Some agents hand their words to a shell.
std::string remote_rotarun(const Options& options) {
  std::string path =
      options.prefix.empty() ? os::own_executable() : options.prefix + "/bin/rotarun";
  const bool is_plain = std::ranges::all_of(path, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+@,=:").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return path;
  throw UsageError("'" + path +
                   "' has characters that a remote shell may take for its own: "
                   "install rotarun elsewhere, and name the place by --prefix");
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

// They have another environment.
std::vector<std::string> arguments_for_others(const Options& options,
                                              std::vector<std::string> arguments) {
  if (options.encrypt) arguments.insert(arguments.begin(), "--encrypt");
  return arguments;
}

// Empty: where we are.
std::string whole_path(const std::string& directory) {
  if (directory.empty()) return std::filesystem::current_path().string();
  return std::filesystem::absolute(directory).string();
}

// What all hosts get alike. Some room is for what each has of its own.
std::string write_down(const Orders& orders) {
  constexpr std::size_t kMostOfAll = kMaxOrderBytes - 4096;
  std::string text = encode_common(orders);
  if (text.size() <= kMostOfAll) return text;
  throw UsageError("the command line, the list of hosts and the variables of -x have " +
                   std::to_string(text.size()) + " bytes, and " + std::to_string(kMostOfAll) +
                   " can be passed on to other hosts");
}

// The command line has them, but for what was known where it was given.
void take_groups(const Orders& orders, Options& options) {
  const std::size_t count = std::min(options.groups.size(), orders.variables.size());
  for (std::size_t index = 0; index < count; ++index) {
    Group& group = options.groups[index];
    group.working_directory = orders.working_directories[index];
    group.variables.clear();
    for (const std::string& entry : orders.variables[index]) {
      const std::size_t equals = entry.find('=');
      group.variables.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
  }
}

}  // namespace

bool starts_others(const Options& options, const cluster::Specification& hosts) {
  if (options.agent == kNoAgent || is_one_slot_each(hosts)) return false;
  return hosts.is_start_list || hosts.is_room;
}

bool are_asked_for(const Options& options, const cluster::Specification& hosts) {
  const bool are_named =
      std::ranges::none_of(hosts.hosts, [](const auto& host) { return host.name.empty(); });
  const bool is_own_unknown =
      !hosts.own_host && !hosts.is_room && !is_one_slot_each(hosts) && !hosts.hosts.empty();
  const bool is_way_unknown = starts_others(options, hosts) && options.address.empty();
  return are_named && (is_own_unknown || is_way_unknown);
}

StartedHosts start_others(const Options& options, const std::vector<std::string>& arguments,
                          const cluster::Specification& hosts,
                          const std::vector<names::Answer>& answers,
                          const std::vector<std::string>& environment,
                          const os::SignalWatch& signals) {
  const bool by_slurm = hosts.is_room && options.agent.empty();
  cluster::Specification others = hosts;
  if (by_slurm) others.own_host.reset();  // A step reaches this node like all others.
  const std::vector<std::string> ours = os::own_addresses();
  const bool is_ours = options.address.empty() || cluster::is_loopback(options.address) ||
                       std::ranges::find(ours, options.address) != ours.end();
  if (!is_ours) {
    throw UsageError("--address " + options.address + " is no address of this host");
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
  StartedHosts started{
      .meeting = {}, .key = {}, .listener = listen_in(options.ports, own_addresses)};
  const std::string port = std::to_string(os::parse_address(started.listener.address).port());
  started.meeting = plan_started_meeting(others, started.listener.address);
  started.meeting.job_id = random_name();
  started.key = auth::random_key();  // The agents carry it, so that no file has to be there.
  Orders orders{.arguments = arguments_for_others(options, arguments),
                .hosts = list_of(others),
                .version = ROTA_VERSION,
                .job_id = started.meeting.job_id,
                .leader_host = others.own_host,
                .key = started.key};
  for (const Group& group : options.groups) {
    orders.variables.push_back(variables_to_pass(group, environment));
    orders.working_directories.push_back(whole_path(group.working_directory));
  }
  std::string common = write_down(orders);
  const std::string rotarun = remote_rotarun(options);
  std::vector<AgentPlan> plans;
  for (std::size_t host = 0; host < others.hosts.size() && !by_slurm; ++host) {
    if (others.own_host == host) continue;
    orders.own_host = host;
    orders.leader = with_brackets(address_by_host[host]) + ":" + port;
    const std::string agent = options.agent.empty() ? "ssh -o BatchMode=yes {host}" : options.agent;
    plans.push_back({.host = host,
                     .command = agent_command(agent, others.hosts[host].name, rotarun),
                     .orders = encode_own(orders, common.size())});
  }
  if (by_slurm) {
    std::string agent(kSlurmAgent);
    for (std::size_t at = 0; (at = agent.find("{n}")) != std::string::npos;) {
      agent.replace(at, 3, std::to_string(others.hosts.size()));
    }
    orders.leader = with_brackets(*own_addresses.begin()) + ":" + port;
    plans.push_back({.host = {},
                     .command = agent_command(agent, "", rotarun),
                     .orders = encode_own(orders, common.size())});
  }
  started.agents = std::make_unique<Agents>(plans, std::move(common), environment, signals);
  return started;
}

int lead_started(StartedHosts hosts, const Options& options, const Facts& facts,
                 const RunContext& context, os::SignalWatch& signals) {
  Hello own = make_hello(hosts.meeting, options, facts, context);
  return lead({.options = options,
               .facts = facts,
               .context = context,
               .signals = signals,
               .meeting = std::move(hosts.meeting),
               .key = hosts.key,
               .own = std::move(own),
               .listener = std::move(hosts.listener),
               .agents = hosts.agents.get()});
}

FollowedOrders follow_orders(int input, const Facts& facts) {
  Orders orders = read_orders(input);
  if (orders.version != ROTA_VERSION) {
    throw SpecificationError("this is rota " ROTA_VERSION ", and the job is started by " +
                             orders.version + ": install the same version everywhere");
  }
  FollowedOrders followed{.options = parse_options(orders.arguments),
                          .arguments = orders.arguments,
                          .meeting = {},
                          .key = orders.key};
  Options& options = followed.options;
  options.status_address.reset();
  options.key_fd.reset();
  take_groups(orders, options);
  const cluster::Given given{.host_name = facts.host, .host_list = orders.hosts};
  cluster::Specification hosts = *cluster::from_host_list(given);
  hosts.own_host = orders.leader_host;
  followed.meeting = plan_started_meeting(hosts, orders.leader);
  followed.meeting.job_id = orders.job_id;
  if (!orders.own_host) {
    const std::string node = cluster::find_variable(os::environment(), "SLURMD_NODENAME");
    orders.own_host =
        cluster::find_host(hosts.hosts, node.empty() ? facts.host : node, os::own_addresses());
  }
  if (!orders.own_host) {
    throw SpecificationError("this host, " + facts.host + ", is none of " + orders.hosts);
  }
  followed.meeting.own_host = *orders.own_host;
  return followed;
}

int follow_started(FollowedOrders orders, int lifeline, const Facts& facts,
                   const RunContext& context, os::SignalWatch& signals) {
  Hello own = make_hello(orders.meeting, orders.options, facts, context);
  return follow({.options = orders.options,
                 .facts = facts,
                 .context = context,
                 .signals = signals,
                 .meeting = std::move(orders.meeting),
                 .key = orders.key,
                 .own = std::move(own),
                 .lifeline = lifeline});
}

}  // namespace rota::launcher

// Judges the facts and measurements of a preflight: one function for each check.
#include "launcher/preflight/judgement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <rota/error.h>

#include "base/counted.h"
#include "base/number_text.h"
#include "base/transports.h"
#include "launcher/plan/file_need.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/plan/job_plan.h"
#include "launcher/plan/layout.h"

namespace rota::preflight {
namespace {

using Hosts = std::vector<Host>;
using Rendered = std::function<std::string(const Host& host)>;

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kShownDigits = 12;

std::string join(const std::vector<std::string>& words, const char* between = ", ") {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : between) + words[i];
  }
  if (words.size() > kMostNamed) {
    text += between + std::to_string(words.size() - kMostNamed) + " more";
  }
  return text;
}

// Returns a size in GiB or, below one GiB, in MiB.
std::string memory_text(std::uint64_t bytes) {
  const bool is_small = bytes < std::uint64_t{1} << 30;
  return base::fixed_text(static_cast<double>(bytes) / (is_small ? 1 << 20 : 1 << 30), 1) +
         (is_small ? " MiB" : " GiB");
}

std::string limit_text(std::uint64_t limit, const std::string& text) {
  return limit == UINT64_MAX ? "no limit" : text;
}

// Groups the hosts by value. The groups are in the order of their first hosts.
std::vector<std::pair<std::string, std::vector<std::string>>> by_value(const Hosts& hosts,
                                                                       const Rendered& value_of) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Host& host : hosts) {
    const std::string value = value_of(host);
    const auto is_same = [&](const auto& group) { return group.first == value; };
    auto found = std::ranges::find_if(groups, is_same);
    if (found == groups.end()) found = groups.insert(found, {value, {}});
    found->second.push_back(host.name);
  }
  return groups;
}

// Returns the value if all hosts agree. Otherwise returns each value and its hosts.
std::string spread(const Hosts& hosts, const Rendered& value_of) {
  const auto groups = by_value(hosts, value_of);
  if (groups.size() == 1) return groups.front().first;
  std::vector<std::string> parts;
  parts.reserve(groups.size());
  for (const auto& [value, names] : groups) parts.push_back(value + " on " + join(names));
  return join(parts, "; ");
}

Finding look_at_hosts(const Hosts& hosts) {
  std::vector<std::string> names;
  for (const Host& host : hosts) {
    names.push_back(host.name + (host.address.empty() ? "" : " (" + host.address + ")"));
  }
  const std::string count = hosts.size() == 1 ? "this host alone: " : "";
  return {.check = "hosts", .found = count + join(names)};
}

// Returns whether the name is that of a Service: in Kubernetes "mnist-worker-0.space.svc" names a
// Service, and "mnist-0.mnist.space.svc" names a pod behind a Service.
bool is_service(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t second = name.find('.', std::min(first, name.size() - 1) + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return false;
  const std::string_view rest = name.substr(second + 1);
  return rest == "svc" || rest.starts_with("svc.");
}

// Returns nothing if no host has the name of a Service.
std::optional<Finding> look_at_names(const Hosts& hosts) {
  std::vector<std::string> services;
  for (const Host& host : hosts) {
    if (is_service(host.name)) services.push_back(host.name);
  }
  if (services.empty()) return std::nullopt;
  return Finding{
      .check = "names",
      .found = "Services, not pods: " + join(services),
      .advice =
          "the name of a Service has an address only while its pod is ready, unless the Service "
          "has publishNotReadyAddresses: true; without it, use no readiness probe that waits "
          "for the world"};
}

// Describes the key. The finding is always fine: a host without the key could not have joined.
Finding look_at_key(const Hosts& hosts, const launcher::Options& options) {
  return {.check = "key",
          .found = options.insecure ? "no key, on loopback"
                                    : "all " + std::to_string(hosts.size()) +
                                          " hosts have proved that they have the same key"};
}

Finding look_at_versions(const Hosts& hosts) {
  const Rendered version = [](const Host& host) { return "rota " + host.facts.version; };
  Finding finding{.check = "version", .found = spread(hosts, version)};
  if (by_value(hosts, version).size() == 1) return finding;
  finding.verdict = Verdict::kUnusable;
  finding.advice = "install the same version everywhere";
  return finding;
}

Finding look_at_features(const Hosts& hosts) {
  return {.check = "features",
          .found = spread(hosts, [](const Host& host) {
            const std::size_t devices = host.facts.device_count;
            return host.facts.architecture + ", " + host.facts.kernels + ", transports " +
                   join(transport_names(), " and ") +
                   (devices == 0 ? "" : ", CUDA devices: " + std::to_string(devices));
          })};
}

std::string program_text(const Host& host) {
  const HostFacts& facts = host.facts;
  if (!facts.program_trouble.empty()) return facts.program_trouble;
  if (facts.program_sha256.empty()) return facts.program + ", which cannot be read";
  return std::to_string(facts.program_bytes) + " bytes, SHA-256 " +
         facts.program_sha256.substr(0, kShownDigits);
}

// Compares the programs of the hosts. If the architectures differ, the programs may differ too.
Finding look_at_program(const Hosts& hosts) {
  Finding finding{.check = "program", .found = spread(hosts, program_text)};
  const auto has_trouble = [](const Host& host) { return !host.facts.program_trouble.empty(); };
  if (std::ranges::any_of(hosts, has_trouble)) {
    finding.verdict = Verdict::kUnusable;
    const auto is_of_mpi = [](const Host& host) { return host.facts.is_program_of_mpi; };
    if (std::ranges::any_of(hosts, is_of_mpi)) {
      finding.advice =
          "start the program with mpirun; or use --mpi none, if no rank calls MPI_Init";
      return finding;
    }
    const bool is_forbidden = std::ranges::any_of(hosts, [](const Host& host) {
      return host.facts.program_trouble.find("Permission denied") != std::string::npos;
    });
    finding.advice =
        is_forbidden ? "make the program executable there"
                     : "put the program into the same folder on every host; see PATH and --wdir";
    return finding;
  }
  if (by_value(hosts, program_text).size() == 1) {
    finding.found = hosts.front().facts.program + ": " + finding.found;
    return finding;
  }
  const auto architecture = [](const Host& host) { return host.facts.architecture; };
  if (by_value(hosts, architecture).size() > 1) {
    finding.advice = "the architectures differ: build the programs from the same sources";
    return finding;
  }
  finding.verdict = Verdict::kDegraded;
  finding.advice = "the programs differ: copy the same program to all hosts";
  return finding;
}

// The layout of the job itself; empty if no layout is possible.
struct Plan {
  launcher::Layout layout{};
  Finding finding{};
};

Plan lay_out_job(const Inspection& inspection) {
  std::vector<launcher::HostSlots> slots;
  for (const Host& host : inspection.hosts) {
    slots.push_back({host.name, host.facts.slot_count, host.facts.most_slots});
  }
  launcher::LayoutRules rules = launcher::layout_rules(inspection.options);
  if (!rules.rank_count) rules.rank_count = inspection.world_size;
  Plan plan{.finding = {.check = "ranks"}};
  try {
    plan.layout = launcher::lay_out(slots, rules);
  } catch (const launcher::UsageError& error) {
    plan.finding.verdict = Verdict::kUnusable;
    plan.finding.found = error.what();
    return plan;
  }
  std::vector<std::string> counts;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    counts.push_back(std::to_string(plan.layout.host_rank_counts[host]) + " on " +
                     slots[host].name);
  }
  plan.finding.found = std::to_string(plan.layout.places.size()) + ": " + join(counts) + "; " +
                       spread(inspection.hosts, [](const Host& host) { return host.facts.cpus; });
  if (!plan.layout.warning.empty()) {
    plan.finding.verdict = Verdict::kDegraded;
    plan.finding.advice = plan.layout.warning;
  }
  return plan;
}

// Judges the ports. With several hosts, the preflight's own rank holds one port of each host. That
// port counts as free.
Finding look_at_ports(const Inspection& inspection, const launcher::Layout& layout) {
  const launcher::PortRange& ports = inspection.options.ports;
  Finding finding{.check = "ports"};
  std::vector<std::string> lacking;
  for (std::size_t host = 0; host < inspection.hosts.size(); ++host) {
    const std::size_t free = inspection.hosts[host].facts.free_port_count + 1;
    const std::size_t needed = layout.host_rank_counts[host];
    if (free >= needed) continue;
    lacking.push_back(inspection.hosts[host].name + " has " + std::to_string(free) + " for " +
                      base::counted_ranks(needed));
  }
  finding.found =
      lacking.empty() ? "every host has enough free ports of --ports " : "too few ports are free: ";
  finding.found += lacking.empty() ? std::to_string(ports.first) + "-" + std::to_string(ports.last)
                                   : join(lacking);
  if (lacking.empty()) return finding;
  finding.verdict = Verdict::kUnusable;
  finding.advice = "give other ports with --ports";
  return finding;
}

std::string transport_of(const Inspection& inspection, const launcher::Layout& layout) {
  return std::string(base::transport_between(launcher::domains_of(layout, inspection.options),
                                             inspection.options.transport));
}

Finding look_at_files(const Inspection& inspection, const launcher::Layout& layout) {
  Finding finding{.check = "files"};
  const std::string transport = transport_of(inspection, layout);
  std::vector<std::string> lacks;
  std::vector<std::string> low;
  for (std::size_t host = 0; host < inspection.hosts.size(); ++host) {
    const Host& looked_at = inspection.hosts[host];
    const os::OpenFileLimits& limits = looked_at.facts.open_files;
    const auto need = launcher::files_needed(
        launcher::assignment_of(layout, host, inspection.options.groups, transport),
        inspection.options);
    const std::string lack = launcher::lack_of_files(need, limits);
    if (!lack.empty()) lacks.push_back(looked_at.name + ": " + lack);
    if (limits.soft < kUsualFileLimit) low.push_back(looked_at.name);
  }
  finding.found = spread(inspection.hosts, [](const Host& host) {
    const os::OpenFileLimits& limits = host.facts.open_files;
    return limit_text(limits.soft, std::to_string(limits.soft)) + " open files, at most " +
           limit_text(limits.hard, std::to_string(limits.hard));
  });
  if (!lacks.empty()) {
    finding.verdict = Verdict::kUnusable;
    finding.advice = join(lacks, "; ");
  } else if (!low.empty()) {
    finding.verdict = Verdict::kDegraded;
    finding.advice = "the limit of " + join(low) + " is enough for the ranks, but low: ulimit -n " +
                     std::to_string(kUsualFileLimit);
  }
  return finding;
}

std::string limits_text(const Host& host) {
  const HostFacts& facts = host.facts;
  return "addresses: " + limit_text(facts.address_limit, memory_text(facts.address_limit)) +
         " (ulimit -v), file sizes: " +
         limit_text(facts.file_size_limit, memory_text(facts.file_size_limit)) +
         " (-f), processes: " +
         limit_text(facts.process_limit, std::to_string(facts.process_limit)) + " (-u)";
}

// Returns nothing if the limit allows the processes of `rank_count` ranks. A rank has a keeper, and
// the launcher consists of two processes.
std::string lack_of_processes(const HostFacts& facts, std::size_t rank_count) {
  const std::size_t needed = 2 * rank_count + 2;
  if (facts.process_limit >= needed) return {};
  return "this user may have " + base::counted(facts.process_limit, "process", "processes") +
         " (ulimit -u), but this job needs " + std::to_string(needed) + ": raise the limit";
}

// Says what the limits do to the arenas of `rank_count` ranks.
Finding look_at_arenas(const HostFacts& host, std::size_t rank_count) {
  launcher::Facts facts;
  facts.memory_bytes = host.memory_bytes;
  facts.file_size_limit = host.file_size_limit;
  facts.address_limit = host.address_limit;
  try {
    const std::size_t bytes = launcher::size_arena(facts, rank_count);
    const std::string limit(launcher::limit_of_arena(facts, rank_count));
    if (limit.empty() || bytes >= host.memory_bytes / rank_count) return {};
    return {.verdict = Verdict::kDegraded,
            .advice = "each of the " + std::to_string(rank_count) + " ranks can share at most " +
                      std::to_string(bytes >> 20) + " MiB: for more, raise ulimit " + limit};
  } catch (const Error& error) {
    return {.verdict = Verdict::kUnusable, .advice = error.what()};
  }
}

// Judges the limits by what the ranks need: processes and, if ranks share memory, arenas.
Finding look_at_limits(const Inspection& inspection, const launcher::Layout& layout) {
  Finding finding{.check = "limits", .found = spread(inspection.hosts, limits_text)};
  const bool share_memory =
      base::sharing_over(transport_of(inspection, layout)) != base::Sharing::kNone;
  std::vector<std::string> advices;
  const auto add = [&](Verdict verdict, const std::string& advice) {
    if (verdict < finding.verdict) return;
    if (verdict > finding.verdict) advices.clear();
    finding.verdict = verdict;
    advices.push_back(advice);
  };
  for (std::size_t host = 0; host < inspection.hosts.size(); ++host) {
    const std::size_t rank_count = layout.host_rank_counts[host];
    if (rank_count == 0) continue;
    const HostFacts& facts = inspection.hosts[host].facts;
    const std::string name = inspection.hosts[host].name + ": ";
    const std::string lack = lack_of_processes(facts, rank_count);
    if (!lack.empty()) add(Verdict::kUnusable, name + lack);
    const Finding arenas =
        share_memory && rank_count > 1 ? look_at_arenas(facts, rank_count) : Finding{};
    if (!arenas.advice.empty()) add(arenas.verdict, name + arenas.advice);
  }
  finding.advice = join(advices, "; ");
  return finding;
}

Finding look_at_memory(const Hosts& hosts) {
  return {.check = "memory", .found = spread(hosts, [](const Host& host) {
                               const std::uint64_t locked = host.facts.locked_memory_bytes;
                               return memory_text(host.facts.memory_bytes) + ", may lock " +
                                      limit_text(locked, std::to_string(locked / 1024) + " KiB");
                             })};
}

Finding look_at_shared_memory(const Hosts& hosts) {
  return {.check = "/dev/shm",
          .found = spread(hosts,
                          [](const Host& host) {
                            const auto bytes = host.facts.shared_memory_bytes;
                            return bytes ? memory_text(*bytes) + " free" : std::string("none");
                          }),
          .advice = "rota itself does not use /dev/shm"};
}

Finding look_at_clocks(const Hosts& hosts) {
  Finding finding{.check = "clocks"};
  double most = 0;
  std::vector<std::string> apart;
  for (const Host& host : hosts) {
    const double difference = std::abs(host.clock_ahead);
    most = std::max(most, difference);
    if (difference <= kMostClockDifference) continue;
    apart.push_back(host.name + " is " + base::fixed_text(difference, 1) + " s " +
                    (host.clock_ahead > 0 ? "ahead of " : "behind ") + hosts.front().name +
                    "'s clock");
  }
  finding.found = apart.empty()
                      ? "within " + latency_text(most) + " of " + hosts.front().name + "'s clock"
                      : join(apart);
  if (!apart.empty())
    finding.advice =
        "rota does not use the clocks, but times in the logs of different hosts cannot be compared";
  return finding;
}

std::string name_of(const Inspection& inspection, const Edge& edge) {
  return inspection.hosts[edge.from].name + " -> " + inspection.hosts[edge.to].name;
}

Finding look_at_edges(const Inspection& inspection, const std::vector<EdgeRating>& ratings,
                      bool EdgeRating::*is_bad, const std::string& check) {
  const bool is_bandwidth = check == "bandwidth";
  const auto value_of = [&](const Edge& edge) {
    return is_bandwidth ? bandwidth_text(edge.bandwidth) : latency_text(edge.latency);
  };
  const auto ratio_of = [&](const EdgeRating& rating) {
    return is_bandwidth ? rating.bandwidth_ratio : rating.latency_ratio;
  };
  Finding finding{.check = check};
  std::vector<std::string> slow;
  const auto& edges = inspection.edges;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!(ratings[i].*is_bad)) continue;
    slow.push_back(name_of(inspection, edges[i]) + " has " + value_of(edges[i]) + ", " +
                   base::rounded_text(ratio_of(ratings[i]), is_bandwidth ? 2 : 3) +
                   (is_bandwidth ? " of the median" : " times the median"));
  }
  if (!slow.empty()) {
    finding.verdict = Verdict::kDegraded;
    finding.found = join(slow, "; ");
    finding.advice =
        "the whole ring is as slow as this edge: check the network between the two hosts, or leave "
        "out a host";
    return finding;
  }
  const auto less = [&](const Edge& one, const Edge& other) {
    return is_bandwidth ? one.bandwidth < other.bandwidth : one.latency < other.latency;
  };
  const auto [least, most] = std::ranges::minmax_element(edges, less);
  finding.found = value_of(*least) + " to " + value_of(*most) + " on the edges of the ring";
  return finding;
}

double median_of(const std::vector<Edge>& edges, double Edge::*value, bool is_more_better) {
  std::vector<double> values;
  values.reserve(edges.size());
  for (const Edge& edge : edges) values.push_back(edge.*value);
  std::ranges::sort(values);
  return values[is_more_better ? values.size() / 2 : (values.size() - 1) / 2];
}

}  // namespace

std::vector<EdgeRating> rate(const std::vector<Edge>& edges) {
  if (edges.empty()) return {};
  const double latency = median_of(edges, &Edge::latency, false);
  const double bandwidth = median_of(edges, &Edge::bandwidth, true);
  std::vector<EdgeRating> ratings;
  for (const Edge& edge : edges) {
    EdgeRating rating{.latency_ratio = edge.latency / latency,
                      .bandwidth_ratio = edge.bandwidth / bandwidth};
    rating.has_long_latency = rating.latency_ratio > kMostLatencyRatio &&
                              edge.latency - latency > kLeastLatencyDifference;
    rating.has_low_bandwidth = rating.bandwidth_ratio < kLeastBandwidthRatio;
    ratings.push_back(rating);
  }
  return ratings;
}

std::string to_text(const Finding& finding) {
  return finding.found + (finding.advice.empty() ? "" : ": " + finding.advice);
}

Judgement judge(const Inspection& inspection) {
  const Hosts& hosts = inspection.hosts;
  Judgement judgement{.edges = rate(inspection.edges)};
  std::vector<Finding>& findings = judgement.findings;
  const bool are_several = hosts.size() > 1;
  findings.push_back(look_at_hosts(hosts));
  if (auto names = look_at_names(hosts)) findings.push_back(std::move(*names));
  if (are_several) findings.push_back(look_at_key(hosts, inspection.options));
  findings.push_back(look_at_versions(hosts));
  findings.push_back(look_at_features(hosts));
  findings.push_back(look_at_program(hosts));
  const Plan plan = lay_out_job(inspection);
  findings.push_back(plan.finding);
  if (!plan.layout.places.empty()) {
    if (are_several) findings.push_back(look_at_ports(inspection, plan.layout));
    findings.push_back(look_at_files(inspection, plan.layout));
    findings.push_back(look_at_limits(inspection, plan.layout));
  }
  findings.push_back(look_at_memory(hosts));
  findings.push_back(look_at_shared_memory(hosts));
  if (are_several) findings.push_back(look_at_clocks(hosts));
  if (!inspection.edges.empty()) {
    const auto& ratings = judgement.edges;
    findings.push_back(
        look_at_edges(inspection, ratings, &EdgeRating::has_low_bandwidth, "bandwidth"));
    findings.push_back(
        look_at_edges(inspection, ratings, &EdgeRating::has_long_latency, "latency"));
  }
  for (const Finding& finding : findings) {
    if (finding.verdict <= judgement.verdict) continue;
    judgement.verdict = finding.verdict;
    judgement.reason = finding.check + ": " + to_text(finding);
  }
  return judgement;
}

std::string bandwidth_text(double bytes_per_second) {
  const double bits = 8 * bytes_per_second;
  if (bits >= 1e9) return base::rounded_text(bits / 1e9, 3) + " Gbit/s";
  if (bits >= 1e6) return base::rounded_text(bits / 1e6, 3) + " Mbit/s";
  return base::rounded_text(bits / 1e3, 3) + " kbit/s";
}

std::string latency_text(double seconds) {
  if (seconds >= 1) return base::rounded_text(seconds, 3) + " s";
  if (seconds >= 1e-3) return base::rounded_text(seconds * 1e3, 3) + " ms";
  return base::rounded_text(seconds * 1e6, 3) + " us";
}

}  // namespace rota::preflight

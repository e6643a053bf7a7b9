// Who of the other hosts has come to the meeting.
#include "launcher/hosts/muster.h"

#include <algorithm>

#include "launcher/exit_policy.h"

namespace rota::launcher {
namespace {

constexpr std::size_t kMostNamed = 8;

}  // namespace

Muster::Muster(const Meeting& meeting, Hello own)
    : meeting_(meeting), hosts_(member_count(meeting)) {
  hosts_[meeting.leader_host] = std::move(own);
}

std::optional<Refusal> Muster::on_hello(std::size_t host, const Hello& hello) {
  const Hello& own = *hosts_[meeting_.leader_host];
  const std::string who = name_of_host(meeting_, host);
  const std::string leader = name_of_host(meeting_, meeting_.leader_host);
  if (hello.version != own.version) {
    return Refusal{kExitSpecification, who + " has rota " + hello.version + ", and " + leader +
                                           " has " + own.version +
                                           ": install the same version everywhere"};
  }
  if (hello.cluster != own.cluster) {
    return Refusal{kExitSpecification, "the hosts were told different things: " + who + " of " +
                                           hello.cluster + "; " + leader + " of " + own.cluster};
  }
  if (hosts_[host]) {
    return Refusal{kExitSlotHeld, who + " is here already, on " + hosts_[host]->host +
                                      ", and alive: this is another instance of it, on " +
                                      hello.host};
  }
  const bool is_in_ring = host < meeting_.host_count;
  const auto declared = is_in_ring ? meeting_.cluster.hosts[host].slots : std::nullopt;
  if (declared && *declared != hello.slot_count) {
    return Refusal{kExitSpecification, who + " has " + std::to_string(hello.slot_count) +
                                           " slots, and " + leader + " was told that it has " +
                                           std::to_string(*declared)};
  }
  hosts_[host] = hello;
  return std::nullopt;
}

void Muster::on_lost(std::size_t host) { hosts_[host].reset(); }

std::optional<Refusal> Muster::obstacle() const {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host] || hosts_[host]->obstacle_code == 0) continue;
    return Refusal{hosts_[host]->obstacle_code,
                   name_of_host(meeting_, host) + ": " + hosts_[host]->obstacle};
  }
  return std::nullopt;
}

std::vector<std::string> Muster::warnings() const {
  std::optional<std::size_t> first;
  std::vector<std::size_t> others;
  for (std::size_t host = 0; host < meeting_.host_count; ++host) {
    if (!hosts_[host] || hosts_[host]->program.empty()) continue;
    if (!first) first = host;
    if (hosts_[host]->program != hosts_[*first]->program) others.push_back(host);
  }
  if (others.empty()) return {};
  const auto describe = [this](std::size_t host) {
    return name_of_host(meeting_, host) + " has one of " + hosts_[host]->program;
  };
  std::string text = "the hosts have different programs: " + describe(*first);
  for (std::size_t i = 0; i < std::min(others.size(), kMostNamed); ++i) {
    text += "; " + describe(others[i]);
  }
  if (others.size() > kMostNamed) {
    text += "; and " + std::to_string(others.size() - kMostNamed) + " more";
  }
  return {text};
}

std::vector<std::size_t> Muster::absent() const {
  std::vector<std::size_t> absent;
  for (std::size_t host = 0; host < meeting_.host_count; ++host) {
    if (!hosts_[host]) absent.push_back(host);
  }
  return absent;
}

std::string Muster::absent_text() const {
  const std::vector<std::size_t> missing = absent();
  std::string text =
      std::to_string(missing.size()) + " of " + std::to_string(meeting_.host_count) + " hosts: ";
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + name_of_host(meeting_, missing[i]);
  }
  if (missing.size() > kMostNamed) {
    text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  }
  return text;
}

}  // namespace rota::launcher

// Records which hosts have come, refuses a host that does not fit the job, and names the absent
// ones.
#include "launcher/hosts/rendezvous/host_registry.h"

#include <algorithm>
#include <utility>

#include "launcher/command/exit_codes.h"
#include "launcher/hosts/rendezvous/host_tree.h"

namespace rota::launcher {
namespace {

constexpr std::size_t kMostNamed = 8;

// How long hosts that have come wait for the others before this host reports them to its parent.
constexpr std::chrono::seconds kTellTime{1};

}  // namespace

HostRegistry::HostRegistry(const HostPlan& host_plan, std::size_t own_host, Hello own)
    : host_plan_(host_plan), own_host_(own_host) {
  for (const std::size_t host : subtree_of(host_plan, own_host)) {
    if (host >= host_plan.host_count) continue;  // This host, which has no ranks.
    places_[host].is_expected = true;
    ++expected_count_;
  }
  absent_count_ = expected_count_;
  enter(own_host, std::move(own));
}

bool HostRegistry::is_here(std::size_t host) const {
  const auto found = places_.find(host);
  return found != places_.end() && found->second.hello;
}

void HostRegistry::enter(std::size_t host, Hello hello) {
  Place& place = places_[host];
  if (place.is_expected && !place.hello) --absent_count_;
  place = {.is_expected = place.is_expected, .hello = std::move(hello)};
}

void HostRegistry::clear(std::size_t host) {
  Place& place = places_[host];
  if (place.is_expected && place.hello) ++absent_count_;
  place = {.is_expected = place.is_expected};
}

std::optional<Refusal> HostRegistry::on_call(std::size_t host,
                                             const std::vector<HostText>& hellos) {
  const auto own = std::ranges::find(hellos, host, &HostText::host);
  const auto hello = own == hellos.end() ? std::nullopt : decode_hello(own->text);
  if (!hello) {
    return Refusal{kExitSpecification,
                   name_of_host(host_plan_, host) + " sent an invalid introduction"};
  }
  if (auto refusal = judge(host, *hello)) return refusal;
  enter(host, *hello);
  on_hellos(host, hellos);
  return std::nullopt;
}

// Records hosts below a child. The child has checked these hosts already.
void HostRegistry::on_hellos(std::size_t child, const std::vector<HostText>& hellos) {
  for (const HostText& entry : hellos) {
    if (entry.host >= host_plan_.host_count || !is_below(host_plan_, entry.host, child)) continue;
    if (auto hello = decode_hello(entry.text)) enter(entry.host, std::move(*hello));
  }
}

void HostRegistry::on_endpoints(std::size_t child, const std::vector<HostText>& endpoints,
                                const Routes& given) {
  for (const HostText& entry : endpoints) {
    auto decoded = decode_endpoints(entry.text);
    const bool is_right = decoded && given.is_part_of(entry.host, child) && is_here(entry.host) &&
                          decoded->addresses.size() == given.rank_count(entry.host);
    if (is_right) places_[entry.host].endpoints = std::move(decoded);
  }
}

void HostRegistry::set_own_endpoints(HostEndpoints endpoints) {
  places_[own_host_].endpoints = std::move(endpoints);
}

std::optional<Refusal> HostRegistry::judge(std::size_t host, const Hello& hello) const {
  const Hello& own = *places_.at(own_host_).hello;
  const std::string who = name_of_host(host_plan_, host);
  const std::string we = name_of_host(host_plan_, own_host_);
  if (hello.version != own.version) {
    return Refusal{kExitSpecification, who + " has rota " + hello.version + ", and " + we +
                                           " has " + own.version +
                                           ": install the same version everywhere"};
  }
  if (hello.cluster != own.cluster) {
    return Refusal{kExitSpecification, "the hosts were told different things: " + who +
                                           " was told of " + hello.cluster + ", but " + we +
                                           " was told of " + own.cluster};
  }
  if (is_here(host)) {
    return Refusal{kExitSlotHeld, who + " has already joined, on " + this->hello(host).host +
                                      ", and is alive: this is another instance of it, on " +
                                      hello.host};
  }
  const bool is_in_ring = host < host_plan_.host_count;
  const auto declared = is_in_ring ? host_plan_.cluster.hosts[host].slots : std::nullopt;
  if (declared && *declared != hello.slot_count) {
    return Refusal{kExitSpecification, who + " has " + std::to_string(hello.slot_count) +
                                           " slots, but " + we + " was told that " + who + " has " +
                                           std::to_string(*declared)};
  }
  return std::nullopt;
}

void HostRegistry::on_lost(std::size_t host) {
  clear(host);
  for (const auto& [other, place] : places_) {
    if (place.hello && is_below(host_plan_, other, host)) clear(other);
  }
}

bool HostRegistry::has_all_endpoints() const {
  return std::ranges::all_of(places_, [](const auto& entry) {
    return !entry.second.hello || entry.second.endpoints.has_value();
  });
}

std::optional<ControlMessage> HostRegistry::take_hello(base::TimePoint now) {
  const bool are_told = std::ranges::none_of(
      places_, [](const auto& entry) { return entry.second.hello && !entry.second.is_told; });
  if (are_told) {
    tell_at_.reset();
    return std::nullopt;
  }
  if (!is_complete() && !tell_at_) tell_at_ = now + kTellTime;
  if (!is_complete() && now < *tell_at_) return std::nullopt;
  tell_at_.reset();
  std::vector<HostText> untold;
  for (auto& [host, place] : places_) {
    if (!place.hello || place.is_told) continue;
    place.is_told = true;
    Hello hello = *place.hello;
    if (host != own_host_) hello.cluster.clear();
    untold.push_back({host, encode(hello)});
  }
  return ControlMessage{.type = ControlMessageType::kHello, .text = encode(untold)};
}

std::optional<ControlMessage> HostRegistry::take_ready() {
  if (is_ready_told_ || !has_all_endpoints()) return std::nullopt;
  is_ready_told_ = true;
  std::vector<HostText> endpoints;
  for (const auto& [host, place] : places_) {
    if (place.endpoints) endpoints.push_back({host, encode(*place.endpoints)});
  }
  return ControlMessage{.type = ControlMessageType::kReady, .text = encode(endpoints)};
}

std::optional<Refusal> HostRegistry::obstacle() const {
  for (const auto& [host, place] : places_) {
    const auto& hello = place.hello;
    if (!hello || hello->obstacle_code == 0) continue;
    return Refusal{hello->obstacle_code, name_of_host(host_plan_, host) + ": " + hello->obstacle};
  }
  return std::nullopt;
}

// Returns a warning if hosts with ranks run different programs. A host without ranks may run
// another program.
std::vector<std::string> HostRegistry::warnings() const {
  std::optional<std::size_t> first;
  std::vector<std::size_t> others;
  for (const auto& [host, place] : places_) {
    if (host >= host_plan_.host_count || !place.hello || place.hello->program.empty()) continue;
    if (!first) first = host;
    if (place.hello->program != hello(*first).program) others.push_back(host);
  }
  if (others.empty()) return {};
  const auto describe = [this](std::size_t host) {
    return name_of_host(host_plan_, host) + " has a program of " + hello(host).program;
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

std::vector<std::size_t> HostRegistry::absent() const {
  std::vector<std::size_t> missing;
  for (const auto& [host, place] : places_) {
    if (!place.is_expected || place.hello) continue;
    if (is_here(parent_of(host_plan_, host))) missing.push_back(host);
  }
  return missing;
}

// Lists the absent hosts. Nothing is known of hosts whose parent is absent, so the text has only
// their number.
std::string HostRegistry::absent_text() const {
  const std::vector<std::size_t> missing = absent();
  std::string text =
      std::to_string(absent_count_) + " of " + std::to_string(expected_count_) + " hosts: ";
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + name_of_host(host_plan_, missing[i]);
  }
  if (missing.size() > kMostNamed) {
    text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  }
  if (missing.size() < absent_count_) {
    text += "; the other " + std::to_string(absent_count_ - missing.size()) +
            " connect to these hosts, not to this one";
  }
  return text;
}

}  // namespace rota::launcher

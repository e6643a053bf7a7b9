// Who of the other hosts has come to the meeting.
#include "launcher/hosts/meet/muster.h"

#include <algorithm>
#include <utility>

#include "launcher/command/exit_codes.h"
#include "launcher/hosts/meet/tree.h"

namespace rota::launcher {
namespace {

constexpr std::size_t kMostNamed = 8;

// How long those who have come wait for the others before the one above hears of them.
constexpr std::chrono::seconds kTellTime{1};

}  // namespace

Muster::Muster(const Meeting& meeting, std::size_t own_host, Hello own)
    : meeting_(meeting), own_host_(own_host) {
  for (const std::size_t host : branch_of(meeting, own_host)) {
    if (host >= meeting.host_count) continue;  // The leader, or we, outside of the ring.
    places_[host].is_expected = true;
    ++expected_count_;
  }
  absent_count_ = expected_count_;
  enter(own_host, std::move(own));
}

bool Muster::is_here(std::size_t host) const {
  const auto found = places_.find(host);
  return found != places_.end() && found->second.hello;
}

void Muster::enter(std::size_t host, Hello hello) {
  Place& place = places_[host];
  if (place.is_expected && !place.hello) --absent_count_;
  place = {.is_expected = place.is_expected, .hello = std::move(hello)};
}

void Muster::clear(std::size_t host) {
  Place& place = places_[host];
  if (place.is_expected && place.hello) ++absent_count_;
  place = {.is_expected = place.is_expected};
}

std::optional<Refusal> Muster::on_call(std::size_t host, const std::vector<HostText>& hellos) {
  const auto own = std::ranges::find(hellos, host, &HostText::host);
  const auto hello = own == hellos.end() ? std::nullopt : decode_hello(own->text);
  if (!hello) {
    return Refusal{kExitSpecification, name_of_host(meeting_, host) + " does not introduce itself"};
  }
  if (auto refusal = judge(host, *hello)) return refusal;
  enter(host, *hello);
  on_hellos(host, hellos);
  return std::nullopt;
}

// They have been judged by the one that tells of them.
void Muster::on_hellos(std::size_t child, const std::vector<HostText>& hellos) {
  for (const HostText& entry : hellos) {
    if (entry.host >= meeting_.host_count || !is_below(meeting_, entry.host, child)) continue;
    if (auto hello = decode_hello(entry.text)) enter(entry.host, std::move(*hello));
  }
}

void Muster::on_seats(std::size_t child, const std::vector<HostText>& seats, const Routes& given) {
  for (const HostText& entry : seats) {
    auto decoded = decode_seats(entry.text);
    const bool is_right = decoded && given.is_part_of(entry.host, child) && is_here(entry.host) &&
                          decoded->addresses.size() == given.rank_count(entry.host);
    if (is_right) places_[entry.host].seats = std::move(decoded);
  }
}

void Muster::set_own_seats(Seats seats) { places_[own_host_].seats = std::move(seats); }

std::optional<Refusal> Muster::judge(std::size_t host, const Hello& hello) const {
  const Hello& own = *places_.at(own_host_).hello;
  const std::string who = name_of_host(meeting_, host);
  const std::string we = name_of_host(meeting_, own_host_);
  if (hello.version != own.version) {
    return Refusal{kExitSpecification, who + " has rota " + hello.version + ", and " + we +
                                           " has " + own.version +
                                           ": install the same version everywhere"};
  }
  if (hello.cluster != own.cluster) {
    return Refusal{kExitSpecification, "the hosts were told different things: " + who + " of " +
                                           hello.cluster + "; " + we + " of " + own.cluster};
  }
  if (is_here(host)) {
    return Refusal{kExitSlotHeld, who + " is here already, on " + this->hello(host).host +
                                      ", and alive: this is another instance of it, on " +
                                      hello.host};
  }
  const bool is_in_ring = host < meeting_.host_count;
  const auto declared = is_in_ring ? meeting_.cluster.hosts[host].slots : std::nullopt;
  if (declared && *declared != hello.slot_count) {
    return Refusal{kExitSpecification, who + " has " + std::to_string(hello.slot_count) +
                                           " slots, and " + we + " was told that it has " +
                                           std::to_string(*declared)};
  }
  return std::nullopt;
}

void Muster::on_lost(std::size_t host) {
  clear(host);
  for (const auto& [other, place] : places_) {
    if (place.hello && is_below(meeting_, other, host)) clear(other);
  }
}

bool Muster::is_seated() const {
  return std::ranges::all_of(places_, [](const auto& entry) {
    return !entry.second.hello || entry.second.seats.has_value();
  });
}

std::optional<Dispatch> Muster::take_hello(base::TimePoint now) {
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
  return Dispatch{.type = DispatchType::kHello, .text = encode(untold)};
}

std::optional<Dispatch> Muster::take_ready() {
  if (is_ready_told_ || !is_seated()) return std::nullopt;
  is_ready_told_ = true;
  std::vector<HostText> seats;
  for (const auto& [host, place] : places_) {
    if (place.seats) seats.push_back({host, encode(*place.seats)});
  }
  return Dispatch{.type = DispatchType::kReady, .text = encode(seats)};
}

std::optional<Refusal> Muster::obstacle() const {
  for (const auto& [host, place] : places_) {
    const auto& hello = place.hello;
    if (!hello || hello->obstacle_code == 0) continue;
    return Refusal{hello->obstacle_code, name_of_host(meeting_, host) + ": " + hello->obstacle};
  }
  return std::nullopt;
}

// Those outside of the ring may well have another one.
std::vector<std::string> Muster::warnings() const {
  std::optional<std::size_t> first;
  std::vector<std::size_t> others;
  for (const auto& [host, place] : places_) {
    if (host >= meeting_.host_count || !place.hello || place.hello->program.empty()) continue;
    if (!first) first = host;
    if (place.hello->program != hello(*first).program) others.push_back(host);
  }
  if (others.empty()) return {};
  const auto describe = [this](std::size_t host) {
    return name_of_host(meeting_, host) + " has one of " + hello(host).program;
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
  std::vector<std::size_t> missing;
  for (const auto& [host, place] : places_) {
    if (!place.is_expected || place.hello) continue;
    if (is_here(parent_of(meeting_, host))) missing.push_back(host);
  }
  return missing;
}

// Of those that would call an absent one nothing can be known, and nothing is said but their
// number.
std::string Muster::absent_text() const {
  const std::vector<std::size_t> missing = absent();
  std::string text =
      std::to_string(absent_count_) + " of " + std::to_string(expected_count_) + " hosts: ";
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + name_of_host(meeting_, missing[i]);
  }
  if (missing.size() > kMostNamed) {
    text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  }
  if (missing.size() < absent_count_) {
    text += "; the other " + std::to_string(absent_count_ - missing.size()) +
            " call those, not this host";
  }
  return text;
}

}  // namespace rota::launcher

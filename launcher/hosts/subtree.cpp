// Handles the hosts below this one: admits them or refuses them with a reason, notices when a host
// is lost or slow, and passes messages between the hosts below and the leader.
#include "launcher/hosts/subtree.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/hosts/rendezvous/host_tree.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

// How long an authenticated rotarun may take to send its Hello. A new rotarun of a host also waits
// at most this long until it is known whether the host's earlier rotarun is dead.
constexpr std::chrono::seconds kHelloTime{10};

// The largest number of strangers (callers that were turned away) that are named. Without this
// limit, an attacker that floods the port could fill the log.
constexpr std::size_t kMostStrangers = 8;

}  // namespace

Subtree::Subtree(const HostPlan& host_plan, Access access, Hello own, Say say)
    : host_plan_(host_plan),
      say_(std::move(say)),
      registry_(host_plan, host_plan.own_host, std::move(own)),
      routes_(host_plan, host_plan.own_host),
      access_(std::move(access)),
      acceptor_({.key = access_.secret.key,
                 .encrypts = access_.secret.encrypts,
                 .incarnation = access_.incarnation,
                 .listener = access_.listener.socket.get(),
                 .expected_count = children_of(host_plan, host_plan.own_host).size()},
                [this](const auth::Identity& caller) { return judge(caller); }),
      members_(member_count(host_plan)) {}

auth::Admission Subtree::judge(const auth::Identity& caller) const {
  if (caller.kind != auth::ConnectionKind::kHosts || caller.to != host_plan_.own_host) {
    return auth::never("only launchers of hosts may connect here");
  }
  if (caller.job_id != to_bytes(host_plan_.job_id)) {
    return auth::not_now("another job uses this port: " + host_plan_.job_id);
  }
  const std::uint64_t epoch = host_plan_.cluster.epoch.value_or(0);
  if (caller.epoch != epoch) {
    return auth::not_now("the job is in epoch " + std::to_string(epoch) +
                         ", but the caller is in epoch " + std::to_string(caller.epoch));
  }
  if (caller.from == host_plan_.own_host) {
    return auth::never(name_of_host(host_plan_, caller.from) + " is this host");
  }
  if (caller.from >= members_.size()) {
    return misfit("this job has " + std::to_string(members_.size()) + " hosts");
  }
  const std::size_t parent = parent_of(host_plan_, caller.from);
  if (caller.from != host_plan_.leader_host && parent == host_plan_.own_host) {
    return is_too_late(caller.from) ? auth::not_now(why_too_late()) : auth::Admission{};
  }
  return misfit(name_of_host(host_plan_, caller.from) + " must connect to " +
                name_of_host(host_plan_, parent));
}

// Refuses a caller that does not fit this job. If this job has begun, the caller may belong to a
// job that replaces it, with other hosts, so the caller may try again.
auth::Admission Subtree::misfit(const std::string& why) const {
  return is_gathering() ? auth::never(why) : auth::not_now(why + "; this job has begun");
}

// Returns whether a new rotarun of the host `host` comes too late. Once all hosts with ranks have
// come, a new rotarun of one of them is too late for this world, in which the host already was.
bool Subtree::is_too_late(std::size_t host) const {
  if (phase_ == Phase::kGathering) return false;
  if (phase_ == Phase::kFinished || (is_ending_ && host < host_plan_.host_count)) return true;
  const auto& link = members_[host].link;
  return host < host_plan_.host_count && (!link || !link->is_open());
}

std::string Subtree::why_too_late() const {
  return is_done_ ? "the job is done: every rank ended with 0"
                  : "the world of an earlier instance of this host is still ending";
}

void Subtree::receive_newcomers(base::TimePoint now) {
  for (auth::Acceptor::Member& caller : acceptor_.receive(now)) {
    auto connection =
        std::make_unique<rendezvous::RemoteConnection>(std::move(caller.stream), caller.keys);
    newcomers_.push_back({.link = std::make_unique<LauncherLink>(std::move(connection), now),
                          .host = caller.identity.from,
                          .since = now,
                          .hellos = {}});
  }
  name_stranger();
  std::erase_if(newcomers_, [&](Newcomer& newcomer) { return settle(newcomer, now); });
}

// Names a stranger immediately, because other strangers may come before stranger_text() is called.
// Names each stranger only once.
void Subtree::name_stranger() {
  const std::string& stranger = acceptor_.last_complaint();
  if (stranger.empty() || strangers_.size() == kMostStrangers) return;
  if (std::ranges::find(strangers_, stranger) != strangers_.end()) return;
  strangers_.push_back(stranger);
  say_("turned away: " + stranger);
}

// Admits the newcomer or turns it away. Returns true once that is done, or once the newcomer has
// gone. If the earlier rotarun of the same host may be dead, the newcomer waits until that is
// known.
bool Subtree::settle(Newcomer& newcomer, base::TimePoint now) {
  for (const ControlMessage& message : newcomer.link->receive(now)) {
    const auto hellos = decode_host_texts(message.text);
    if (message.type != ControlMessageType::kHello || !hellos) return true;
    newcomer.hellos.insert(newcomer.hellos.end(), hellos->begin(), hellos->end());
  }
  if (!newcomer.link->is_open() || now - newcomer.since > kHelloTime) return true;
  if (newcomer.hellos.empty()) return false;
  Member& member = members_[newcomer.host];
  const bool may_be_dead =
      member.link && member.link->is_open() && member.link->silent_for(now) > 4 * kBeatTime;
  if (may_be_dead) return false;
  if (is_too_late(newcomer.host)) {
    newcomer.link->send(
        {.type = ControlMessageType::kRefused, .value = kCallAgain, .text = why_too_late()});
    newcomer.link->close(now);
    return true;
  }
  if (const auto refusal = admit(newcomer.host, newcomer.hellos)) {
    turn_away(newcomer, *refusal, now);
    return true;
  }
  member = Member{.link = std::move(newcomer.link)};
  if (phase_ == Phase::kRunning) let_begin(newcomer.host);
  return true;
}

std::optional<Refusal> Subtree::admit(std::size_t host, const std::vector<HostText>& hellos) {
  if (auto refusal = registry_.on_call(host, hellos)) return refusal;
  // While the hosts gather, a host's obstacle does not refuse the host: all hosts must be told
  // about the obstacle once they are here.
  auto obstacle = is_gathering() ? std::nullopt : registry_.obstacle();
  if (obstacle) registry_.on_lost(host);
  return obstacle;
}

// Sends a host its assignment and, if they exist already, the messages kFlow and kStart. A host
// without ranks may connect even after the others have started.
void Subtree::let_begin(std::size_t host) {
  LauncherLink& link = *members_[host].link;
  link.send({.type = ControlMessageType::kAssignment, .text = encode(assignments_[host])});
  if (flow_) link.send(*flow_);
  if (start_) link.send(*start_);
}

void Subtree::turn_away(Newcomer& newcomer, const Refusal& refusal, base::TimePoint now) {
  say_("turned away: " + refusal.why);
  newcomer.link->send(
      {.type = ControlMessageType::kRefused, .value = refusal.exit_code, .text = refusal.why});
  newcomer.link->close(now);
}

std::string Subtree::stranger_text() const {
  const std::string& stranger = acceptor_.last_complaint();
  return stranger.empty() ? "" : "; the last caller who was turned away: " + stranger;
}

std::string Subtree::own_address() const {
  for (const Member& member : members_) {
    if (member.link && member.link->is_open()) {
      return os::local_address(member.link->fd()).host();
    }
  }
  throw Error(ErrorCode::kPeerLost, "every other host has left");
}

void Subtree::add_to(os::PollSet& polls) {
  acceptor_.add_to(polls, base::Clock::now());
  for (Newcomer& newcomer : newcomers_) newcomer.link->add_to(polls);
  for (Member& member : members_) {
    if (member.link) member.link->add_to(polls);
  }
}

std::vector<ControlMessage> Subtree::handle(base::TimePoint now) {
  for (std::size_t host = 0; host < members_.size(); ++host) {
    if (members_[host].link) hear(host, now);
  }
  receive_newcomers(now);
  return std::exchange(arrivals_, {});
}

void Subtree::hear(std::size_t host, base::TimePoint now) {
  Member& member = members_[host];
  if (!member.link->is_open()) return;
  for (ControlMessage& message : member.link->receive(now)) on_message(host, std::move(message));
  if (member.link->is_open()) return watch_liveness(host, now);
  lose(host, std::string(member.link->why_ended()));
}

void Subtree::on_message(std::size_t host, ControlMessage message) {
  switch (message.type) {
    case ControlMessageType::kHello:
      if (!is_gathering()) return;
      if (const auto hellos = decode_host_texts(message.text)) registry_.on_hellos(host, *hellos);
      return;
    case ControlMessageType::kReady:
      if (const auto endpoints = decode_host_texts(message.text)) {
        registry_.on_endpoints(host, *endpoints, routes_);
      }
      return;
    case ControlMessageType::kOutput:
    case ControlMessageType::kSaid: {
      const bool is_of_evaluator =
          message.type == ControlMessageType::kOutput && message.value >= kOfEvaluator;
      const bool is_right = is_of_evaluator ? message.rank < routes_.evaluator_count(host)
                                            : routes_.has_rank(host, message.rank);
      if (is_right) arrivals_.push_back(std::move(message));
      return;
    }
    case ControlMessageType::kEvent:
      return on_event(host, std::move(message));
    default:
      return;
  }
}

void Subtree::on_event(std::size_t host, ControlMessage message) {
  const auto event =
      decode_job_event(message.text, std::max(members_.size(), routes_.world_size()));
  if (!event) return;
  switch (event->kind) {
    case JobEvent::Kind::kHostEnded:
      members_[host].has_ended = true;
      return;
    case JobEvent::Kind::kHostLost:
      if (!routes_.is_part_of(event->rank, host)) return;
      if (is_gathering()) registry_.on_lost(event->rank);
      break;
    case JobEvent::Kind::kNotStarted:
    case JobEvent::Kind::kSignal:
      break;
    case JobEvent::Kind::kEvaluatorStarted:
    case JobEvent::Kind::kEvaluatorExited:
    case JobEvent::Kind::kEvaluatorKilled:
      if (event->rank >= routes_.evaluator_count(host)) return;
      break;
    default:
      if (!routes_.has_rank(host, event->rank)) return;
  }
  arrivals_.push_back(std::move(message));
}

void Subtree::watch_liveness(std::size_t host, base::TimePoint now) {
  using Verdict = LivenessWatch::Verdict;
  Member& member = members_[host];
  const Verdict verdict = member.link->judge(now);
  if (verdict == Verdict::kVanished) {
    return lose(host, "its kernel no longer acknowledges anything");
  }
  if (verdict == Verdict::kSilent) {
    return lose(host, "its launcher sent nothing for " +
                          base::to_text(member.link->silent_for(now)) +
                          ", although its kernel answers");
  }
  const bool is_slow = verdict == Verdict::kSlow;
  if (is_slow && !member.is_slow) {
    say_(name_of_host(host_plan_, host) +
         " is slow: its launcher sends nothing, although its kernel answers");
  }
  member.is_slow = is_slow;
}

void Subtree::lose(std::size_t host, const std::string& why) {
  Member& member = members_[host];
  const std::string who = name_of_host(host_plan_, host);
  const bool is_in_ring = host < host_plan_.host_count;
  if (is_gathering() || !is_in_ring) {
    if (phase_ != Phase::kFinished) say_(who + " has left: " + why);
    registry_.on_lost(host);
    member = Member();
  } else {
    *member.link = LauncherLink(nullptr, {});
    member.has_ended = true;
  }
  if (phase_ == Phase::kFinished) return;
  const auto tell = [this](const JobEvent& event) {
    arrivals_.push_back({.type = ControlMessageType::kEvent, .text = encode(event)});
  };
  if (is_in_ring) {
    return tell({.kind = JobEvent::Kind::kHostLost,
                 .rank = host,
                 .value = kExitSilent,
                 .text = "lost " + who + ": " + why});
  }
  // The lost host has no ranks, and the ranks do not need evaluators. So the job goes on without
  // it.
  for (std::size_t index = 0; index < routes_.evaluator_count(host); ++index) {
    tell({.kind = JobEvent::Kind::kEvaluatorExited, .world = routes_.world(), .rank = index});
  }
}

void Subtree::begin(Phase phase) {
  phase_ = phase;
  acceptor_.let_others_wait();
}

void Subtree::on_finish(int exit_code) {
  begin(Phase::kFinished);
  is_done_ = exit_code == 0;
}

void Subtree::send_all(base::TimePoint now) {
  for (Newcomer& newcomer : newcomers_) newcomer.link->send_all(now);
  for (Member& member : members_) {
    if (member.link) member.link->send_all(now);
  }
}

std::optional<base::TimePoint> Subtree::next_deadline() const {
  std::optional<base::TimePoint> next = acceptor_.next_deadline();
  const auto take = [&](std::optional<base::TimePoint> other) {
    if (other && (!next || *other < *next)) next = other;
  };
  take(registry_.next_deadline());
  for (const Newcomer& newcomer : newcomers_) take(newcomer.link->next_deadline());
  for (const Member& member : members_) {
    if (member.link) take(member.link->next_deadline());
  }
  return next;
}

void Subtree::assign(const std::vector<HostText>& assignments) {
  begin(Phase::kRunning);
  assignments_ = routes_.assign(assignments);
  for (std::size_t host = 0; host < members_.size(); ++host) {
    if (members_[host].link) let_begin(host);
  }
}

void Subtree::send(const ControlMessage& message) {
  if (message.type == ControlMessageType::kStart) start_ = message;
  if (message.type == ControlMessageType::kFlow) flow_ = message;
  if (message.type == ControlMessageType::kAskToEnd || message.type == ControlMessageType::kKill) {
    is_ending_ = true;
  }
  for (Member& member : members_) {
    if (member.link) member.link->send(message);
  }
}

bool Subtree::reaches_rank(std::size_t rank) const {
  const auto child = routes_.child_toward_rank(rank);
  return child && members_[*child].link && members_[*child].link->is_open();
}

void Subtree::send_to_rank(std::size_t rank, const ControlMessage& message) {
  if (reaches_rank(rank)) members_[*routes_.child_toward_rank(rank)].link->send(message);
}

void Subtree::refuse(const ControlMessage& refusal, base::TimePoint now) {
  begin(Phase::kFinished);
  send(refusal);
  for (Member& member : members_) {
    if (member.link) member.link->close(now);
  }
}

bool Subtree::have_ended() const {
  return std::ranges::all_of(members_,
                             [](const Member& member) { return !member.link || member.has_ended; });
}

bool Subtree::are_gone(std::size_t last_host) const {
  for (std::size_t child = 0; child < members_.size(); ++child) {
    const auto& link = members_[child].link;
    if (!link || !link->is_open()) continue;
    if (!routes_.is_part_of(last_host, child) || !link->is_quiet()) return false;
  }
  return true;
}

}  // namespace rota::launcher

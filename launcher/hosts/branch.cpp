// The hosts that call this one, and through them those below.
#include "launcher/hosts/branch.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/hosts/meet/tree.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

// How long a host that has proved itself may take to introduce itself; or has to wait because the
// one in its place may be gone.
constexpr std::chrono::seconds kHelloTime{10};

// So many strangers are named; more would only fill the log, as whoever floods a port wants.
constexpr std::size_t kMostStrangers = 8;

}  // namespace

Branch::Branch(const Meeting& meeting, Access access, Hello own, Say say)
    : meeting_(meeting),
      say_(std::move(say)),
      muster_(meeting, meeting.own_host, std::move(own)),
      routes_(meeting, meeting.own_host),
      access_(std::move(access)),
      reception_({.key = access_.secret.key,
                  .encrypts = access_.secret.encrypts,
                  .incarnation = access_.incarnation,
                  .listener = access_.listener.socket.get(),
                  .expected_count = children_of(meeting, meeting.own_host).size()},
                 [this](const auth::Identity& caller) { return judge(caller); }),
      members_(member_count(meeting)) {}

auth::Judgement Branch::judge(const auth::Identity& caller) const {
  if (caller.channel != auth::Channel::kHosts || caller.to != meeting_.own_host) {
    return auth::never("here the launchers of hosts meet, and only they");
  }
  if (caller.job_id != to_bytes(meeting_.job_id)) {
    return auth::not_now("here another job meets: " + meeting_.job_id);
  }
  const std::uint64_t epoch = meeting_.cluster.epoch.value_or(0);
  if (caller.epoch != epoch) {
    return auth::not_now("this is epoch " + std::to_string(epoch) + " of the job, and not " +
                         std::to_string(caller.epoch));
  }
  if (caller.from == meeting_.own_host) {
    return auth::never(name_of_host(meeting_, caller.from) + " is here");
  }
  if (caller.from >= members_.size()) {
    return auth::never("this job has " + std::to_string(members_.size()) + " hosts");
  }
  const std::size_t parent = parent_of(meeting_, caller.from);
  if (caller.from != meeting_.leader_host && parent == meeting_.own_host) {
    return is_too_late(caller.from) ? auth::not_now(why_too_late()) : auth::Judgement{};
  }
  return auth::never(name_of_host(meeting_, caller.from) + " is to call " +
                     name_of_host(meeting_, parent));
}

// Once all of the ring were here, who comes anew was in the world that is ending, or is to be in
// the next one.
bool Branch::is_too_late(std::size_t host) const {
  if (phase_ == Phase::kGathering) return false;
  if (phase_ == Phase::kFinished || (is_ending_ && host < meeting_.host_count)) return true;
  const auto& trunk = members_[host].trunk;
  return host < meeting_.host_count && (!trunk || !trunk->is_open());
}

std::string Branch::why_too_late() const {
  return is_done_ ? "the job is done: every rank ended with 0"
                  : "the world that an earlier instance of this host was in is ending";
}

void Branch::receive_newcomers(base::TimePoint now) {
  for (auth::Reception::Guest& guest : reception_.receive(now)) {
    auto line = std::make_unique<rendezvous::RemoteLine>(std::move(guest.stream), guest.keys);
    newcomers_.push_back({.trunk = std::make_unique<Trunk>(std::move(line), now),
                          .host = guest.identity.from,
                          .since = now,
                          .hellos = {}});
  }
  name_stranger();
  std::erase_if(newcomers_, [&](Newcomer& newcomer) { return settle(newcomer, now); });
}

// At once, as others may call before anybody asks who it was; and each only once.
void Branch::name_stranger() {
  const std::string& stranger = reception_.last_complaint();
  if (stranger.empty() || strangers_.size() == kMostStrangers) return;
  if (std::ranges::find(strangers_, stranger) != strangers_.end()) return;
  strangers_.push_back(stranger);
  say_("turned away: " + stranger);
}

// Lets it in, or turns it away; true where that is done, or it has gone. Where its place is taken
// by one that may be dead, it waits until that is known.
bool Branch::settle(Newcomer& newcomer, base::TimePoint now) {
  for (const Dispatch& dispatch : newcomer.trunk->receive(now)) {
    const auto hellos = decode_host_texts(dispatch.text);
    if (dispatch.type != DispatchType::kHello || !hellos) return true;
    newcomer.hellos.insert(newcomer.hellos.end(), hellos->begin(), hellos->end());
  }
  if (!newcomer.trunk->is_open() || now - newcomer.since > kHelloTime) return true;
  if (newcomer.hellos.empty()) return false;
  Member& member = members_[newcomer.host];
  const bool may_be_dead =
      member.trunk && member.trunk->is_open() && member.trunk->silent_for(now) > 4 * kBeatTime;
  if (may_be_dead) return false;
  if (is_too_late(newcomer.host)) {
    newcomer.trunk->send(
        {.type = DispatchType::kRefused, .value = kCallAgain, .text = why_too_late()});
    newcomer.trunk->close(now);
    return true;
  }
  if (const auto refusal = admit(newcomer.host, newcomer.hellos)) {
    turn_away(newcomer, *refusal, now);
    return true;
  }
  member = Member{.trunk = std::move(newcomer.trunk)};
  if (phase_ == Phase::kRunning) let_begin(newcomer.host);
  return true;
}

std::optional<Refusal> Branch::admit(std::size_t host, const std::vector<HostText>& hellos) {
  if (auto refusal = muster_.on_call(host, hellos)) return refusal;
  // While they gather, all are to hear of it.
  auto obstacle = is_gathering() ? std::nullopt : muster_.obstacle();
  if (obstacle) muster_.on_lost(host);
  return obstacle;
}

// One without ranks, which may come when it likes.
void Branch::let_begin(std::size_t host) {
  Trunk& trunk = *members_[host].trunk;
  trunk.send({.type = DispatchType::kShare, .text = encode(shares_[host])});
  if (flow_) trunk.send(*flow_);
  if (start_) trunk.send(*start_);
}

void Branch::turn_away(Newcomer& newcomer, const Refusal& refusal, base::TimePoint now) {
  say_("turned away: " + refusal.why);
  newcomer.trunk->send(
      {.type = DispatchType::kRefused, .value = refusal.exit_code, .text = refusal.why});
  newcomer.trunk->close(now);
}

std::string Branch::stranger_text() const {
  const std::string& stranger = reception_.last_complaint();
  return stranger.empty() ? "" : "; the last caller who was turned away: " + stranger;
}

std::string Branch::own_address() const {
  for (const Member& member : members_) {
    if (member.trunk && member.trunk->is_open()) {
      return os::local_address(member.trunk->fd()).host();
    }
  }
  throw Error(ErrorCode::kPeerLost, "every other host has gone again");
}

void Branch::add_to(os::PollSet& polls) {
  reception_.add_to(polls, base::Clock::now());
  for (Newcomer& newcomer : newcomers_) newcomer.trunk->add_to(polls);
  for (Member& member : members_) {
    if (member.trunk) member.trunk->add_to(polls);
  }
}

std::vector<Dispatch> Branch::handle(base::TimePoint now) {
  for (std::size_t host = 0; host < members_.size(); ++host) {
    if (members_[host].trunk) hear(host, now);
  }
  receive_newcomers(now);
  return std::exchange(arrivals_, {});
}

void Branch::hear(std::size_t host, base::TimePoint now) {
  Member& member = members_[host];
  if (!member.trunk->is_open()) return;
  for (Dispatch& dispatch : member.trunk->receive(now)) on_dispatch(host, std::move(dispatch));
  if (member.trunk->is_open()) return watch_silence(host, now);
  lose(host, std::string(member.trunk->why_ended()));
}

void Branch::on_dispatch(std::size_t host, Dispatch dispatch) {
  switch (dispatch.type) {
    case DispatchType::kHello:
      if (!is_gathering()) return;
      if (const auto hellos = decode_host_texts(dispatch.text)) muster_.on_hellos(host, *hellos);
      return;
    case DispatchType::kReady:
      if (const auto seats = decode_host_texts(dispatch.text)) {
        muster_.on_seats(host, *seats, routes_);
      }
      return;
    case DispatchType::kOutput:
    case DispatchType::kSaid: {
      const bool is_of_evaluator =
          dispatch.type == DispatchType::kOutput && dispatch.value >= kOfEvaluator;
      const bool is_right = is_of_evaluator ? dispatch.rank < routes_.evaluator_count(host)
                                            : routes_.has_rank(host, dispatch.rank);
      if (is_right) arrivals_.push_back(std::move(dispatch));
      return;
    }
    case DispatchType::kNews:
      return on_news(host, std::move(dispatch));
    default:
      return;
  }
}

void Branch::on_news(std::size_t host, Dispatch dispatch) {
  const auto news = decode_news(dispatch.text, std::max(members_.size(), routes_.world_size()));
  if (!news) return;
  switch (news->kind) {
    case News::Kind::kHostEnded:
      members_[host].has_ended = true;
      return;
    case News::Kind::kHostLost:
      if (!routes_.is_part_of(news->rank, host)) return;
      if (is_gathering()) muster_.on_lost(news->rank);
      break;
    case News::Kind::kNotStarted:
    case News::Kind::kSignal:
      break;
    case News::Kind::kEvaluatorStarted:
    case News::Kind::kEvaluatorExited:
    case News::Kind::kEvaluatorKilled:
      if (news->rank >= routes_.evaluator_count(host)) return;
      break;
    default:
      if (!routes_.has_rank(host, news->rank)) return;
  }
  arrivals_.push_back(std::move(dispatch));
}

void Branch::watch_silence(std::size_t host, base::TimePoint now) {
  using Verdict = SilenceWatch::Verdict;
  Member& member = members_[host];
  const Verdict verdict = member.trunk->judge(now);
  if (verdict == Verdict::kVanished) {
    return lose(host, "its kernel acknowledges nothing any more");
  }
  if (verdict == Verdict::kSilent) {
    return lose(host, "its launcher said nothing for " +
                          base::to_text(member.trunk->silent_for(now)) +
                          ", although its kernel answers");
  }
  const bool is_slow = verdict == Verdict::kSlow;
  if (is_slow && !member.is_slow) {
    say_(name_of_host(meeting_, host) +
         " is slow: its launcher says nothing, although its kernel answers");
  }
  member.is_slow = is_slow;
}

void Branch::lose(std::size_t host, const std::string& why) {
  Member& member = members_[host];
  const std::string who = name_of_host(meeting_, host);
  const bool is_in_ring = host < meeting_.host_count;
  if (is_gathering() || !is_in_ring) {
    if (phase_ != Phase::kFinished) say_(who + " has gone again: " + why);
    muster_.on_lost(host);
    member = Member();
  } else {
    *member.trunk = Trunk(nullptr, {});
    member.has_ended = true;
  }
  if (phase_ == Phase::kFinished) return;
  const auto tell = [this](const News& news) {
    arrivals_.push_back({.type = DispatchType::kNews, .text = encode(news)});
  };
  if (is_in_ring) {
    return tell({.kind = News::Kind::kHostLost,
                 .rank = host,
                 .value = kExitSilent,
                 .text = "lost " + who + ": " + why});
  }
  // The ring does not need them.
  for (std::size_t index = 0; index < routes_.evaluator_count(host); ++index) {
    tell({.kind = News::Kind::kEvaluatorExited, .world = routes_.world(), .rank = index});
  }
}

void Branch::on_finish(int exit_code) {
  phase_ = Phase::kFinished;
  is_done_ = exit_code == 0;
}

void Branch::send_all(base::TimePoint now) {
  for (Newcomer& newcomer : newcomers_) newcomer.trunk->send_all(now);
  for (Member& member : members_) {
    if (member.trunk) member.trunk->send_all(now);
  }
}

std::optional<base::TimePoint> Branch::next_deadline() const {
  std::optional<base::TimePoint> next = reception_.next_deadline();
  const auto take = [&](std::optional<base::TimePoint> other) {
    if (other && (!next || *other < *next)) next = other;
  };
  take(muster_.next_deadline());
  for (const Newcomer& newcomer : newcomers_) take(newcomer.trunk->next_deadline());
  for (const Member& member : members_) {
    if (member.trunk) take(member.trunk->next_deadline());
  }
  return next;
}

void Branch::assign(const std::vector<HostText>& shares) {
  phase_ = Phase::kRunning;
  shares_ = routes_.assign(shares);
  for (std::size_t host = 0; host < members_.size(); ++host) {
    if (members_[host].trunk) let_begin(host);
  }
}

void Branch::send(const Dispatch& dispatch) {
  if (dispatch.type == DispatchType::kStart) start_ = dispatch;
  if (dispatch.type == DispatchType::kFlow) flow_ = dispatch;
  if (dispatch.type == DispatchType::kAskToEnd || dispatch.type == DispatchType::kKill) {
    is_ending_ = true;
  }
  for (Member& member : members_) {
    if (member.trunk) member.trunk->send(dispatch);
  }
}

bool Branch::reaches_rank(std::size_t rank) const {
  const auto child = routes_.child_toward_rank(rank);
  return child && members_[*child].trunk && members_[*child].trunk->is_open();
}

void Branch::send_to_rank(std::size_t rank, const Dispatch& dispatch) {
  if (reaches_rank(rank)) members_[*routes_.child_toward_rank(rank)].trunk->send(dispatch);
}

void Branch::refuse(const Dispatch& refusal, base::TimePoint now) {
  phase_ = Phase::kFinished;
  send(refusal);
  for (Member& member : members_) {
    if (member.trunk) member.trunk->close(now);
  }
}

bool Branch::have_ended() const {
  return std::ranges::all_of(
      members_, [](const Member& member) { return !member.trunk || member.has_ended; });
}

bool Branch::are_gone(std::size_t last_host) const {
  for (std::size_t child = 0; child < members_.size(); ++child) {
    const auto& trunk = members_[child].trunk;
    if (!trunk || !trunk->is_open()) continue;
    if (!routes_.is_part_of(last_host, child) || !trunk->is_quiet()) return false;
  }
  return true;
}

}  // namespace rota::launcher

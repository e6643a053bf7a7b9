// The other hosts, on the leader's side.
#include "launcher/hosts/followers.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "auth/call.h"
#include "launcher/exit_policy.h"
#include "os/address.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

// How long a host that has proved itself may take to introduce itself; or has to wait because the
// one in its place may be gone.
constexpr std::chrono::seconds kHelloTime{10};

// What a rank is to get, without the key of the data: its own host puts that in again.
std::vector<std::byte> without_secret(std::span<const std::byte> bytes) {
  auto message = rendezvous::decode(bytes);
  if (!message || message->type != rendezvous::MessageType::kWelcome) {
    return {bytes.begin(), bytes.end()};
  }
  message->text = rendezvous::without_key(std::move(message->text));
  return encode(*message);
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// The line of a rank that is on another host: what it says arrives by the trunk.
class Followers::RelayedLine final : public rendezvous::Line {
 public:
  RelayedLine(Followers& followers, std::size_t rank) : followers_(followers), rank_(rank) {}

  int fd() const noexcept override { return -1; }
  bool is_sending() const noexcept override { return false; }

  os::Io send(std::span<const std::byte> bytes, std::span<const int> /*fds*/) override {
    Trunk& trunk = *followers_.members_[followers_.ranks_[rank_].host].trunk;
    if (!trunk.is_open()) return os::Io::kClosed;
    trunk.send({.type = DispatchType::kToRank,
                .rank = static_cast<std::uint32_t>(rank_),
                .text = as_text(without_secret(bytes))});
    return os::Io::kDone;
  }

  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override {
    fds.clear();
    Rank& rank = followers_.ranks_[rank_];
    if (rank.arrived.empty()) {
      const bool is_open = followers_.members_[rank.host].trunk->is_open();
      return is_open ? os::Io::kWouldBlock : os::Io::kClosed;
    }
    bytes = std::move(rank.arrived.front());
    rank.arrived.pop_front();
    return os::Io::kDone;
  }

 private:
  Followers& followers_;
  std::size_t rank_;
};

Followers::Followers(const Meeting& meeting, const auth::Credentials& secret, Hello own,
                     os::Listener listener, Say say)
    : meeting_(meeting),
      say_(std::move(say)),
      muster_(meeting, std::move(own)),
      listener_(std::move(listener)),
      incarnation_(auth::new_incarnation()),
      reception_({.key = secret.key,
                  .encrypts = secret.encrypts,
                  .incarnation = incarnation_,
                  .listener = listener_.socket.get(),
                  .expected_count = meeting.cluster.hosts.size()},
                 [this](const auth::Identity& caller) { return judge(caller); }),
      members_(member_count(meeting)),
      now_(base::Clock::now()) {}

Followers::~Followers() = default;

std::string Followers::judge(const auth::Identity& caller) const {
  if (caller.channel != auth::Channel::kHosts || caller.to != 0) {
    return "here the launchers of hosts meet, and only they";
  }
  if (caller.job_id != to_bytes(meeting_.job_id)) {
    return std::string(auth::kNotNow) + "here another job meets: " + meeting_.job_id;
  }
  const std::uint64_t epoch = meeting_.cluster.epoch.value_or(0);
  if (caller.epoch != epoch) {
    return std::string(auth::kNotNow) + "this is epoch " + std::to_string(epoch) +
           " of the job, and not " + std::to_string(caller.epoch);
  }
  if (caller.from == meeting_.leader_host) return name_of_host(meeting_, caller.from) + " is here";
  if (caller.from >= members_.size()) {
    return "this job has " + std::to_string(members_.size()) + " hosts";
  }
  return "";
}

void Followers::receive_newcomers(base::TimePoint now) {
  for (auth::Reception::Guest& guest : reception_.receive(now)) {
    auto line = std::make_unique<rendezvous::RemoteLine>(std::move(guest.stream), guest.keys);
    newcomers_.push_back({.trunk = std::make_unique<Trunk>(std::move(line), now),
                          .host = guest.identity.from,
                          .since = now});
  }
  std::erase_if(newcomers_, [&](Newcomer& newcomer) { return is_settled(newcomer, now); });
}

// Whether it is in, has been turned away, or has gone. Where its place is taken by one that may be
// dead, it waits until that is known.
bool Followers::is_settled(Newcomer& newcomer, base::TimePoint now) {
  for (const Dispatch& dispatch : newcomer.trunk->receive(now)) {
    if (!newcomer.hello && dispatch.type == DispatchType::kHello) {
      newcomer.hello = decode_hello(dispatch.text);
    }
    if (!newcomer.hello) return true;
  }
  if (!newcomer.trunk->is_open() || now - newcomer.since > kHelloTime) return true;
  if (!newcomer.hello) return false;
  Member& member = members_[newcomer.host];
  const bool may_be_dead =
      member.trunk && member.trunk->is_open() && member.trunk->silent_for(now) > 4 * kBeatTime;
  if (may_be_dead) return false;
  const bool is_in_ring = newcomer.host < meeting_.host_count;
  if (phase_ != Phase::kGathering && is_in_ring && !muster_.is_here(newcomer.host)) {
    turn_away(newcomer, {kExitSlotHeld, "the job has begun without this host"}, now);
    return true;
  }
  if (const auto refusal = muster_.on_hello(newcomer.host, *newcomer.hello)) {
    turn_away(newcomer, *refusal, now);
    return true;
  }
  member = Member{.trunk = std::move(newcomer.trunk)};
  if (phase_ == Phase::kRunning) send_home_at_end(member);
  return true;
}

// One without ranks, which may come when it likes.
void Followers::send_home_at_end(Member& member) {
  const Share nothing{.ranks = {}, .world_size = ranks_.size()};
  member.trunk->send({.type = DispatchType::kShare, .text = encode(nothing)});
  member.trunk->send({.type = DispatchType::kStart, .text = encode(beginning_)});
  member.seats = Seats();
}

void Followers::turn_away(Newcomer& newcomer, const Refusal& refusal, base::TimePoint now) {
  say_("turned away: " + refusal.why);
  newcomer.trunk->send(
      {.type = DispatchType::kRefused, .value = refusal.exit_code, .text = refusal.why});
  newcomer.trunk->close(now);
}

std::string Followers::own_address() const {
  for (const Member& member : members_) {
    if (member.trunk && member.trunk->is_open()) {
      return os::local_address(member.trunk->fd()).host();
    }
  }
  throw Error(ErrorCode::kPeerLost, "every other host has gone again");
}

void Followers::assign(const std::vector<Share>& shares) {
  phase_ = Phase::kRunning;
  ranks_.resize(shares.front().world_size);
  for (std::size_t host = 0; host < members_.size(); ++host) {
    Member& member = members_[host];
    const Share share = host < shares.size() ? shares[host] : Share{.world_size = ranks_.size()};
    for (const std::size_t rank : share.ranks) ranks_[rank].host = host;
    if (host == meeting_.leader_host) continue;
    member.ranks = share.ranks;
    if (member.trunk) {
      member.trunk->send({.type = DispatchType::kShare, .text = encode(share)});
    }
  }
}

bool Followers::are_seated() const {
  return std::ranges::all_of(
      members_, [](const Member& member) { return !member.trunk || member.seats.has_value(); });
}

std::unique_ptr<rendezvous::Line> Followers::line_to(std::size_t rank) {
  return std::make_unique<RelayedLine>(*this, rank);
}

void Followers::add_to(os::PollSet& polls) {
  reception_.add_to(polls, base::Clock::now());
  for (Newcomer& newcomer : newcomers_) newcomer.trunk->add_to(polls);
  for (Member& member : members_) {
    if (member.trunk) member.trunk->add_to(polls);
  }
}

std::vector<News> Followers::handle(const os::PollSet& /*polls*/, base::TimePoint now) {
  now_ = now;
  std::vector<News> news;
  for (std::size_t host = 0; host < members_.size(); ++host) {
    if (members_[host].trunk) hear(host, now, news);
  }
  receive_newcomers(now);
  return news;
}

void Followers::hear(std::size_t host, base::TimePoint now, std::vector<News>& news) {
  Member& member = members_[host];
  if (!member.trunk->is_open()) return;
  for (const Dispatch& dispatch : member.trunk->receive(now)) on_dispatch(host, dispatch, news);
  if (member.trunk->is_open()) return watch_silence(host, now, news);
  lose(host, std::string(member.trunk->why_ended()), news);
}

void Followers::on_dispatch(std::size_t host, const Dispatch& dispatch, std::vector<News>& news) {
  Member& member = members_[host];
  switch (dispatch.type) {
    case DispatchType::kReady: {
      const auto seats = decode_seats(dispatch.text);
      if (seats && seats->addresses.size() == member.ranks.size()) member.seats = seats;
      return;
    }
    case DispatchType::kSaid: {
      if (std::ranges::find(member.ranks, dispatch.rank) == member.ranks.end()) return;
      const auto bytes = std::as_bytes(std::span(dispatch.text));
      ranks_[dispatch.rank].arrived.emplace_back(bytes.begin(), bytes.end());
      return news.push_back({.kind = News::Kind::kRankSpoke, .rank = dispatch.rank});
    }
    case DispatchType::kNews:
      return on_news(host, dispatch, news);
    default:
      return;
  }
}

void Followers::on_news(std::size_t host, const Dispatch& dispatch, std::vector<News>& news) {
  Member& member = members_[host];
  auto told = decode_news(dispatch.text, std::max<std::size_t>(1, ranks_.size()));
  if (!told) return;
  if (told->kind == News::Kind::kHostEnded) {
    member.has_ended = true;
    return;
  }
  const bool is_of_rank = told->kind != News::Kind::kNotStarted &&  //
                          told->kind != News::Kind::kSignal;
  const bool has_rank = std::ranges::find(member.ranks, told->rank) != member.ranks.end();
  if (is_of_rank && !has_rank) return;
  const std::string who = name_of_host(meeting_, host);
  if (told->kind == News::Kind::kSignal) told->text = who;
  if (told->kind == News::Kind::kNotStarted) told->text = who + ": " + told->text;
  news.push_back(std::move(*told));
}

void Followers::watch_silence(std::size_t host, base::TimePoint now, std::vector<News>& news) {
  using Verdict = SilenceWatch::Verdict;
  Member& member = members_[host];
  const Verdict verdict = member.trunk->judge(now);
  const std::string who = name_of_host(meeting_, host);
  if (verdict == Verdict::kVanished) {
    return lose(host, "its kernel acknowledges nothing any more", news);
  }
  if (verdict == Verdict::kSilent) {
    return lose(host,
                "its launcher said nothing for " + base::to_text(member.trunk->silent_for(now)) +
                    ", although its kernel answers",
                news);
  }
  const bool is_slow = verdict == Verdict::kSlow;
  if (is_slow && !member.is_slow) {
    say_(who + " is slow: its launcher says nothing, although its kernel answers");
  }
  member.is_slow = is_slow;
}

void Followers::lose(std::size_t host, const std::string& why, std::vector<News>& news) {
  Member& member = members_[host];
  const std::string who = name_of_host(meeting_, host);
  if (phase_ == Phase::kGathering || host >= meeting_.host_count) {
    if (phase_ != Phase::kFinished) say_(who + " has gone again: " + why);
    muster_.on_lost(host);
    member = Member();
    return;
  }
  *member.trunk = Trunk(nullptr, now_);
  member.has_ended = true;
  if (phase_ == Phase::kFinished) return;
  news.push_back({.kind = News::Kind::kHostLost,
                  .rank = host,
                  .value = kExitSilent,
                  .text = "lost " + who + ": " + why});
}

void Followers::send_all(base::TimePoint now) {
  for (Newcomer& newcomer : newcomers_) newcomer.trunk->send_all(now);
  for (Member& member : members_) {
    if (member.trunk) member.trunk->send_all(now);
  }
}

std::optional<base::TimePoint> Followers::next_deadline() const {
  std::optional<base::TimePoint> next = reception_.next_deadline();
  const auto take = [&](const Trunk& trunk) {
    const auto beat = trunk.next_deadline();
    if (beat && (!next || *beat < *next)) next = beat;
  };
  for (const Newcomer& newcomer : newcomers_) take(*newcomer.trunk);
  for (const Member& member : members_) {
    if (member.trunk) take(*member.trunk);
  }
  return next;
}

void Followers::tell_all(const Dispatch& dispatch) {
  for (Member& member : members_) {
    if (member.trunk) member.trunk->send(dispatch);
  }
}

void Followers::refuse_all(int exit_code, const std::string& why, base::TimePoint now) {
  phase_ = Phase::kFinished;
  tell_all({.type = DispatchType::kRefused, .value = exit_code, .text = why});
  for (Member& member : members_) {
    if (member.trunk) member.trunk->close(now);
  }
}

void Followers::start() { tell_all({.type = DispatchType::kStart, .text = encode(beginning_)}); }

void Followers::ask_to_end(int signal, const std::string& text) {
  tell_all({.type = DispatchType::kAskToEnd, .value = signal, .text = text});
}

void Followers::kill() { tell_all({.type = DispatchType::kKill}); }

bool Followers::have_ended() const {
  return std::ranges::all_of(
      members_, [](const Member& member) { return !member.trunk || member.has_ended; });
}

void Followers::finish(int exit_code, std::optional<std::size_t> last_rank) {
  phase_ = Phase::kFinished;
  for (std::size_t host = 0; host < members_.size(); ++host) {
    Member& member = members_[host];
    if (!member.trunk) continue;
    member.is_last = last_rank && ranks_[*last_rank].host == host;
    member.trunk->send(
        {.type = DispatchType::kFinish, .rank = member.is_last ? 1U : 0U, .value = exit_code});
  }
}

// One that is to be the last waits until we have gone.
bool Followers::are_gone() const {
  return std::ranges::all_of(members_, [](const Member& member) {
    if (!member.trunk || !member.trunk->is_open()) return true;
    return member.is_last && member.trunk->is_quiet();
  });
}

}  // namespace rota::launcher

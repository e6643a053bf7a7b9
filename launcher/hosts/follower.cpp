// The part of a host that is not the first: calls the leader, prepares its ranks, starts them when
// it is told to, and passes on what they and the leader say to each other.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "auth/call.h"
#include "launcher/exit_policy.h"
#include "launcher/hosts/part.h"
#include "launcher/hosts/seating.h"
#include "launcher/hosts/trunk.h"
#include "launcher/report.h"
#include "launcher/start.h"
#include "launcher/status_port.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/pipe.h"
#include "os/poll_set.h"
#include "rendezvous/lines.h"

namespace rota::launcher {
namespace {

using base::Clock;

// How often to say what is waited for.
constexpr std::chrono::seconds kSayTime{5};

// How long one that is to exit last waits for the leader.
constexpr std::chrono::milliseconds kFarewellTime{250};

// And how much longer, so that the others are gone as well.
constexpr std::chrono::milliseconds kLastPause{30};

void say(const std::string& line) { complain(line); }

// Of one that is readable: nothing else than its end is to come over it.
bool has_ended(int lifeline) {
  std::array<char, 64> ignored{};
  return os::read_available(lifeline, ignored).io == os::Io::kClosed;
}

class Follower {
 public:
  explicit Follower(Part part)
      : part_(std::move(part)), is_alone_(part_.lifeline < 0), start_(Clock::now()), now_(start_) {
    if (!part_.options.status_address) return;
    status_port_.emplace(*part_.options.status_address, [this] { return status(); });
  }

  int run() {
    if (const auto code = call()) return *code;
    trunk_->send({.type = DispatchType::kHello, .text = encode(part_.own)});
    while (!exit_code_) turn();
    return finish();
  }

 private:
  std::optional<int> call();
  int end_call(const auth::Call& call);
  std::optional<int> end_by_signal();
  void turn();
  void wait();
  void hear_leader();
  void hear_lifeline();
  void hear_signals();
  void on_dispatch(const Dispatch& dispatch);
  void prepare(Share share);
  void start(const Beginning& beginning);
  void pass_to_rank(const Dispatch& dispatch);
  void report(const News& news);
  void tell(const News& news) { trunk_->send({.type = DispatchType::kNews, .text = encode(news)}); }
  void on_leader_lost(const std::string& why);
  void watch_leader();
  void watch_end();
  int finish();
  JobStatus status() const;
  std::string leader() const {
    return name_of_host(part_.meeting, part_.meeting.leader_host) + " at " + part_.meeting.leader;
  }
  void speak(const std::string& line) {
    note_reason(line);
    local_ ? local_->say(line) : say(line);
  }

  Part part_;
  bool is_alone_;  // Nobody who has started it passes on what it says, beside what the leader says.
  base::TimePoint start_;
  base::TimePoint now_;
  std::string address_;  // By which the leader, and so the others, reach this host.
  std::unique_ptr<Trunk> trunk_;
  std::optional<Seating> seating_;
  std::unique_ptr<LocalRanks> local_;
  std::unique_ptr<rendezvous::Lines> lines_;
  auth::Key data_key_;
  bool has_started_ = false;
  bool has_said_end_ = false;
  bool is_last_ = false;
  std::optional<base::TimePoint> signal_at_;  // When the first one came.
  std::optional<base::TimePoint> kill_at_;    // Without a leader.
  std::optional<int> exit_code_;
  std::optional<StatusPort> status_port_;
  RankTable table_;                // Known once one of the ranks here has joined.
  std::vector<RankState> states_;  // By rank.
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  std::size_t lifeline_position_ = 0;  // 0: there is none.
};

std::optional<int> Follower::end_by_signal() {
  while (const auto signal = part_.signals.next()) {
    if (signal->number == SIGCHLD) continue;
    say("got " + os::signal_name(signal->number) + " while waiting for " + leader());
    return kExitSignalBase + signal->number;
  }
  return std::nullopt;
}

std::optional<int> Follower::call() {
  using State = auth::Call::State;
  auth::Call call(part_.meeting.leader, part_.key,
                  {.channel = auth::Channel::kHosts,
                   .job_id = to_bytes(part_.meeting.job_id),
                   .epoch = part_.meeting.cluster.epoch.value_or(0),
                   .from = static_cast<std::uint32_t>(part_.meeting.own_host),
                   .to = 0});
  const base::TimePoint deadline = start_ + join_timeout(part_.options, part_.meeting);
  base::TimePoint say_at = start_ + kSayTime;
  State state = State::kCalling;
  while ((state = call.advance(Clock::now())) == State::kCalling && Clock::now() < deadline) {
    if (Clock::now() >= say_at) {
      say("waiting for " + leader() + ": " + call.why());
      say_at += kSayTime;
    }
    polls_.clear();
    polls_.add(part_.signals.fd(), true, false);
    const std::size_t lifeline = part_.lifeline < 0 ? 0 : polls_.add(part_.lifeline, true, false);
    call.add_to(polls_);
    auto end = std::min({deadline, say_at, call.next_deadline().value_or(deadline)});
    if (status_port_) {
      status_port_->add_to(polls_, Clock::now());
      end = std::min(end, status_port_->next_deadline().value_or(end));
    }
    polls_.wait(end);
    if (status_port_) status_port_->handle(polls_, Clock::now());
    if (const auto code = end_by_signal()) return code;
    if (lifeline > 0 && polls_.readable(lifeline) && has_ended(part_.lifeline)) return kExitSilent;
  }
  if (state != State::kDone) return end_call(call);
  now_ = Clock::now();
  os::Fd socket = call.take_socket();
  address_ = os::local_address(socket.get()).host();
  auto line = std::make_unique<rendezvous::RemoteLine>(std::move(socket), call.session_keys());
  trunk_ = std::make_unique<Trunk>(std::move(line), now_);
  return std::nullopt;
}

int Follower::end_call(const auth::Call& call) {
  const std::string& why = call.why();
  if (why.starts_with(auth::kNotNow) || why.find("another key") != std::string::npos) {
    say(leader() + " did not let this host in: " + why);
    return why.starts_with(auth::kNotNow) ? kExitIncomplete : kExitKey;
  }
  say(leader() + " was not reached within " + base::to_text(Clock::now() - start_) +
      " (--join-timeout): " + (why.empty() ? "it does not answer" : why));
  return kExitIncomplete;
}

void Follower::turn() {
  wait();
  if (status_port_) status_port_->handle(polls_, now_);
  const bool were_polled = local_ != nullptr;
  hear_leader();
  hear_lifeline();
  hear_signals();
  if (were_polled) {
    local_->hear_starts(polls_);
    lines_->handle(polls_, now_);
    local_->hear_processes();
    local_->pass_on_output(polls_);
    lines_->send_all(now_);
  }
  watch_end();
}

void Follower::wait() {
  trunk_->send_all(now_);
  polls_.clear();
  signal_position_ = polls_.add(part_.signals.fd(), true, false);
  lifeline_position_ = part_.lifeline < 0 ? 0 : polls_.add(part_.lifeline, true, false);
  trunk_->add_to(polls_);
  auto end = trunk_->next_deadline();
  const auto take = [&](std::optional<base::TimePoint> other) {
    if (other && (!end || *other < *end)) end = other;
  };
  take(kill_at_);
  if (status_port_) {
    status_port_->add_to(polls_, now_);
    take(status_port_->next_deadline());
  }
  if (local_) {
    local_->add_to(polls_);
    lines_->add_to(polls_, now_);
    take(lines_->next_deadline(now_));
  }
  polls_.wait(end);
  now_ = Clock::now();
}

void Follower::hear_leader() {
  if (!trunk_->is_open()) return;
  for (const Dispatch& dispatch : trunk_->receive(now_)) on_dispatch(dispatch);
  watch_leader();
}

// Nothing comes over it but its end.
void Follower::hear_lifeline() {
  if (lifeline_position_ == 0 || exit_code_ || !polls_.readable(lifeline_position_)) return;
  if (!has_ended(part_.lifeline)) return;
  part_.lifeline = -1;
  if (!kill_at_) on_leader_lost("the program by which it started this host ended");
}

void Follower::watch_leader() {
  using Verdict = SilenceWatch::Verdict;
  if (exit_code_ || kill_at_) return;
  if (!trunk_->is_open()) return on_leader_lost(std::string(trunk_->why_ended()));
  const Verdict verdict = trunk_->judge(now_);
  if (verdict == Verdict::kVanished) on_leader_lost("its kernel acknowledges nothing any more");
  if (verdict == Verdict::kSilent) on_leader_lost("its launcher says nothing any more");
}

void Follower::on_leader_lost(const std::string& why) {
  speak("lost " + leader() + ": " + why);
  *trunk_ = Trunk(nullptr, now_);
  if (!local_) {
    exit_code_ = kExitSilent;
    return;
  }
  local_->ask_to_end(SIGTERM);
  kill_at_ = now_ + part_.options.grace.value_or(kFaultGrace);
}

void Follower::hear_signals() {
  constexpr auto kSameRequest = std::chrono::seconds(1);
  if (!polls_.readable(signal_position_)) return;
  while (const auto signal = part_.signals.next()) {
    if (signal->number == SIGCHLD) continue;
    // Before its ranks have started a host may go, and another one come in its place.
    if (!has_started_) {
      speak("got " + os::signal_name(signal->number) + " before the job began");
      exit_code_ = kExitSignalBase + signal->number;
      return;
    }
    tell({.kind = News::Kind::kSignal, .value = signal->number});
    if (signal_at_ && now_ - *signal_at_ >= kSameRequest && local_) local_->kill();
    if (!signal_at_) signal_at_ = now_;
    if (os::parent_process() != part_.context.guard && local_) local_->ask_to_end(SIGTERM);
  }
}

void Follower::on_dispatch(const Dispatch& dispatch) {
  switch (dispatch.type) {
    case DispatchType::kRefused:
      if (is_alone_) say(dispatch.text);
      exit_code_ = dispatch.value;
      return;
    case DispatchType::kShare:
      if (auto share = decode_share(dispatch.text)) prepare(std::move(*share));
      return;
    case DispatchType::kStart:
      if (const auto beginning = decode_beginning(dispatch.text)) start(*beginning);
      return;
    case DispatchType::kToRank:
      return pass_to_rank(dispatch);
    case DispatchType::kAskToEnd:
      if (!local_) return;
      note_reason(dispatch.text);
      if (is_alone_) local_->output().say(dispatch.text);
      if (dispatch.value == SIGINT || dispatch.value == SIGCONT) {
        return local_->ask_to_end(dispatch.value);
      }
      return local_->ask_to_end(SIGTERM);
    case DispatchType::kKill:
      if (local_) local_->kill();
      return;
    case DispatchType::kFinish:
      exit_code_ = dispatch.value;
      is_last_ = dispatch.rank == 1;
      return;
    default:
      return;
  }
}

void Follower::prepare(Share share) {
  const auto fail = [this](int exit_code, const char* why) {
    tell({.kind = News::Kind::kNotStarted, .value = exit_code, .text = why});
  };
  try {
    seating_ = take_seats(part_, std::move(share), address_);
    local_ = std::make_unique<LocalRanks>(part_.options, part_.context, part_.signals,
                                          seating_->share, std::move(seating_->provision),
                                          [this](const News& news) { report(news); });
  } catch (const UsageError& error) {
    return fail(kExitUsage, error.what());
  } catch (const std::exception& error) {
    return fail(kExitCannotRun, error.what());
  }
  lines_ = std::make_unique<rendezvous::Lines>(
      seating_->share.ranks.size(),
      [this](std::size_t local, std::span<const std::byte> bytes) {
        trunk_->send({.type = DispatchType::kSaid,
                      .rank = static_cast<std::uint32_t>(seating_->share.ranks[local]),
                      .text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
      },
      [this](std::size_t local) { seating_->loan.release(local); });
  trunk_->send({.type = DispatchType::kReady, .text = encode(seating_->seats)});
}

void Follower::start(const Beginning& beginning) {
  if (!local_) return;
  has_started_ = true;
  states_.assign(seating_->share.world_size, {.phase = RankState::Phase::kRunning});
  data_key_ = key_of_data(part_.key, beginning.salt);
  local_->start_all(beginning.peers, [this](std::size_t local) {
    auto [ours, theirs] = os::make_message_socket_pair();
    lines_->connect(local, std::make_unique<rendezvous::LocalLine>(std::move(ours)));
    return std::move(theirs);
  });
  if (seating_->share.ranks.empty()) speak("no ranks here: waits for the job's end");
}

void Follower::pass_to_rank(const Dispatch& dispatch) {
  if (!local_) return;
  const auto& ranks = seating_->share.ranks;
  const auto found = std::ranges::find(ranks, dispatch.rank);
  auto message = rendezvous::decode(std::as_bytes(std::span(dispatch.text)));
  if (found == ranks.end() || !message) return;
  const auto local = static_cast<std::size_t>(found - ranks.begin());
  std::vector<int> fds;
  if (message->type == rendezvous::MessageType::kWelcome) {
    if (auto job = rendezvous::decode_job(message->text)) table_ = std::move(job->table);
    message->text = rendezvous::with_key(std::move(message->text), data_key_);
    fds = seating_->loan.lend(local);
  }
  lines_->post(local, std::move(*message), fds);
}

// What a rank said before it ended is passed on before its end.
void Follower::report(const News& news) {
  const bool is_end = news.kind == News::Kind::kRankExited || news.kind == News::Kind::kRankKilled;
  const auto found = std::ranges::find(seating_->share.ranks, news.rank);
  if (is_end) {
    const int code =
        news.kind == News::Kind::kRankKilled ? kExitSignalBase + news.value : news.value;
    states_[news.rank] = {RankState::Phase::kEnded, code};
  }
  if (is_end) lines_->read_all(static_cast<std::size_t>(found - seating_->share.ranks.begin()));
  tell(news);
}

void Follower::watch_end() {
  if (!local_ || exit_code_) return;
  const bool has_ended = !local_->has_children() && local_->running().empty();
  if (kill_at_ && (has_ended || now_ >= *kill_at_)) {
    local_->kill();
    exit_code_ = kExitSilent;
  }
  if (!has_ended || has_said_end_) return;
  has_said_end_ = true;
  tell({.kind = News::Kind::kHostEnded});
}

// Of the ranks of other hosts it knows that they were started, and not more.
JobStatus Follower::status() const {
  if (!has_started_) return {.waiting_for = "the job has not begun: waiting for " + leader()};
  if (table_.rows.empty()) return {};
  return {.table = table_, .states = states_};
}

int Follower::finish() {
  if (!local_) return *exit_code_;
  if (!local_->finish()) speak("some processes of the job could not be ended");
  while (local_->output().has_pending()) {
    polls_.clear();
    signal_position_ = polls_.add(part_.signals.fd(), true, false);
    local_->add_to(polls_);
    polls_.wait(std::nullopt);
    if (end_by_signal()) break;
    local_->pass_on_output(polls_);
  }
  const base::TimePoint end = Clock::now() + kFarewellTime;
  while (is_last_ && trunk_->is_open() && Clock::now() < end) {
    polls_.clear();
    trunk_->add_to(polls_);
    polls_.wait(end);
    trunk_->receive(Clock::now());
  }
  if (is_last_) std::this_thread::sleep_for(kLastPause);
  return *exit_code_;
}

}  // namespace

int follow(Part part) { return Follower(std::move(part)).run(); }

}  // namespace rota::launcher

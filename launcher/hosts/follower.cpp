// The part of a host that does not lead: calls the leader, or the host that is above it in a tree
// of them, prepares its ranks, starts them when it is told to, and passes on what they, the hosts
// below and the leader say to each other.
#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include <rota/error.h>

#include "launcher/exit_policy.h"
#include "launcher/hosts/approach.h"
#include "launcher/hosts/branch.h"
#include "launcher/hosts/part.h"
#include "launcher/hosts/seating.h"
#include "launcher/report.h"
#include "launcher/start.h"
#include "launcher/status_port.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/poll_set.h"
#include "rendezvous/lines.h"

namespace rota::launcher {
namespace {

using base::Clock;

// How long one that is to exit last waits for the leader.
constexpr std::chrono::milliseconds kFarewellTime{250};

// And how much longer, so that the others are gone as well.
constexpr std::chrono::milliseconds kLastPause{30};

void say(const std::string& line) { complain(line); }

class Follower {
 public:
  explicit Follower(Part part)
      : part_(std::move(part)), is_alone_(part_.lifeline < 0), start_(Clock::now()), now_(start_) {
    if (!part_.options.status_address) return;
    status_port_.emplace(*part_.options.status_address, [this] { return status(); });
  }

  int run() {
    if (const auto code = enter()) return *code;
    while (!exit_code_) turn();
    return finish();
  }

 private:
  std::optional<int> enter();
  void turn();
  void wait();
  void hear_parent();
  void hear_children();
  void tell_parent();
  void hear_lifeline();
  void hear_signals();
  void on_dispatch(const Dispatch& dispatch);
  void pass_down(const Dispatch& dispatch);
  void on_shares(const Dispatch& dispatch);
  void prepare(Share share);
  void start(const Beginning& beginning);
  void pass_to_rank(const Dispatch& dispatch);
  void report(const News& news);
  void tell(const News& news) { trunk_->send({.type = DispatchType::kNews, .text = encode(news)}); }
  void on_parent_lost(const std::string& why);
  void watch_parent();
  void watch_end();
  void say_who_is_absent();
  void regulate_output();
  void carry_output(std::size_t local_rank, Stream stream, std::string_view bytes);
  int finish();
  void take_leave();
  JobStatus status() const;
  std::string own_name() const { return name_of_host(part_.meeting, part_.meeting.own_host); }
  std::string parent() const { return parent_text(part_.meeting); }
  void speak(const std::string& line) {
    note_reason(line);
    local_ ? local_->say(line) : say(line);
  }

  Part part_;
  bool is_alone_;  // Nobody who has started it passes on what it says, beside what the leader says.
  base::TimePoint start_;
  base::TimePoint now_;
  std::string address_;  // By which the parent, and so the others, reach this host.
  std::unique_ptr<Trunk> trunk_;
  std::unique_ptr<Branch> branch_;
  base::TimePoint say_at_;  // Who of those below is absent.
  std::optional<Seating> seating_;
  std::unique_ptr<LocalRanks> local_;
  std::unique_ptr<rendezvous::Lines> lines_;
  auth::Key data_key_;
  bool has_started_ = false;
  bool has_said_end_ = false;
  std::uint32_t last_host_ = kNoHost;         // To exit.
  std::optional<base::TimePoint> signal_at_;  // When the first one came.
  std::optional<base::TimePoint> kill_at_;    // Without a leader.
  std::optional<int> exit_code_;
  std::optional<StatusPort> status_port_;
  RankTable table_;                // Known once one of the ranks here has joined.
  std::vector<RankState> states_;  // By rank.
  Flow flow_;                      // Of the output that is shown where the leader is.
  Flow applied_flow_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  std::size_t lifeline_position_ = 0;  // 0: there is none.
};

// The exit code where it is not let in.
std::optional<int> Follower::enter() {
  auto outcome = approach(part_, status_port_ ? &*status_port_ : nullptr);
  if (const int* code = std::get_if<int>(&outcome)) return *code;
  Arrival arrival = std::get<Arrival>(std::move(outcome));
  now_ = Clock::now();
  address_ = std::move(arrival.address);
  trunk_ = std::move(arrival.trunk);
  branch_ = std::make_unique<Branch>(part_.meeting,
                                     Branch::Access{.secret = secret_of(part_),
                                                    .incarnation = arrival.incarnation,
                                                    .listener = std::move(part_.listener)},
                                     part_.own, [this](const std::string& line) { speak(line); });
  say_at_ = now_ + kSayTime;
  tell_parent();
  return std::nullopt;
}

void Follower::turn() {
  wait();
  if (status_port_) status_port_->handle(polls_, now_);
  const bool were_polled = local_ != nullptr;
  hear_parent();
  hear_children();
  hear_lifeline();
  hear_signals();
  if (were_polled) {
    local_->hear_starts(polls_);
    lines_->handle(polls_, now_);
    local_->hear_processes();
    local_->pass_on_output(polls_);
    lines_->send_all(now_);
  }
  regulate_output();
  watch_end();
}

void Follower::wait() {
  trunk_->send_all(now_);
  branch_->send_all(now_);
  polls_.clear();
  signal_position_ = polls_.add(part_.signals.fd(), true, false);
  lifeline_position_ = part_.lifeline < 0 ? 0 : polls_.add(part_.lifeline, true, false);
  trunk_->add_to(polls_);
  branch_->add_to(polls_);
  auto end = trunk_->next_deadline();
  const auto take = [&](std::optional<base::TimePoint> other) {
    if (other && (!end || *other < *end)) end = other;
  };
  take(branch_->next_deadline());
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

void Follower::hear_parent() {
  if (!trunk_->is_open()) return;
  for (const Dispatch& dispatch : trunk_->receive(now_)) on_dispatch(dispatch);
  watch_parent();
}

void Follower::hear_children() {
  for (const Dispatch& dispatch : branch_->handle(now_)) trunk_->send(dispatch);
  tell_parent();
  if (branch_->is_gathering() && now_ >= say_at_) say_who_is_absent();
}

void Follower::tell_parent() {
  if (const auto hello = branch_->muster().take_hello(now_)) trunk_->send(*hello);
  const auto ready = seating_ ? branch_->muster().take_ready() : std::nullopt;
  if (ready) trunk_->send(*ready);
}

// What cannot be taken where it is shown, nor be sent at once, is left where it is written.
void Follower::regulate_output() {
  constexpr std::size_t kMostUnsent = std::size_t{1} << 20;
  Flow flow = flow_;
  flow.is_held = flow.is_held || trunk_->unsent_bytes() > kMostUnsent;
  if (flow == applied_flow_) return;
  applied_flow_ = flow;
  branch_->send({.type = DispatchType::kFlow, .value = to_number(flow)});
  if (local_ && seating_->share.sends_output) local_->output().on_flow(flow);
}

void Follower::say_who_is_absent() {
  say_at_ = now_ + kSayTime;
  if (branch_->muster().is_complete()) return;
  speak("waiting at " + place_of(part_.meeting, part_.meeting.own_host) + " for " +
        branch_->muster().absent_text() + branch_->stranger_text());
}

// Nothing comes over it but its end.
void Follower::hear_lifeline() {
  if (lifeline_position_ == 0 || exit_code_ || !polls_.readable(lifeline_position_)) return;
  if (!has_ended(part_.lifeline)) return;
  part_.lifeline = -1;
  if (!kill_at_) on_parent_lost("the program by which it started this host ended");
}

void Follower::watch_parent() {
  using Verdict = SilenceWatch::Verdict;
  if (exit_code_ || kill_at_) return;
  if (!trunk_->is_open()) return on_parent_lost(std::string(trunk_->why_ended()));
  const Verdict verdict = trunk_->judge(now_);
  if (verdict == Verdict::kVanished) on_parent_lost("its kernel acknowledges nothing any more");
  if (verdict == Verdict::kSilent) on_parent_lost("its launcher says nothing any more");
}

void Follower::on_parent_lost(const std::string& why) {
  speak("lost " + parent() + ": " + why);
  *trunk_ = Trunk(nullptr, now_);
  if (!local_) {
    exit_code_ = kExitSilent;
    branch_->refuse({.type = DispatchType::kRefused,
                     .value = kExitSilent,
                     .text = own_name() + " lost " + parent() + ": " + why},
                    now_);
    return;
  }
  local_->output().carry_away({});
  local_->output().on_flow({});
  // Those below have nobody else to hear it from.
  branch_->send({.type = DispatchType::kAskToEnd,
                 .value = SIGTERM,
                 .text = "rotarun: " + own_name() + " lost " + parent() + ": " + why + "\n"});
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
    const bool has_guard = os::parent_process() == part_.context.guard;
    if (has_guard) {
      tell({.kind = News::Kind::kSignal, .value = signal->number, .text = own_name()});
    } else {
      tell({.kind = News::Kind::kHostLost,
            .rank = part_.meeting.own_host,
            .value = kExitSilent,
            .text = "lost " + own_name() + ": its outer process ended"});
    }
    if (signal_at_ && now_ - *signal_at_ >= kSameRequest && local_) local_->kill();
    if (!signal_at_) signal_at_ = now_;
    if (!has_guard && local_) local_->ask_to_end(SIGTERM);
  }
}

// What all are told goes to those below first: it is no news there that this host has ended.
void Follower::pass_down(const Dispatch& dispatch) {
  switch (dispatch.type) {
    case DispatchType::kRefused:
      return branch_->refuse(dispatch, now_);
    case DispatchType::kFinish:
      branch_->on_finish();
      return branch_->send(dispatch);
    case DispatchType::kStart:
    case DispatchType::kAskToEnd:
    case DispatchType::kKill:
      return branch_->send(dispatch);
    case DispatchType::kFlow:
      flow_ = to_flow(dispatch.value);
      return;
    default:
      return;
  }
}

void Follower::on_dispatch(const Dispatch& dispatch) {
  pass_down(dispatch);
  switch (dispatch.type) {
    case DispatchType::kRefused:
      if (is_alone_) say(dispatch.text);
      exit_code_ = dispatch.value;
      return;
    case DispatchType::kShare:
      return on_shares(dispatch);
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
      last_host_ = dispatch.rank;
      return;
    default:
      return;
  }
}

// Those of this host and of all below it.
void Follower::on_shares(const Dispatch& dispatch) {
  const auto shares = decode_host_texts(dispatch.text);
  if (!shares || !branch_->is_gathering()) return;
  branch_->assign(*shares);
  const auto own = std::ranges::find(*shares, part_.meeting.own_host, &HostText::host);
  auto share = own == shares->end() ? std::nullopt : decode_share(own->text);
  if (share) prepare(std::move(*share));
}

void Follower::prepare(Share share) {
  const auto fail = [this](int exit_code, const std::string& why) {
    tell({.kind = News::Kind::kNotStarted, .value = exit_code, .text = own_name() + ": " + why});
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
  if (seating_->share.sends_output) {
    local_->output().carry_away([this](std::size_t local, Stream stream, std::string_view bytes) {
      carry_output(local, stream, bytes);
    });
  }
  branch_->muster().set_own_seats(seating_->seats);
}

void Follower::carry_output(std::size_t local, Stream stream, std::string_view bytes) {
  const auto& ranks = seating_->share.ranks;
  const bool is_rank = local < ranks.size();
  trunk_->send({.type = DispatchType::kOutput,
                .rank = static_cast<std::uint32_t>(is_rank ? ranks[local] : local - ranks.size()),
                .value = static_cast<int>(stream) + (is_rank ? 0 : kOfEvaluator),
                .text = std::string(bytes)});
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
  const Share& share = seating_->share;
  if (share.ranks.empty() && share.evaluators.empty()) {
    speak("no ranks here: waits for the job's end");
  }
}

void Follower::pass_to_rank(const Dispatch& dispatch) {
  branch_->send_to_rank(dispatch.rank, dispatch);
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
  const bool has_ended = !local_->has_children() && !local_->has_running() && branch_->have_ended();
  if (kill_at_ && (has_ended || now_ >= *kill_at_)) {
    local_->kill();
    exit_code_ = kExitSilent;
  }
  if (!has_ended || has_said_end_) return;
  has_said_end_ = true;
  if (seating_->share.sends_output) local_->output().drain();
  tell({.kind = News::Kind::kHostEnded});
}

// Of the ranks of other hosts it knows that they were started, and not on what they compute.
JobStatus Follower::status() const {
  if (!has_started_) return {.waiting_for = "the job has not begun: waiting for " + parent()};
  if (table_.rows.empty()) return {};
  KnownDevices devices(table_.rows.size());
  for (std::size_t local = 0; local < seating_->share.ranks.size(); ++local) {
    devices[seating_->share.ranks[local]] = seating_->seats.devices[local];
  }
  return {.table = table_, .devices = std::move(devices), .states = states_};
}

int Follower::finish() {
  if (!local_) return *exit_code_;
  if (!local_->finish()) speak("some processes of the job could not be ended");
  while (local_->output().has_pending()) {
    polls_.clear();
    signal_position_ = polls_.add(part_.signals.fd(), true, false);
    local_->add_to(polls_);
    polls_.wait(std::nullopt);
    if (end_by_signal(part_.signals, part_.meeting)) break;
    local_->pass_on_output(polls_);
  }
  take_leave();
  return *exit_code_;
}

// Exits after those below and, where the last one to exit is this host or below it, after all
// others, as far as that is known here.
void Follower::take_leave() {
  const Routes& routes = branch_->routes();
  const bool waits = routes.is_part_of(last_host_, part_.meeting.own_host);
  const base::TimePoint end = Clock::now() + kFarewellTime;
  for (;;) {
    now_ = Clock::now();
    for (const Dispatch& dispatch : branch_->handle(now_)) trunk_->send(dispatch);
    trunk_->send_all(now_);
    branch_->send_all(now_);
    const bool has_said_all = !trunk_->is_open() || (trunk_->is_quiet() && !waits);
    if ((has_said_all && branch_->are_gone(last_host_)) || now_ >= end) break;
    polls_.clear();
    trunk_->add_to(polls_);
    branch_->add_to(polls_);
    polls_.wait(std::min(end, branch_->next_deadline().value_or(end)));
    trunk_->receive(Clock::now());
  }
  if (waits) std::this_thread::sleep_for(kLastPause);
}

}  // namespace

int follow(Part part) { return Follower(std::move(part)).run(); }

}  // namespace rota::launcher

// The ranks of a host that does not lead: prepared, started, told of, and ended.
#include <algorithm>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "launcher/command/exit_codes.h"
#include "launcher/hosts/follower.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/report.h"
#include "launcher/job/when_done.h"
#include "launcher/ranks/heartbeat.h"
#include "os/message_socket.h"

namespace rota::launcher {
namespace {

// How long one that is to exit last waits for the leader.
constexpr std::chrono::milliseconds kFarewellTime{250};

// And how much longer, so that the others are gone as well.
constexpr std::chrono::milliseconds kLastPause{30};

}  // namespace

void Follower::prepare(Share share) {
  try {
    seating_ = take_seats(part_, std::move(share), address_);
    auto household = std::make_unique<Household>(part_.options, part_.context.guard,
                                                 [this](const News& news) { report(news); });
    local_ =
        std::make_unique<LocalRanks>(part_.options, part_.context, part_.signals, seating_->share,
                                     std::move(seating_->provision), *household);
    household_ = std::move(household);
  } catch (const UsageError& error) {
    return tell_obstacle(kExitUsage, error.what());
  } catch (const std::exception& error) {
    return tell_obstacle(kExitCannotRun, error.what());
  }
  states_.assign(seating_->share.world_size, {.phase = RankState::Phase::kRunning});
  lines_ = std::make_unique<rendezvous::Lines>(
      seating_->share.ranks.size(),
      [this](std::size_t local, std::span<const std::byte> bytes) {
        trunk_->send({.type = DispatchType::kSaid,
                      .rank = static_cast<std::uint32_t>(seating_->share.ranks[local]),
                      .value = static_cast<int>(seating_->share.world),
                      .text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
      },
      [this](std::size_t local) { seating_->loan.release(local); });
  if (seating_->share.sends_output) {
    household_->output().carry_away(
        [this](std::size_t local, Stream stream, std::string_view bytes) {
          carry_output(local, stream, bytes);
        });
  }
  branch_->muster().set_own_seats(seating_->seats);
}

void Follower::tell_obstacle(int exit_code, const std::string& why) {
  tell({.kind = News::Kind::kNotStarted,
        .world = branch_->routes().world(),
        .value = exit_code,
        .text = own_name() + ": " + why});
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
  if (!household_) return;
  auto places = rendezvous::decode_table(beginning.table);
  if (!places) return tell_obstacle(kExitCannotRun, "what came is no rank table");
  table_ = std::move(places->table);
  try {
    seating_->loan.set_table(rendezvous::make_table_file(beginning.table));
  } catch (const Error& error) {
    return tell_obstacle(kExitCannotRun, error.what());
  }
  has_started_ = true;
  data_key_ = key_of_data(part_.key, beginning.salt);
  local_->start_all(beginning.peers, [this](std::size_t local) {
    show_life();
    auto [ours, theirs] = os::make_message_socket_pair();
    lines_->connect(local, std::make_unique<rendezvous::LocalLine>(std::move(ours)));
    return std::move(theirs);
  });
  const Share& share = seating_->share;
  if (share.ranks.empty() && share.evaluators.empty()) {
    speak("no ranks here: waits for the job's end");
  }
}

// While it does nothing else for longer than others take silence for life.
void Follower::show_life() {
  const base::TimePoint now = base::Clock::now();
  trunk_->send_all(now);
  branch_->send_all(now);
}

void Follower::pass_to_rank(const Dispatch& dispatch) {
  branch_->send_to_rank(dispatch.rank, dispatch);
  if (!household_) return;
  const auto& ranks = seating_->share.ranks;
  const auto found = std::ranges::find(ranks, dispatch.rank);
  auto message = rendezvous::decode(std::as_bytes(std::span(dispatch.text)));
  if (found == ranks.end() || !message) return;
  const auto local = static_cast<std::size_t>(found - ranks.begin());
  std::vector<int> fds;
  if (message->type == rendezvous::MessageType::kWelcome) {
    message->text = rendezvous::with_key(std::move(message->text), data_key_);
    fds = seating_->loan.lend(local);
  }
  lines_->post(local, std::move(*message), fds);
}

// What a rank said before it ended is passed on before its end.
void Follower::report(const News& news) {
  const Share& share = seating_->share;
  if (is_late(news, share.world)) {
    if (part_.options.verbose) household_->say(describe_late(news));
    return;
  }
  const bool was_killed = news.kind == News::Kind::kRankKilled;
  if (was_killed || news.kind == News::Kind::kRankExited) {
    const int code = was_killed ? kExitSignalBase + news.value : news.value;
    states_[news.rank] = {RankState::Phase::kEnded, code};
    const auto own = std::ranges::find(share.ranks, news.rank);
    lines_->read_all(static_cast<std::size_t>(own - share.ranks.begin()));
  }
  tell(news);
}

void Follower::watch_end() {
  if (!household_ || exit_code_) return;
  const bool has_ended =
      !household_->has_children() && !household_->has_running() && branch_->have_ended();
  if (kill_at_ && (has_ended || now_ >= *kill_at_)) {
    household_->kill();
    exit_code_ = kExitSilent;
  }
  if (!has_ended || has_said_end_) return;
  has_said_end_ = true;
  if (seating_->share.sends_output) household_->output().drain();
  tell({.kind = News::Kind::kHostEnded});
}

// Of the ranks of other hosts it knows that they were started, and not on what they compute.
JobStatus Follower::status() const {
  if (!has_started_) return {.waiting_for = "the job has not begun: waiting for " + parent()};
  KnownDevices devices(table_.rows.size());
  for (std::size_t local = 0; local < seating_->share.ranks.size(); ++local) {
    devices[seating_->share.ranks[local]] = seating_->seats.devices[local];
  }
  return {.table = table_, .devices = std::move(devices), .states = states_, .is_done = is_done_};
}

void Follower::write_rest() {
  while (household_->output().has_pending()) {
    polls_.clear();
    signal_position_ = polls_.add(part_.signals.fd(), true, false);
    household_->add_to(polls_);
    wait_beating(polls_, std::nullopt);
    if (end_by_signal(part_.signals, part_.meeting)) break;
    household_->pass_on_output(polls_);
  }
}

int Follower::finish() {
  if (!household_) return *exit_code_;
  if (!household_->finish(kReapTime)) speak("some processes of the job could not be ended");
  write_rest();
  if (household_->output().tell_losses()) write_rest();
  take_leave();
  const bool stays = part_.options.when_done == WhenDone::kWait && part_.lifeline < 0;
  if (*exit_code_ == 0 && stays) stay();
  return *exit_code_;
}

// Success is agreed, so that it is known of all ranks.
void Follower::stay() {
  is_done_ = true;
  states_.assign(states_.size(), {RankState::Phase::kEnded, 0});
  branch_.reset();
  trunk_.reset();
  stay_when_done(part_.signals, status_port_ ? &*status_port_ : nullptr, nullptr);
}

// Exits after those below and, where the last one to exit is this host or below it, after all
// others, as far as that is known here.
void Follower::take_leave() {
  const Routes& routes = branch_->routes();
  const bool waits = routes.is_part_of(last_host_, part_.meeting.own_host);
  const base::TimePoint end = base::Clock::now() + kFarewellTime;
  for (;;) {
    now_ = base::Clock::now();
    for (const Dispatch& dispatch : branch_->handle(now_)) trunk_->send(dispatch);
    trunk_->send_all(now_);
    branch_->send_all(now_);
    const bool has_said_all = !trunk_->is_open() || (trunk_->is_quiet() && !waits);
    if ((has_said_all && branch_->are_gone(last_host_)) || now_ >= end) break;
    polls_.clear();
    trunk_->add_to(polls_);
    branch_->add_to(polls_);
    wait_beating(polls_, std::min(end, branch_->next_deadline().value_or(end)));
    trunk_->receive(base::Clock::now());
  }
  if (waits) std::this_thread::sleep_for(kLastPause);
}

}  // namespace rota::launcher

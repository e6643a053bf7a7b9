// Handles the ranks of a host that does not lead: prepares, starts and ends them, and tells the
// leader how they end.
#include <algorithm>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "launcher/command/exit_codes.h"
#include "launcher/hosts/follower.h"
#include "launcher/job/end_report.h"
#include "launcher/job/exit_policy.h"
#include "launcher/job/start.h"
#include "launcher/job/when_done.h"
#include "launcher/ranks/heartbeat.h"
#include "os/message_socket.h"

namespace rota::launcher {
namespace {

// How long a host waits at most for the hosts that exit before it.
constexpr std::chrono::milliseconds kFarewellTime{250};

// How much longer the last host to exit waits, so that the other hosts are gone as well.
constexpr std::chrono::milliseconds kLastPause{30};

}  // namespace

void Follower::prepare(HostAssignment assignment) {
  try {
    prepared_ = prepare_ranks(setup_, std::move(assignment), address_, [this] { show_life(); });
    auto processes = std::make_unique<LocalProcesses>(
        setup_.options, setup_.context.guard, [this](const JobEvent& event) { report(event); });
    local_ = std::make_unique<LocalRanks>(setup_.options, setup_.context, setup_.signals,
                                          prepared_->assignment, std::move(prepared_->provision),
                                          *processes);
    processes_ = std::move(processes);
  } catch (const UsageError& error) {
    return tell_obstacle(kExitUsage, error.what());
  } catch (const std::exception& error) {
    return tell_obstacle(kExitCannotRun, error.what());
  }
  states_.assign(prepared_->assignment.world_size, {.phase = RankState::Phase::kRunning});
  connections_ = std::make_unique<rendezvous::Connections>(
      prepared_->assignment.ranks.size(),
      [this](std::size_t local, std::span<const std::byte> bytes) {
        link_->send({.type = ControlMessageType::kSaid,
                     .rank = static_cast<std::uint32_t>(prepared_->assignment.ranks[local]),
                     .value = static_cast<int>(prepared_->assignment.world),
                     .text = base::text_of(bytes)});
      },
      [this](std::size_t local) { prepared_->handoff.release(local); });
  if (prepared_->assignment.sends_output) {
    processes_->output().carry_away(
        [this](std::size_t local, Stream stream, std::string_view bytes) {
          carry_output(local, stream, bytes);
        });
  }
  subtree_->registry().set_own_endpoints(prepared_->endpoints);
}

void Follower::tell_obstacle(int exit_code, const std::string& why) {
  tell({.kind = JobEvent::Kind::kNotStarted,
        .world = subtree_->routes().world(),
        .value = exit_code,
        .text = own_name() + ": " + why});
}

void Follower::carry_output(std::size_t local, Stream stream, std::string_view bytes) {
  const auto& ranks = prepared_->assignment.ranks;
  const bool is_rank = local < ranks.size();
  link_->send({.type = ControlMessageType::kOutput,
               .rank = static_cast<std::uint32_t>(is_rank ? ranks[local] : local - ranks.size()),
               .value = static_cast<int>(stream) + (is_rank ? 0 : kOfEvaluator),
               .text = std::string(bytes)});
}

void Follower::start(const StartInfo& start_info) {
  if (!processes_) return;
  auto places = rendezvous::decode_table(start_info.table);
  if (!places) return tell_obstacle(kExitCannotRun, "the leader's message has no valid rank table");
  table_ = std::move(places->table);
  try {
    prepared_->handoff.set_table(rendezvous::make_table_file(start_info.table));
  } catch (const Error& error) {
    return tell_obstacle(kExitCannotRun, error.what());
  }
  try {
    local_->serve_mpi(start_info.mpi);
  } catch (const UsageError& error) {
    return tell_obstacle(kExitCannotRun, error.what());
  } catch (const Error& error) {
    return tell_obstacle(kExitCannotRun, error.what());
  }
  has_started_ = true;
  data_key_ = key_of_data(setup_.key, start_info.salt);
  const auto open = [this](std::size_t local) {
    auto [ours, theirs] = os::make_message_socket_pair();
    connections_->connect(local, std::make_unique<rendezvous::LocalConnection>(std::move(ours)));
    return std::move(theirs);
  };
  local_->start_all(start_info.peers, open, [this] { show_life(); });
  const HostAssignment& assignment = prepared_->assignment;
  if (assignment.ranks.empty() && assignment.evaluators.empty()) {
    speak("this host has no ranks: rotarun waits here until the job ends");
  }
}

// Sends what is due, for example a heartbeat. Preparing, starting or ending the ranks can take so
// long that other hosts would miss a heartbeat.
void Follower::show_life() {
  const base::TimePoint now = base::Clock::now();
  link_->send_all(now);
  subtree_->send_all(now);
}

void Follower::pass_to_rank(const ControlMessage& relayed) {
  subtree_->send_to_rank(relayed.rank, relayed);
  if (!processes_) return;
  const auto& ranks = prepared_->assignment.ranks;
  const auto found = std::ranges::find(ranks, relayed.rank);
  auto message = rendezvous::decode(std::as_bytes(std::span(relayed.text)));
  if (found == ranks.end() || !message) return;
  const auto local = static_cast<std::size_t>(found - ranks.begin());
  std::vector<int> fds;
  if (message->type == rendezvous::MessageType::kWelcome) {
    message->text = rendezvous::with_key(std::move(message->text), data_key_);
    fds = prepared_->handoff.descriptors_of(local);
  }
  connections_->post(local, std::move(*message), fds);
}

void Follower::pass_letter(const ControlMessage& message) {
  subtree_->send_to_rank(message.rank, message);
  const auto letter = decode_mpi_letter(message.text);
  if (!local_ || !letter) return;
  const auto& ranks = prepared_->assignment.ranks;
  if (std::ranges::find(ranks, letter->to) != ranks.end()) local_->take_letter(*letter);
}

// Passes on the messages that a rank sent before its end, and then reports the end.
void Follower::report(const JobEvent& event) {
  const HostAssignment& assignment = prepared_->assignment;
  if (is_late(event, assignment.world)) {
    if (setup_.options.verbose) processes_->say(describe_late(event));
    return;
  }
  const bool was_killed = event.kind == JobEvent::Kind::kRankKilled;
  if (was_killed || event.kind == JobEvent::Kind::kRankExited) {
    const int code = was_killed ? kExitSignalBase + event.value : event.value;
    const auto own = std::ranges::find(assignment.ranks, event.rank);
    connections_->read_all(static_cast<std::size_t>(own - assignment.ranks.begin()));
    for (const JobEvent& earlier : local_->catch_up(event.rank, now_)) tell(earlier);
    if (local_->hold(event, now_)) return;
    states_[event.rank] = {RankState::Phase::kEnded, code};
  }
  tell(event);
}

void Follower::watch_end() {
  if (!processes_ || exit_code_) return;
  const bool has_ended =
      !processes_->has_children() && !processes_->has_running() && subtree_->have_ended();
  if (kill_at_ && (has_ended || now_ >= *kill_at_)) {
    processes_->kill();
    exit_code_ = kExitSilent;
  }
  if (!has_ended || has_said_end_) return;
  has_said_end_ = true;
  if (prepared_->assignment.sends_output) processes_->output().drain();
  tell({.kind = JobEvent::Kind::kHostEnded});
}

// Returns the status of the job. This host knows that the ranks of other hosts were started, but
// not on which devices they compute.
JobStatus Follower::status() const {
  if (!has_started_) return {.waiting_for = "the job has not begun: waiting for " + parent()};
  KnownDevices devices(table_.rows.size());
  for (std::size_t local = 0; local < prepared_->assignment.ranks.size(); ++local) {
    devices[prepared_->assignment.ranks[local]] = prepared_->endpoints.devices[local];
  }
  return {.table = table_, .devices = std::move(devices), .states = states_, .is_done = is_done_};
}

void Follower::write_rest() {
  while (processes_->output().has_pending()) {
    polls_.clear();
    signal_position_ = polls_.add(setup_.signals.fd(), true, false);
    processes_->add_to(polls_);
    wait_beating(polls_, std::nullopt);
    if (const auto number = next_request(setup_.signals)) {
      complain(own_name() + " got " + os::signal_name(*number) +
               " while it waits for the reader of its output: the rest of the output is lost");
      break;
    }
    processes_->pass_on_output(polls_);
  }
}

// Ends this host's part of the job. Tells the hosts below first: they would count this host as lost
// while it waits for the reader of its output.
int Follower::finish() {
  if (!processes_) return *exit_code_;
  if (*exit_code_ == 0) processes_->tell_outlived();
  if (!processes_->finish(kReapTime, [this] { show_life(); })) {
    speak("some processes of the job could not be ended");
  }
  write_rest();
  if (processes_->output().tell_losses()) write_rest();
  take_leave();
  const bool stays = setup_.options.when_done == WhenDone::kWait && setup_.lifeline < 0;
  if (*exit_code_ == 0 && stays) stay();
  return *exit_code_;
}

// Keeps rotarun running after the job, for --when-done wait. All hosts have agreed on success, so
// every rank is known to have ended with 0.
void Follower::stay() {
  is_done_ = true;
  states_.assign(states_.size(), {RankState::Phase::kEnded, 0});
  subtree_.reset();
  link_.reset();
  stay_when_done(setup_.signals, status_port_ ? &*status_port_ : nullptr, nullptr);
}

// Waits, for kFarewellTime at most, until the hosts below have exited. If the last host to exit is
// this host or a host below it, also waits for all other hosts. This host learns of their exit only
// when its parent hangs up, just before the parent exits. So this host then pauses.
void Follower::take_leave() {
  const Routes& routes = subtree_->routes();
  const bool waits = routes.is_part_of(last_host_, setup_.host_plan.own_host);
  const base::TimePoint end = base::Clock::now() + kFarewellTime;
  for (;;) {
    now_ = base::Clock::now();
    for (const ControlMessage& message : subtree_->handle(now_)) link_->send(message);
    link_->send_all(now_);
    subtree_->send_all(now_);
    const bool has_said_all = !link_->is_open() || (link_->is_quiet() && !waits);
    if ((has_said_all && subtree_->are_gone(last_host_)) || now_ >= end) break;
    polls_.clear();
    link_->add_to(polls_);
    subtree_->add_to(polls_);
    wait_beating(polls_, std::min(end, subtree_->next_deadline().value_or(end)));
    link_->receive(base::Clock::now());
  }
  if (waits) std::this_thread::sleep_for(kLastPause);
}

}  // namespace rota::launcher

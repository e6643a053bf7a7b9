// Starts the processes of a job on this host, reports how each ends, and ends those that still run
// at the end.
#include "launcher/ranks/local_processes.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "launcher/command/exit_codes.h"
#include "launcher/ranks/heartbeat.h"
#include "os/host.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

using Kind = os::ProcessEvent::Kind;

std::string name_of(const JobMember& who) {
  return (who.is_evaluator ? "evaluator " : "rank ") + std::to_string(who.number);
}

}  // namespace

LocalProcesses::LocalProcesses(const Options& options, pid_t guard, Report report)
    : guard_(guard), report_(std::move(report)), output_(options) {}

void LocalProcesses::begin(const HostAssignment& assignment) {
  world_ = assignment.world;
  remote_members_ = assignment.remote_members;
  sends_output_ = assignment.sends_output;
  members_.clear();
  all_.remove_if([](const Member& member) { return member.tree.keeper() < 0; });
  for (const std::size_t rank : assignment.ranks) add_member({.number = rank});
  for (std::size_t index = 0; index < assignment.evaluators.size(); ++index) {
    add_member({.number = index, .is_evaluator = true});
  }
  std::vector<std::string> names;
  for (const Member* member : members_) names.push_back(name_of(member->who));
  for (const JobMember& member : remote_members_) names.push_back(name_of(member));
  output_.begin(names, !sends_output_);
}

void LocalProcesses::add_member(const JobMember& who) {
  all_.push_back({.world = world_, .who = who, .index = members_.size()});
  members_.push_back(&all_.back());
}

void LocalProcesses::start(std::size_t member, os::ProcessPlan process) {
  Member& starting = *members_[member];
  auto [out_read, out_write] = os::make_pipe();
  auto [err_read, err_write] = os::make_pipe();
  process.standard_output = out_write.get();
  process.standard_error = err_write.get();
  starting.program = process.program;
  starting.tree = os::ProcessTree(process, {.guard = guard_, .beats = heartbeat()});
  member_of_[starting.tree.keeper()] = &starting;
  has_children_ = true;
  output_.attach(member, std::move(out_read), std::move(err_read));
  const bool is_evaluator = starting.who.is_evaluator;
  report(starting,
         {.kind = is_evaluator ? JobEvent::Kind::kEvaluatorStarted : JobEvent::Kind::kRankStarted,
          .value = starting.tree.pid(),
          .text = is_evaluator ? os::host_name() : ""});
}

void LocalProcesses::give_up(std::size_t member, const std::string& why) {
  report_not_started(*members_[member],
                     name_of(members_[member]->who) + " cannot be started: " + why);
  leave_out_unbegun();
}

void LocalProcesses::leave_out_unbegun() {
  for (Member* member : members_) {
    const bool has_begun = member->tree.pid() > 0;
    if (!has_begun && !member->has_ended)
      report_end(*member, {.kind = JobEvent::Kind::kRankExited});
  }
}

void LocalProcesses::add_to(os::PollSet& polls) {
  for (Member& member : all_) {
    if (!member.tree.events()) continue;
    member.position = polls.add(member.tree.events().get(), true, false);
  }
  output_.add_to(polls);
}

void LocalProcesses::hear_starts(const os::PollSet& polls) {
  for (Member& member : all_) {
    member.has_events = member.tree.events() && polls.readable(member.position);
  }
}

void LocalProcesses::hear_tree(Member& member) {
  for (;;) {
    const auto process_event = member.tree.next_event();
    if (const auto failure = member.tree.take_start_failure()) on_start_failure(member, *failure);
    if (!process_event) return;
    on_process(member, *process_event);
  }
}

void LocalProcesses::on_start_failure(const Member& member, const os::StartFailure& failure) {
  // The file itself existed a moment ago, so something that it needs is missing.
  const std::string hint =
      failure.is_missing ? " (is its interpreter, or a library that it needs, missing?)" : "";
  report_not_started(member, "cannot run " + member.program + ": " + failure.text + hint);
}

// Handles what happened to the children of this process: to keepers, and to orphans of a keeper
// that somebody has killed.
void LocalProcesses::hear_processes() {
  for (Member& member : all_) {
    if (member.has_events) hear_tree(member);
  }
  for (;;) {
    const os::ProcessEvents events = os::next_process_event();
    has_children_ = events.has_children;
    if (!events.event) return;
    const auto found = member_of_.find(events.event->pid);
    if (found == member_of_.end()) continue;
    const Kind kind = events.event->kind;
    // A stopped keeper reports nothing about its rank, so it is woken.
    if (kind == Kind::kStopped) os::send_signal(found->first, SIGCONT);
    if (kind == Kind::kStopped || kind == Kind::kContinued) continue;
    has_lost_keeper_ = has_lost_keeper_ || kind == Kind::kKilled;
    found->second->tree.on_keeper_end();
    hear_tree(*found->second);
    member_of_.erase(found);
  }
}

void LocalProcesses::on_process(Member& member, const os::ProcessEvent& process_event) {
  if (process_event.kind == Kind::kStopped || process_event.kind == Kind::kContinued) {
    if (member.who.is_evaluator) return;  // No rank waits for it.
    const bool is_stop = process_event.kind == Kind::kStopped;
    return report(
        member, {.kind = is_stop ? JobEvent::Kind::kRankStopped : JobEvent::Kind::kRankContinued});
  }
  const bool was_killed = process_event.kind == Kind::kKilled;
  report_end(member,
             {.kind = was_killed ? JobEvent::Kind::kRankKilled : JobEvent::Kind::kRankExited,
              .value = process_event.value,
              .text = was_killed ? oom_kills_.why_killed(process_event.value) : ""});
}

// Says that the guard is lost. SIGKILL must have ended the guard: the guard catches all other
// signals that might end it, and passes them on to this process.
std::string LocalProcesses::describe_guard_loss(const std::string& host) {
  const std::string cause = oom_kills_.why_killed(SIGKILL);
  return "lost " + host + ": the outer process of its rotarun ended" +
         (cause.empty() ? "" : ": " + cause);
}

void LocalProcesses::report_not_started(const Member& member, const std::string& why) {
  report_({.kind = JobEvent::Kind::kNotStarted,
           .world = member.world,
           .rank = member.who.is_evaluator ? 0 : member.who.number,
           .value = kExitCannotRun,
           .text = why});
}

// Reports the end of a member. `event` has the kind for a rank. For an evaluator, the kind is
// changed here.
void LocalProcesses::report_end(Member& member, JobEvent event) {
  const bool was_killed = event.kind == JobEvent::Kind::kRankKilled;
  member.has_ended = true;
  if (member.who.is_evaluator) {
    event.kind = was_killed ? JobEvent::Kind::kEvaluatorKilled : JobEvent::Kind::kEvaluatorExited;
  }
  const bool has_failed = was_killed || event.value != 0;
  const bool has_output = member.world == world_;  // If not, the index is another member's.
  // What the member wrote must reach the leader before the report of the member's end, since the
  // leader's job may be over with that report.
  if (has_output && (has_failed || sends_output_)) output_.catch_up(member.index);
  if (has_output && has_failed) event.last_words = output_.last_words(member.index);
  report(member, std::move(event));
}

void LocalProcesses::report(const Member& member, JobEvent event) {
  event.world = member.world;
  event.rank = member.who.number;
  report_(event);
}

void LocalProcesses::show(const JobEvent& event) {
  const JobMember writer{event.rank, event.kind == JobEvent::Kind::kEvaluatorWrote};
  const auto member = std::ranges::find(remote_members_, writer);
  if (member == remote_members_.end()) return;
  const auto position = static_cast<std::size_t>(member - remote_members_.begin());
  const Stream stream = event.value == 0 ? Stream::kOut : Stream::kErr;
  output_.on_remote_member(members_.size() + position, stream, event.text);
}

bool LocalProcesses::has_running() const {
  return !std::ranges::all_of(members_, &Member::has_ended);
}

void LocalProcesses::ask_to_end(int signal) {
  leave_out_unbegun();
  for (Member& member : all_) {
    member.tree.signal(signal);
    member.tree.signal(SIGCONT);  // A suspended process could not act on the signal.
  }
}

void LocalProcesses::kill() {
  leave_out_unbegun();
  for (Member& member : all_) member.tree.signal(SIGKILL);
  if (has_lost_keeper_) os::signal_descendants(SIGKILL);  // Ends a lost keeper's processes.
}

void LocalProcesses::signal_ranks(int signal) {
  for (Member* member : members_) {
    if (!member->who.is_evaluator) member->tree.signal_first(signal);
  }
}

void LocalProcesses::tell_outlived() {
  constexpr std::chrono::milliseconds kMoment{100};
  constexpr std::chrono::microseconds kPause{200};
  constexpr std::size_t kMostNamed = 8;
  const base::TimePoint end = base::Clock::now() + kMoment;
  // A keeper ends once it has no process to keep.
  while (!member_of_.empty() && base::Clock::now() < end) {
    std::this_thread::sleep_for(kPause);
    hear_processes();
  }
  std::string names;
  std::size_t count = 0;
  for (const auto& [keeper, member] : member_of_) {
    for (const pid_t pid : os::descendants_of(keeper)) {
      if (++count > kMostNamed) continue;
      names += (names.empty() ? "" : ", ") + os::process_name(pid) + " (pid " +
               std::to_string(pid) + ") of " + name_of(member->who);
    }
  }
  if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
  if (count == 0) return;
  say("the job has ended, and rotarun has ended processes that still ran: " + names +
      "; a rank should wait for its children before it ends");
}

// Called when all keepers have been reaped. rotarun may stay for days after a job, and other
// processes may get the numbers of the keepers: a tree that signals its keeper would end them.
// While rotarun waits for the reader of its output, a poll for a tree that has ended would return
// immediately each time.
void LocalProcesses::forget_trees() {
  for (Member& member : all_) member.tree.on_end();
  member_of_.clear();
}

// Waits in slices, and beats and shows life between them: a process that does not beat counts as
// hung, and a host that sends nothing counts as lost.
bool LocalProcesses::finish(base::Duration at_most, const ShowLife& show_life) {
  constexpr std::chrono::milliseconds kSlice{500};
  bool all_gone = false;
  for (base::Duration waited{0}; !all_gone && waited < at_most; waited += kSlice) {
    beat();
    show_life();
    all_gone = os::end_descendants(kSlice);
  }
  if (all_gone) forget_trees();
  beat();
  output_.drain();
  return all_gone;
}

}  // namespace rota::launcher

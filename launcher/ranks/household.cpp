// The processes of a job on this host, and what they write.
#include "launcher/ranks/household.h"

#include <algorithm>
#include <utility>

#include "launcher/command/exit_codes.h"
#include "launcher/ranks/heartbeat.h"
#include "os/cgroup.h"
#include "os/host.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

using Kind = os::ProcessEvent::Kind;

std::string name_of(const Guest& who) {
  return (who.is_evaluator ? "evaluator " : "rank ") + std::to_string(who.number);
}

}  // namespace

Household::Household(const Options& options, pid_t guard, Report report)
    : guard_(guard),
      report_(std::move(report)),
      output_(options),
      oom_kill_count_(os::oom_kill_count()) {}

void Household::begin(const Share& share) {
  world_ = share.world;
  guests_ = share.guests;
  sends_output_ = share.sends_output;
  members_.clear();
  all_.remove_if([](const Member& member) { return member.tree.keeper() < 0; });
  for (const std::size_t rank : share.ranks) add_member({.number = rank});
  for (std::size_t index = 0; index < share.evaluators.size(); ++index) {
    add_member({.number = index, .is_evaluator = true});
  }
  std::vector<std::string> names;
  for (const Member* member : members_) names.push_back(name_of(member->who));
  for (const Guest& guest : guests_) names.push_back(name_of(guest));
  output_.begin(names, !sends_output_);
}

void Household::add_member(const Guest& who) {
  all_.push_back({.world = world_, .who = who, .index = members_.size()});
  members_.push_back(&all_.back());
}

void Household::start(std::size_t member, os::ProcessPlan process) {
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
  report(starting, {.kind = is_evaluator ? News::Kind::kEvaluatorStarted : News::Kind::kRankStarted,
                    .value = starting.tree.pid(),
                    .text = is_evaluator ? os::host_name() : ""});
}

void Household::give_up(std::size_t member, const std::string& why) {
  report_not_started(*members_[member],
                     name_of(members_[member]->who) + " cannot be started: " + why);
  leave_out_unbegun();
}

void Household::leave_out_unbegun() {
  for (Member* member : members_) {
    const bool has_begun = member->tree.pid() > 0;
    if (!has_begun && !member->has_ended) report_end(*member, {.kind = News::Kind::kRankExited});
  }
}

void Household::add_to(os::PollSet& polls) {
  for (Member& member : all_) {
    if (!member.tree.events()) continue;
    member.position = polls.add(member.tree.events().get(), true, false);
  }
  output_.add_to(polls);
}

void Household::hear_starts(const os::PollSet& polls) {
  for (Member& member : all_) {
    member.has_news = member.tree.events() && polls.readable(member.position);
  }
}

void Household::hear_tree(Member& member) {
  for (;;) {
    const auto event = member.tree.next_event();
    if (const auto failure = member.tree.take_start_failure()) on_start_failure(member, *failure);
    if (!event) return;
    on_process(member, *event);
  }
}

void Household::on_start_failure(const Member& member, const os::StartFailure& failure) {
  // The file itself was there a moment ago.
  const std::string hint = failure.is_missing ? " (the interpreter it names, or a library?)" : "";
  report_not_started(member, "cannot run " + member.program + ": " + failure.text + hint);
}

// Children are keepers, and orphans of a keeper that somebody has killed.
void Household::hear_processes() {
  for (Member& member : all_) {
    if (member.has_news) hear_tree(member);
  }
  for (;;) {
    const os::ProcessEvents events = os::next_process_event();
    has_children_ = events.has_children;
    if (!events.event) return;
    const auto found = member_of_.find(events.event->pid);
    if (found == member_of_.end()) continue;
    const Kind kind = events.event->kind;
    // Who stops a keeper would keep us from hearing of its rank.
    if (kind == Kind::kStopped) os::send_signal(found->first, SIGCONT);
    if (kind == Kind::kStopped || kind == Kind::kContinued) continue;
    has_lost_keeper_ = has_lost_keeper_ || kind == Kind::kKilled;
    found->second->tree.on_keeper_end();
    hear_tree(*found->second);
    member_of_.erase(found);
  }
}

void Household::on_process(Member& member, const os::ProcessEvent& event) {
  if (event.kind == Kind::kStopped || event.kind == Kind::kContinued) {
    if (member.who.is_evaluator) return;  // Nobody waits for it.
    const bool is_stop = event.kind == Kind::kStopped;
    return report(member,
                  {.kind = is_stop ? News::Kind::kRankStopped : News::Kind::kRankContinued});
  }
  const bool was_killed = event.kind == Kind::kKilled;
  report_end(member, {.kind = was_killed ? News::Kind::kRankKilled : News::Kind::kRankExited,
                      .value = event.value,
                      .text = was_killed ? why_killed(event.value) : ""});
}

// It passes on all other signals that might end it, and lives.
std::string Household::describe_guard_loss(const std::string& host) {
  const std::string cause = why_killed(SIGKILL);
  return "lost " + host + ": its outer process ended" + (cause.empty() ? "" : ", " + cause);
}

// Where the kernel has done it; empty else. Each process that it has killed for want of memory is
// counted by it, and explains one ending.
std::string Household::why_killed(int signal) {
  if (signal != SIGKILL || !oom_kill_count_) return "";
  if (os::oom_kill_count().value_or(0) <= *oom_kill_count_) return "";
  ++*oom_kill_count_;
  const auto limit = os::memory_limit_bytes();
  return "out of memory" +
         (limit ? " (the limit of its control group is " + std::to_string(*limit >> 20) + " MiB)"
                : std::string());
}

void Household::report_not_started(const Member& member, const std::string& why) {
  report_({.kind = News::Kind::kNotStarted,
           .world = member.world,
           .rank = member.who.is_evaluator ? 0 : member.who.number,
           .value = kExitCannotRun,
           .text = why});
}

// `news`: its kind as of a rank.
void Household::report_end(Member& member, News news) {
  const bool was_killed = news.kind == News::Kind::kRankKilled;
  member.has_ended = true;
  if (member.who.is_evaluator) {
    news.kind = was_killed ? News::Kind::kEvaluatorKilled : News::Kind::kEvaluatorExited;
  }
  const bool has_failed = was_killed || news.value != 0;
  const bool has_output = member.world == world_;  // Else that is another one's.
  // What it wrote comes before its end also where the job is led: that may be over with it.
  if (has_output && (has_failed || sends_output_)) output_.catch_up(member.index);
  if (has_output && has_failed) news.last_words = output_.last_words(member.index);
  report(member, std::move(news));
}

void Household::report(const Member& member, News news) {
  news.world = member.world;
  news.rank = member.who.number;
  report_(news);
}

void Household::show(const News& news) {
  const Guest writer{news.rank, news.kind == News::Kind::kEvaluatorWrote};
  const auto guest = std::ranges::find(guests_, writer);
  if (guest == guests_.end()) return;
  const auto position = static_cast<std::size_t>(guest - guests_.begin());
  const Stream stream = news.value == 0 ? Stream::kOut : Stream::kErr;
  output_.on_guest(members_.size() + position, stream, news.text);
}

bool Household::has_running() const { return !std::ranges::all_of(members_, &Member::has_ended); }

void Household::ask_to_end(int signal) {
  leave_out_unbegun();
  for (Member& member : all_) {
    member.tree.signal(signal);
    member.tree.signal(SIGCONT);  // A suspended process could not act on it.
  }
}

void Household::kill() {
  leave_out_unbegun();
  for (Member& member : all_) member.tree.signal(SIGKILL);
  if (has_lost_keeper_) os::signal_descendants(SIGKILL);  // What it has kept is ours.
}

// In slices, for whoever does not beat all the while counts as hung.
bool Household::finish(base::Duration at_most) {
  constexpr std::chrono::milliseconds kSlice{500};
  bool all_gone = false;
  for (base::Duration waited{0}; !all_gone && waited < at_most; waited += kSlice) {
    beat();
    all_gone = os::end_descendants(kSlice);
  }
  beat();
  output_.drain();
  return all_gone;
}

}  // namespace rota::launcher

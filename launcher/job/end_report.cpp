// Writes the sentence about how the job ended, and keeps it for the termination message.
#include "launcher/job/end_report.h"

#include <algorithm>

#include "os/signals.h"

namespace rota::launcher {
namespace {

constexpr std::size_t kMostListed = 16;

std::string short_name(std::size_t rank) { return "rank " + std::to_string(rank); }

// Returns which rank waited for the failed rank, and why, as ": rank 3: …"; empty if none did.
std::string testimony_of(const Fault& fault) {
  if (!fault.testimony.empty()) return ": " + fault.testimony;
  if (!fault.witness) return "";
  return ": " + short_name(*fault.witness) + " waited for it";
}

std::string describe_fault(const Fault& fault, const RankRecord& record) {
  const bool has_failed = record.ending && !record.ending->is_success();
  switch (fault.kind) {
    case Fault::Kind::kDied:
      return to_text(*record.ending);
    case Fault::Kind::kReported:
      return (has_failed ? to_text(*record.ending) : "failed") +
             (record.report->text.empty() ? "" : ": " + record.report->text);
    case Fault::Kind::kStopped:
      return "is silent: it is stopped" + testimony_of(fault);
    case Fault::Kind::kSilent:
      return "is silent" + testimony_of(fault);
    case Fault::Kind::kLeft:
      return (record.ending ? to_text(*record.ending) : "left the job") + " while it was needed" +
             testimony_of(fault);
  }
  return {};
}

struct Noted {
  std::string words;
  bool is_cause = false;
};

Noted& noted() {
  static Noted value;
  return value;
}

std::string without_prefixes(std::string_view said) {
  constexpr std::string_view kPrefix = "rotarun: ";
  std::string words;
  while (!said.empty()) {
    const std::size_t end = std::min(said.find('\n'), said.size());
    std::string_view line = said.substr(0, end);
    if (line.starts_with(kPrefix)) line.remove_prefix(kPrefix.size());
    words += (words.empty() ? "" : "\n") + std::string(line);
    said.remove_prefix(std::min(end + 1, said.size()));
  }
  return words;
}

}  // namespace

void note_reason(std::string_view said) {
  if (!noted().is_cause) noted().words = without_prefixes(said);
}

void note_cause(std::string_view said) {
  if (said.empty() || noted().is_cause) return;
  noted() = {.words = without_prefixes(said), .is_cause = true};
}

std::string noted_reason() { return noted_words().substr(0, noted_words().find('\n')); }

const std::string& noted_words() { return noted().words; }

void forget_reason() { noted() = {}; }

std::string to_text(const Ending& ending) {
  const std::string how = ending.was_killed ? "was killed by " + os::signal_name(ending.value)
                                            : "exited with code " + std::to_string(ending.value);
  return ending.why.empty() ? how : how + ": " + ending.why;
}

std::string why_passed_signal_kills(int signal) {
  constexpr std::string_view kPrefix = "SIG";
  const std::string name = os::signal_name(signal);
  return "rotarun had passed " + name +
         " on to all ranks, and this one does not handle it: handle it in the program, or make it "
         "a request to end by --stop-signal " +
         name.substr(kPrefix.size());
}

std::string describe_late(const JobEvent& event) {
  using Kind = JobEvent::Kind;
  const bool was_killed = event.kind == Kind::kRankKilled || event.kind == Kind::kEvaluatorKilled;
  const bool has_ended =
      was_killed || event.kind == Kind::kRankExited || event.kind == Kind::kEvaluatorExited;
  return "dropped a late event of world " + std::to_string(event.world) + ", from " +
         (is_of_evaluator(event.kind) ? "evaluator " : "rank ") + std::to_string(event.rank) +
         (has_ended ? ": it " + to_text(Ending{was_killed, event.value, {}, event.text})
                    : std::string());
}

std::string describe(const Outcome& outcome, std::span<const RankRecord> records,
                     std::span<const RankName> names, std::span<const RankName> evaluators) {
  switch (outcome.reason) {
    case Outcome::Reason::kSuccess:
      return {};
    case Outcome::Reason::kNotStarted:
    case Outcome::Reason::kHostLost:
    case Outcome::Reason::kMpi:
      return outcome.text;
    case Outcome::Reason::kSignal:
      return (outcome.text.empty() ? "" : outcome.text + " ") + "got " +
             os::signal_name(outcome.signal) + ", so the job ends";
    case Outcome::Reason::kEvaluator: {
      const RankName& name = evaluators[outcome.evaluator];
      return "evaluator " + std::to_string(outcome.evaluator) + " (pid " +
             std::to_string(name.pid) + ", " + name.host + ") " + to_text(outcome.ending);
    }
    case Outcome::Reason::kTimeout:
      if (outcome.running.empty()) return "--timeout has passed";
      return "--timeout has passed; still running: " + list_ranks(outcome.running);
    case Outcome::Reason::kFault:
      break;
  }
  const std::size_t rank = outcome.fault.rank;
  return short_name(rank) + " (pid " + std::to_string(names[rank].pid) + ", " + names[rank].host +
         ") " + describe_fault(outcome.fault, records[rank]);
}

std::string list_ranks(std::span<const std::size_t> ranks) {
  if (ranks.size() > kMostListed) return std::to_string(ranks.size()) + " ranks";
  std::string text;
  for (const std::size_t rank : ranks) text += (text.empty() ? "" : ", ") + short_name(rank);
  return text;
}

std::string quote(const std::vector<std::string>& last_words) {
  if (last_words.empty()) return {};
  std::string text = "rotarun: its last lines of stderr:\n";
  for (const std::string& line : last_words) text += "rotarun:   " + line + "\n";
  return text;
}

}  // namespace rota::launcher

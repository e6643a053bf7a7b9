// Finds the rank whose failure came first, so that rotarun names that rank and not one of the
// survivors.
#include "launcher/job/root_cause.h"

#include <vector>

#include "base/assert.h"

namespace rota::launcher {
namespace {

// How long it may take until the death of a blamed rank is known, after its peers have complained.
// A lost connection means that the rank is dying, and on a busy machine that takes its time; a
// passed deadline does not.
constexpr auto kSettleAfterLoss = std::chrono::milliseconds(1000);
constexpr auto kSettleOtherwise = std::chrono::milliseconds(100);

// One step of the way from a failed rank to the rank that failed first: which rank blames which
// rank, and why.
struct Accusation {
  std::size_t witness = 0;
  std::size_t accused = 0;
  bool is_loss = false;
  std::string text;
};

// The failure that was noticed first.
struct Break {
  base::TimePoint at{};
  bool is_timeout = false;
};

Break break_by(const RankRecord& record) {
  if (record.report) return {record.report->at, record.report->error == ErrorCode::kTimeout};
  ROTA_ASSERT(record.ending);
  return {record.ending->at, false};
}

bool has_reason_of_its_own(const RankRecord& record) {
  return record.report && !record.report->is_echo;
}

// Returns whether the rank may have exited only because the job had failed. If a connection was
// lost first, an exit that becomes known later is the cause of that loss. If a deadline passed
// first, a later exit is not what the peers waited for.
bool is_aftermath(const RankRecord& record, const Break& first) {
  if (!record.ending || record.ending->was_killed || record.ending->value == 0) return false;
  if (record.report) return record.report->is_echo;
  return first.is_timeout && record.ending->at > first.at;
}

bool lays_it_on_another(const Report& report, std::size_t self) {
  return report.blamed && *report.blamed != self &&
         (report.error == ErrorCode::kTimeout || report.error == ErrorCode::kPeerLost ||
          report.error == ErrorCode::kAborted);
}

// Returns the rank that `rank` blames, unless `rank` itself explains the failure.
std::optional<Accusation> accusation_by(std::size_t rank, const RankRecord& record,
                                        const Break& first) {
  if (has_reason_of_its_own(record)) {
    const Report& report = *record.report;
    if (!lays_it_on_another(report, rank)) return std::nullopt;
    return Accusation{rank, *report.blamed, report.error == ErrorCode::kPeerLost, report.text};
  }
  if (record.ending && !is_aftermath(record, first)) return std::nullopt;
  if (record.stopped_since || !record.waiting_for) return std::nullopt;
  return Accusation{rank, *record.waiting_for, false, ""};
}

Fault fault_of(std::size_t rank, Fault::Kind kind, const std::optional<Accusation>& by) {
  Fault fault;
  fault.kind = kind;
  fault.rank = rank;
  if (by) {
    fault.witness = by->witness;
    fault.testimony = by->text;
  }
  return fault;
}

// Returns the fault of a rank that blames no rank.
Fault judge(std::size_t rank, const RankRecord& record, const std::optional<Accusation>& by,
            const Break& first) {
  using Kind = Fault::Kind;
  if (has_reason_of_its_own(record)) {
    Fault fault = fault_of(rank, Kind::kReported, by);
    if (record.report->code) fault.uncertain_until = record.report->at + kSettleOtherwise;
    return fault;
  }
  if (!by) return fault_of(rank, record.ending ? Kind::kDied : Kind::kReported, by);
  if (is_aftermath(record, first)) return fault_of(rank, Kind::kSilent, by);
  if (record.ending) {
    return fault_of(rank, record.ending->is_success() ? Kind::kLeft : Kind::kDied, by);
  }
  if (record.stopped_since) return fault_of(rank, Kind::kStopped, by);
  Fault fault = fault_of(rank, record.has_left ? Kind::kLeft : Kind::kSilent, by);
  fault.uncertain_until = first.at + (by->is_loss ? kSettleAfterLoss : kSettleOtherwise);
  return fault;
}

}  // namespace

Fault find_fault(std::span<const RankRecord> records, std::size_t first) {
  ROTA_ASSERT(first < records.size());
  const Break first_break = break_by(records[first]);
  std::vector<bool> was_seen(records.size(), false);
  std::optional<Accusation> by;
  std::size_t rank = first;
  while (!was_seen[rank]) {
    was_seen[rank] = true;
    auto next = accusation_by(rank, records[rank], first_break);
    if (!next) return judge(rank, records[rank], by, first_break);
    rank = next->accused;
    by = std::move(next);
  }
  // The ranks blame each other in a circle. Each is as likely to be the cause as any other, so the
  // rank that failed first is blamed.
  return fault_of(first, Fault::Kind::kReported, std::nullopt);
}

}  // namespace rota::launcher

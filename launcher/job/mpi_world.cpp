// Finds ranks of an MPI world that stay away from it. Without this, the other ranks would wait for
// ever, or each rank would be an MPI world of one.
#include "launcher/job/mpi_world.h"

#include <algorithm>
#include <map>

#include "launcher/job/end_report.h"

namespace rota::launcher {
namespace {

std::vector<std::uint32_t> ranks_of(const MpiPlan& plan) {
  std::vector<std::uint32_t> ranks;
  for (const MpiPlace& place : plan.world) ranks.push_back(place.rank);
  return ranks;
}

// Returns why a fence has waited too long. Of each list in `absent`, one rank or more are absent.
std::string why_stalled(const std::vector<std::vector<std::size_t>>& absent,
                        base::Duration patience) {
  std::string names;
  for (const std::vector<std::size_t>& ranks : absent) {
    names += (names.empty() ? "" : ", ") + std::string(ranks.size() > 1 ? "one or more of " : "") +
             list_ranks(ranks);
  }
  return "the other ranks have waited in MPI_Init or MPI_Finalize for " + base::to_text(patience) +
         " (--join-timeout); absent: " + names;
}

}  // namespace

MpiWorld::MpiWorld(const MpiPlan& plan, base::Duration patience, bool is_transport)
    : plan_(plan),
      patience_(patience),
      is_transport_(is_transport),
      connect_time_(std::min<base::Duration>(patience, kMpiConnectTime)),
      states_(plan.world.size(), State::kUnstarted),
      started_at_(plan.world.size()),
      fences_(ranks_of(plan), patience) {}

void MpiWorld::on_started(std::size_t rank, base::TimePoint now) {
  const auto number = mpi_rank_of(plan_, rank);
  if (!number || states_[*number] != State::kUnstarted) return;
  states_[*number] = State::kStarted;
  started_at_[*number] = now;
}

void MpiWorld::on_connected(std::size_t rank, base::TimePoint now) {
  const auto number = mpi_rank_of(plan_, rank);
  if (!number) return;
  states_[*number] = State::kConnected;
  if (first_connected_) return;
  first_connected_ = rank;
  connected_at_ = now;
}

void MpiWorld::on_finalized(std::size_t rank) {
  if (const auto number = mpi_rank_of(plan_, rank)) states_[*number] = State::kFinalized;
}

std::string MpiWorld::why_left(State state) const {
  if (state == State::kConnected) return "it called MPI_Init, but not MPI_Finalize";
  if (is_transport_) {
    return "it made no Communicator of all ranks, so it stayed away from the MPI world of "
           "--transport mpi";
  }
  return "it did not call MPI_Init of an MPI that uses " + std::string(name_of(plan_.kind)) +
         "; --mpi says which MPI the program has, or none";
}

std::optional<Fault> MpiWorld::on_exit(std::size_t rank, bool is_success) {
  const auto number = mpi_rank_of(plan_, rank);
  if (!number) return std::nullopt;
  if (is_transport_ && plan_.world.size() == 1) return std::nullopt;  // It sends no messages.
  const State state = std::exchange(states_[*number], State::kEnded);
  if (!is_success || state == State::kFinalized || state == State::kEnded) return std::nullopt;
  Fault fault{.kind = Fault::Kind::kLeft, .rank = rank};
  fault.testimony = why_left(state);
  return fault;
}

// Returns which rank must call MPI_Init next, and until when. Ranks that have not started are not
// waited for: their start may take long, and its failure is noticed.
std::optional<MpiWorld::Absence> MpiWorld::next_absence() const {
  std::optional<Absence> next;
  for (std::size_t number = 0; number < states_.size() && first_connected_; ++number) {
    if (states_[number] != State::kStarted) continue;
    const base::TimePoint end = std::max(connected_at_, started_at_[number]) + connect_time_;
    if (!next || end < next->end) next = Absence{plan_.world[number].rank, end};
  }
  return next;
}

// Returns who is absent from a fence that has waited too long; nothing if there is no such fence.
// With PMIx, the ranks of a node are absent together until the last one has arrived.
std::optional<std::vector<MpiWorld::Absentees>> MpiWorld::absent_from_fence(
    base::TimePoint now) const {
  const std::vector<std::uint32_t> ranks = fences_.absent_by(now);
  if (ranks.empty()) return std::nullopt;
  std::map<std::size_t, Absentees> absent;
  for (const std::uint32_t rank : ranks) {
    const auto number = mpi_rank_of(plan_, rank);
    if (!number) continue;
    absent[plan_.kind == MpiKind::kPmix ? plan_.world[*number].node : rank].push_back(rank);
  }
  std::vector<Absentees> sorted;
  sorted.reserve(absent.size());
  for (auto& [key, absentees] : absent) sorted.push_back(std::move(absentees));
  return sorted;
}

std::optional<Fault> MpiWorld::fault_by(base::TimePoint now) const {
  const auto absence = next_absence();
  if (absence && now >= absence->end) {
    Fault fault{.kind = Fault::Kind::kSilent, .rank = absence->rank};
    fault.testimony = "it has not called MPI_Init of an MPI that uses " +
                      std::string(name_of(plan_.kind)) + " within " + base::to_text(connect_time_) +
                      " after rank " + std::to_string(*first_connected_) + " did";
    return fault;
  }
  const auto absent = absent_from_fence(now);
  if (!absent) return std::nullopt;
  const auto known = std::ranges::find(*absent, std::size_t{1}, &Absentees::size);
  if (known == absent->end()) return std::nullopt;
  Fault fault{.kind = Fault::Kind::kSilent, .rank = known->front()};
  fault.testimony = why_stalled(*absent, patience_);
  return fault;
}

std::string MpiWorld::stall_by(base::TimePoint now) const {
  const auto absent = absent_from_fence(now);
  if (!absent || std::ranges::find(*absent, std::size_t{1}, &Absentees::size) != absent->end()) {
    return {};
  }
  return "a rank stays away from the MPI world: " + why_stalled(*absent, patience_);
}

std::string MpiWorld::excess() const {
  const std::size_t bytes = fences_.excess_bytes();
  if (bytes == 0) return {};
  return "the MPI libraries of the ranks publish " + std::to_string(bytes) +
         " bytes about themselves, but rotarun passes on at most " +
         std::to_string(kMostFenceBytes) + ": use fewer ranks";
}

std::optional<base::TimePoint> MpiWorld::next_deadline() const {
  std::optional<base::TimePoint> next = fences_.next_deadline();
  if (const auto absence = next_absence()) next = base::earlier(next, absence->end);
  return next;
}

}  // namespace rota::launcher

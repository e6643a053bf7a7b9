// Demands, for each failure, the strictest statement that is always true.
#include "simulation/oracle.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace rota::simulation {
namespace {

// Returns the ranks that an error's message names.
std::set<std::size_t> named_in(const std::string& text) {
  constexpr std::string_view kRank = "rank ";
  std::set<std::size_t> ranks;
  for (auto at = text.find(kRank); at != std::string::npos; at = text.find(kRank, at + 1)) {
    const auto digits = text.begin() + static_cast<std::ptrdiff_t>(at + kRank.size());
    if (digits != text.end() && std::isdigit(static_cast<unsigned char>(*digits)) != 0) {
      ranks.insert(std::stoul(std::string(digits, text.end())));
    }
  }
  return ranks;
}

}  // namespace

std::optional<std::string> Oracle::finding(std::size_t rank) const {
  const Outcome& outcome = ending_.outcomes[rank];
  const std::string who = "rank " + std::to_string(rank);
  if (!outcome.is_over) {
    if (has_failed(rank)) return std::nullopt;
    return who + " never came to an end";
  }
  if (!outcome.error) {
    if (!is_noticed()) return who + " ended well, although one rank made other calls";
    if (has_failed(rank) || !keeps_all()) return std::nullopt;
    return who + " ended well, although another rank failed";
  }
  const std::string wrong = wrong_with(rank, *outcome.error);
  if (wrong.empty()) return std::nullopt;
  return who + " says (" + std::string(to_string(outcome.error->code())) +
         "): " + outcome.error->what() + ", " + wrong;
}

std::string Oracle::wrong_with(std::size_t rank, const Error& error) const {
  const auto blamed = error.blamed_rank();
  const bool was_to_succeed = !ending_.has_failed || scenario_.failure == Failure::kPauses;
  if (was_to_succeed) return "although no rank had failed";
  // A rank that gives up on its own blames no other rank.
  const bool gives_up_itself =
      scenario_.failure == Failure::kAborts || scenario_.failure == Failure::kFaults;
  if (!blamed && has_failed(rank) && gives_up_itself) return "";
  if (!blamed || *blamed >= ending_.outcomes.size()) return "which blames nobody";
  if (std::string wrong = wrong_with_words(error, *blamed); !wrong.empty()) return wrong;
  if (has_ended_well(*blamed)) return "which blames a rank that ended well";
  if (is_known_to_all() && !has_failed(*blamed)) return "which blames a rank that did not fail";
  if (breaks_all_connections() && !ends_in_who_failed(rank)) {
    return "and the chain of blamed ranks does not lead to a rank that failed";
  }
  // The report of another rank may blame this rank. The rank's own report must not blame itself.
  const bool is_of_its_own =
      error.code() == ErrorCode::kTimeout || error.code() == ErrorCode::kPeerLost;
  if (!scenario_.has_launcher && is_of_its_own && blamed == rank && !has_failed(rank)) {
    return "which blames itself";
  }
  return "";
}

// Returns what is wrong with the error's message; empty if nothing is. If two ranks made different
// calls, the message has to name both ranks.
std::string Oracle::wrong_with_words(const Error& error, std::size_t blamed) const {
  const std::set<std::size_t> named = named_in(error.what());
  if (!named.contains(blamed)) return "which does not name the rank that it blames";
  switch (error.code()) {
    case ErrorCode::kMismatch:
      if (scenario_.failure != Failure::kDisagrees) return "although all ranks made the same calls";
      if (named.contains(scenario_.failing) && named.size() >= 2) return "";
      return "which does not name two ranks whose calls differ";
    case ErrorCode::kTimeout:
    case ErrorCode::kPeerLost:
    case ErrorCode::kAborted:
      return "";
    case ErrorCode::kSystem:
      if (scenario_.failure == Failure::kFaults) return "";
      return "although no device had failed";
    default:
      return "which the failure of another rank never causes";
  }
}

bool Oracle::has_ended_well(std::size_t rank) const {
  const Outcome& outcome = ending_.outcomes[rank];
  return outcome.is_over && !outcome.error && !has_failed(rank);
}

// Returns whether each rank that did not fail must end with an error. This holds if another rank
// failed before the last barrier, with three exceptions. A rank that pauses still arrives. A rank
// that starves may have nothing to send. If calls differ, a rank may not need any of the ranks that
// made these calls.
bool Oracle::keeps_all() const {
  switch (scenario_.failure) {
    case Failure::kPauses:
    case Failure::kStarves:
    case Failure::kDisagrees:
      return false;
    default:
      return ending_.has_failed && ending_.is_before_last;
  }
}

// Returns whether some rank noticed a call that differs, or none had to. If the other ranks' call
// has no values, possibly no rank needs a message, and so no rank has to notice.
bool Oracle::is_noticed() const {
  const Call& call = scenario_.batches[scenario_.failing_batch][0];
  const bool is_needed = call.count > 0 || call.kind == Kind::kBarrier;
  return !ending_.has_failed || scenario_.failure != Failure::kDisagrees || !is_needed ||
         std::ranges::any_of(ending_.outcomes,
                             [](const Outcome& outcome) { return outcome.error.has_value(); });
}

// Returns whether each rank must blame a rank that failed. The launcher follows which rank waits
// for which. Without a launcher, the failed rank is known if all ranks share memory and the failed
// rank announces its failure. When the calls of two ranks differ, each of the two considers the
// other wrong. A rank that needs nothing sends nothing, so ranks may wait in a circle.
bool Oracle::is_known_to_all() const {
  if (scenario_.failure == Failure::kDisagrees) return false;
  if (scenario_.has_launcher) return true;
  const bool is_told =
      scenario_.failure == Failure::kAborts || scenario_.failure == Failure::kLeaves;
  return is_told && scenario_.is_in_memory();
}

// Returns whether each rank is told about the failure, instead of reaching its deadline. If so,
// each rank blames a rank that was told earlier, and this chain leads to the failed rank.
bool Oracle::breaks_all_connections() const {
  const Failure failure = scenario_.failure;
  return failure == Failure::kAborts || failure == Failure::kLeaves ||
         failure == Failure::kFaults ||
         (failure == Failure::kDies && scenario_.place() == Place::kNoneShares);
}

bool Oracle::ends_in_who_failed(std::size_t rank) const {
  std::set<std::size_t> seen;
  while (!has_failed(rank)) {
    const auto& error = ending_.outcomes[rank].error;
    if (!seen.insert(rank).second || !error || !error->blamed_rank()) return false;
    rank = *error->blamed_rank();
  }
  return true;
}

}  // namespace rota::simulation

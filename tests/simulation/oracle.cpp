// The strictest that can be said of each failure.
#include "simulation/oracle.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace rota::simulation {
namespace {

// The ranks that an error's words name.
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
    if (!is_noticed()) return who + " ended well, as all did, and one had made other calls";
    if (has_failed(rank) || !keeps_all()) return std::nullopt;
    return who + " ended well, and without one that failed";
  }
  const std::string wrong = wrong_with(rank, *outcome.error);
  if (wrong.empty()) return std::nullopt;
  return who + " says (" + std::string(to_string(outcome.error->code())) +
         "): " + outcome.error->what() + ", " + wrong;
}

std::string Oracle::wrong_with(std::size_t rank, const Error& error) const {
  const auto blamed = error.blamed_rank();
  const bool was_to_succeed = !ending_.has_failed || scenario_.failure == Failure::kPauses;
  if (was_to_succeed) return "and nothing had failed";
  // Who gives up by itself blames nobody else.
  if (!blamed && has_failed(rank) && scenario_.failure == Failure::kAborts) return "";
  if (!blamed || *blamed >= ending_.outcomes.size()) return "which blames nobody";
  if (std::string wrong = wrong_with_words(error, *blamed); !wrong.empty()) return wrong;
  if (has_ended_well(*blamed)) return "which blames who ended well";
  if (is_known_to_all() && !has_failed(*blamed)) return "which blames who did not fail";
  if (breaks_all_connections() && !ends_in_who_failed(rank)) {
    return "and from whom one blames to the next it does not come to who failed";
  }
  // What another rank says may blame this one; what it says itself does not.
  const bool is_of_its_own =
      error.code() == ErrorCode::kTimeout || error.code() == ErrorCode::kPeerLost;
  if (!scenario_.has_launcher && is_of_its_own && blamed == rank && !has_failed(rank)) {
    return "which blames itself";
  }
  return "";
}

// That ranks differ is true of two, and both have to be named.
std::string Oracle::wrong_with_words(const Error& error, std::size_t blamed) const {
  const std::set<std::size_t> named = named_in(error.what());
  if (!named.contains(blamed)) return "which does not name whom it blames";
  switch (error.code()) {
    case ErrorCode::kMismatch:
      if (scenario_.failure != Failure::kDisagrees) return "and all made the same calls";
      if (named.contains(scenario_.failing) && named.size() >= 2) return "";
      return "which does not name both";
    case ErrorCode::kTimeout:
    case ErrorCode::kPeerLost:
    case ErrorCode::kAborted:
      return "";
    default:
      return "which is none that a peer's failure makes";
  }
}

bool Oracle::has_ended_well(std::size_t rank) const {
  const Outcome& outcome = ending_.outcomes[rank];
  return outcome.is_over && !outcome.error && !has_failed(rank);
}

// What comes in the end cannot be had of who failed before. Who pauses comes; who starves may need
// to send nothing; and where calls differ one may have need of none of those who differ.
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

// Where nobody else has any values, nobody else may need a message.
bool Oracle::is_noticed() const {
  const Call& call = scenario_.batches[scenario_.failing_batch][0];
  const bool is_needed = call.count > 0 || call.kind == Kind::kBarrier;
  return !ending_.has_failed || scenario_.failure != Failure::kDisagrees || !is_needed ||
         std::ranges::any_of(ending_.outcomes,
                             [](const Outcome& outcome) { return outcome.error.has_value(); });
}

// The launcher follows who waits for whom. Without one that is known where all share memory, and
// the rank that fails is heard of at once. Of two that differ each takes the other one for wrong;
// and who needs nothing sends nothing, so that it may be waited for in a circle.
bool Oracle::is_known_to_all() const {
  if (scenario_.failure == Failure::kDisagrees) return false;
  if (scenario_.has_launcher) return true;
  const bool is_told =
      scenario_.failure == Failure::kAborts || scenario_.failure == Failure::kLeaves;
  return is_told && scenario_.is_in_memory();
}

// Each rank hears of a failure, and not of a deadline: so whom one blames had heard before it.
bool Oracle::breaks_all_connections() const {
  const Failure failure = scenario_.failure;
  return failure == Failure::kAborts || failure == Failure::kLeaves ||
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

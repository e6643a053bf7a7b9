// Recursive halving and doubling. In each round, a rank exchanges half of its current values with a
// partner. The distance to the partner halves from round to round; then the rounds run backwards.
// There are log2(n) rounds in each direction. The algorithm suits values that are too few for the
// ring's n - 1 hops. If n is not a power of two, some ranks first give their values to a neighbour,
// and get the result from this neighbour at the end. So the number of ranks in the rounds is a
// power of two.
#include <bit>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

struct Round {
  std::size_t partner;  // A rank.
  Slice kept;           // The slice that this rank continues with.
  Slice given;          // The partner's slice.
};

Slice join(const std::vector<Slice>& pieces, std::size_t first, std::size_t last) {
  const std::size_t end = pieces[last - 1].offset + pieces[last - 1].count;
  return {pieces[first].offset, end - pieces[first].offset};
}

// Returns the rank of `member`. The members are the ranks that take part in the rounds. `folded` is
// the number of the other ranks, which are the odd ranks below 2 * folded. So member i has rank 2 i
// if i is less than `folded`, and otherwise rank i + folded.
std::size_t rank_of(std::size_t member, std::size_t folded) {
  return member < folded ? 2 * member : member + folded;
}

std::vector<Round> rounds_of(std::size_t member, std::size_t folded,
                             const std::vector<Slice>& pieces) {
  std::vector<Round> rounds;
  std::size_t first = 0;
  std::size_t last = pieces.size();
  for (std::size_t distance = pieces.size() / 2; distance > 0; distance /= 2) {
    const std::size_t middle = first + distance;
    const bool upper = (member & distance) != 0;
    const Slice low = join(pieces, first, middle);
    const Slice high = join(pieces, middle, last);
    rounds.push_back({.partner = rank_of(member ^ distance, folded),
                      .kept = upper ? high : low,
                      .given = upper ? low : high});
    (upper ? first : last) = middle;
  }
  return rounds;
}

}  // namespace

Plan halving_doubling_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  const std::size_t members = std::bit_floor(request.world_size);
  const std::size_t folded = request.world_size - members;
  const Slice whole{0, request.count};
  PlanBuilder plan(request);
  contribute(plan, request, whole);

  const bool in_fold = request.rank < 2 * folded;
  if (in_fold && request.rank % 2 == 1) {
    plan.send(request.rank - 1, values_at(whole));
    plan.receive(request.rank - 1, values_at(whole));
    return plan.build();
  }
  if (in_fold) plan.reduce(request.rank + 1, values_at(whole), false);
  const std::size_t member = in_fold ? request.rank / 2 : request.rank - folded;
  const std::vector<Round> rounds = rounds_of(member, folded, cut(whole, members));
  for (const Round& round : rounds) {
    plan.send(round.partner, values_at(round.given));
    plan.reduce(round.partner, values_at(round.kept), &round == &rounds.back());
  }
  for (std::size_t i = rounds.size(); i-- > 0;) {
    plan.send(rounds[i].partner, values_at(rounds[i].kept));
    plan.receive(rounds[i].partner, values_at(rounds[i].given));
  }
  if (in_fold) plan.send(request.rank + 1, values_at(whole));
  return plan.build();
}

}  // namespace rota::collectives

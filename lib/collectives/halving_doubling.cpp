// Recursive halving and doubling: in each round a rank exchanges half of what it still works on
// with a partner, at a distance that halves; then the same way back. log2(n) rounds each way, for
// values that are too few for the ring's n - 1. Where n is no power of two, the ranks beyond it
// give their values to a neighbour first, and get the result from it.
#include <bit>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

struct Round {
  std::size_t partner;  // A rank.
  Slice kept;           // What this rank goes on with,
  Slice given;          // and its partner.
};

Slice join(const std::vector<Slice>& pieces, std::size_t first, std::size_t last) {
  const std::size_t end = pieces[last - 1].offset + pieces[last - 1].count;
  return {pieces[first].offset, end - pieces[first].offset};
}

// Member i of the power of two is rank 2 i while there are ranks to be folded in, i + folded after.
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
  PlanBuilder plan(request.rank);
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

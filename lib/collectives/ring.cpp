// The ring: every rank talks to its two neighbours only, and all links are always busy. Each rank
// sends 2 (n - 1) / n of the values in an all-reduce: less than twice the values for any n.
//
// Chunk c starts at rank c + 1, collects one contribution per hop and is complete at rank c. So its
// terms are always added in the order c + 1, c + 2, …, c.
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

class Ring {
 public:
  explicit Ring(const PlanRequest& request)
      : request_(request),
        n_(request.world_size),
        next_((request.rank + 1) % n_),
        previous_((request.rank + n_ - 1) % n_),
        plan_(request) {}

  Plan all_reduce() {
    const std::vector<Slice> chunks = cut({0, request_.count}, n_);
    // Contributes the chunks in the order in which the hops need them.
    for (std::size_t hop = 1; hop <= n_; ++hop) contribute(plan_, request_, chunks[behind(hop)]);
    scatter_in_place(chunks);
    gather(chunks);
    return plan_.build();
  }

  Plan reduce_scatter() {
    if (!request_.in_place) return reduce_scatter_from_input();
    const std::vector<Slice> chunks = parts();
    for (std::size_t hop = 1; hop <= n_; ++hop) contribute(plan_, request_, chunks[behind(hop)]);
    scatter_in_place(chunks);
    return plan_.build();
  }

  Plan all_gather() {
    const std::vector<Slice> chunks = parts();
    const Slice own = chunks[request_.rank];
    if (!request_.in_place) plan_.copy(input_at({0, own.count}), values_at(own));
    gather(chunks);
    return plan_.build();
  }

 private:
  std::size_t behind(std::size_t hops) const { return (request_.rank + 2 * n_ - hops) % n_; }

  std::vector<Slice> parts() const {
    std::vector<Slice> parts;
    for (std::size_t rank = 0; rank < n_; ++rank) parts.push_back(part_of(request_, rank));
    return parts;
  }

  void scatter_in_place(const std::vector<Slice>& chunks) {
    for (std::size_t hop = 1; hop < n_; ++hop) {
      plan_.send(next_, values_at(chunks[behind(hop)]));
      plan_.reduce(previous_, values_at(chunks[behind(hop + 1)]), hop + 1 == n_);
    }
  }

  void gather(const std::vector<Slice>& chunks) {
    for (std::size_t hop = 0; hop + 1 < n_; ++hop) {
      plan_.send(next_, values_at(chunks[behind(hop)]));
      plan_.receive(previous_, values_at(chunks[behind(hop + 1)]));
    }
  }

  // The input is not changed. Values that pass through this rank are in two scratch places, used
  // alternately.
  Plan reduce_scatter_from_input() {
    const std::vector<Slice> chunks = parts();
    std::size_t longest = 0;
    for (const Slice& chunk : chunks) longest = std::max(longest, chunk.count);
    const std::array passing{plan_.scratch(n_ > 2 ? longest : 0),
                             plan_.scratch(n_ > 1 ? longest : 0)};
    const auto place_of = [&](std::size_t hop) {
      const Slice chunk = chunks[behind(hop)];
      if (hop == n_) return values_at({0, chunk.count});
      return Place{Buffer::kScratch, {passing[hop % 2].slice.offset, chunk.count}};
    };
    const auto bring = [&](std::size_t hop) {
      plan_.copy(input_at(chunks[behind(hop)]), place_of(hop));
      if (request_.pre_scales) plan_.pre_scale(place_of(hop));
    };
    bring(1);
    for (std::size_t hop = 1; hop < n_; ++hop) {
      bring(hop + 1);
      plan_.send(next_, place_of(hop));
      plan_.reduce(previous_, place_of(hop + 1), hop + 1 == n_);
    }
    return plan_.build();
  }

  const PlanRequest& request_;
  std::size_t n_;
  std::size_t next_;
  std::size_t previous_;
  PlanBuilder plan_;
};

}  // namespace

Plan ring_plan(const PlanRequest& request) {
  Ring ring(request);
  if (request.collective == Collective::kReduceScatter) return ring.reduce_scatter();
  if (request.collective == Collective::kAllGather) return ring.all_gather();
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  return ring.all_reduce();
}

}  // namespace rota::collectives

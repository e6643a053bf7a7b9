// The binomial tree: all values travel together. On the way up, after round k, a rank has the sum
// of 2^k ranks: itself and the ranks after it. The tree is for few bytes: it needs few messages and
// few hops.
#include <bit>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

class Tree {
 public:
  explicit Tree(const PlanRequest& request)
      : request_(request),
        n_(request.world_size),
        position_((request.rank + n_ - request.root) % n_),
        plan_(request) {
    const std::size_t reach = position_ == 0 ? std::bit_ceil(n_) : position_ & (~position_ + 1);
    for (std::size_t distance = 1; distance < reach && position_ + distance < n_; distance *= 2) {
      children_.push_back(rank_at(position_ + distance));
    }
    if (position_ > 0) parent_ = rank_at(position_ - reach);
  }

  Plan make() {
    const Slice whole{0, request_.count};
    if (request_.collective == Collective::kBroadcast) {
      down(values_at(whole));
    } else if (request_.collective == Collective::kReduce) {
      up(place_of_sum(whole));
    } else {
      ROTA_ASSERT(request_.collective == Collective::kAllReduce);
      contribute(plan_, request_, whole);
      up(values_at(whole));
      down(values_at(whole));
    }
    return plan_.build();
  }

 private:
  std::size_t rank_at(std::size_t position) const { return (position + request_.root) % n_; }

  // Ranks other than the root may have no output buffer to add to.
  Place place_of_sum(Slice whole) {
    if (request_.in_place || position_ == 0) {
      contribute(plan_, request_, whole);
      return values_at(whole);
    }
    if (children_.empty() && !request_.pre_scales) return input_at(whole);
    const Place place = plan_.scratch(whole.count);
    plan_.copy(input_at(whole), place);
    if (request_.pre_scales) plan_.pre_scale(place);
    return place;
  }

  void up(const Place& place) {
    for (const std::size_t child : children_) {
      plan_.reduce(child, place, position_ == 0 && child == children_.back());
    }
    if (position_ > 0) plan_.send(parent_, place);
  }

  // Sends to the largest subtree first, because this subtree needs the most time.
  void down(const Place& place) {
    if (position_ > 0) plan_.receive(parent_, place);
    for (std::size_t i = children_.size(); i-- > 0;) plan_.send(children_[i], place);
  }

  const PlanRequest& request_;
  std::size_t n_;
  std::size_t position_;  // The root's is 0.
  std::size_t parent_ = 0;
  std::vector<std::size_t> children_;  // Nearest first.
  PlanBuilder plan_;
};

}  // namespace

Plan tree_plan(const PlanRequest& request) { return Tree(request).make(); }

}  // namespace rota::collectives

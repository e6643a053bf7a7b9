// Two levels: the ranks of a host add up among themselves, hosts combine their sums along rings,
// and each host passes the result to its ranks. The values are cut into rails, as many as the
// smallest host has ranks. Rail k belongs to the k-th rank of each host, and each rail is a ring of
// hosts.
#include <algorithm>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

class TwoLevel {
 public:
  explicit TwoLevel(const PlanRequest& request)
      : request_(request),
        hosts_(ranks_by_host(request.hosts)),
        host_(host_of(hosts_, request.rank)),
        plan_(request) {
    std::size_t rail_count = request.world_size;
    for (const HostRanks& ranks : hosts_) rail_count = std::min(rail_count, ranks.size());
    const auto own = std::ranges::find(own_host(), request.rank);
    index_ = static_cast<std::size_t>(own - own_host().begin());
    rails_ = cut({0, request.count}, rail_count);
  }

  Plan make() {
    for (const Slice& rail : rails_) contribute(plan_, request_, rail);
    add_up_inside();
    if (index_ < rails_.size()) ring_of_hosts();
    hand_round_inside();
    return plan_.build();
  }

 private:
  const HostRanks& own_host() const { return hosts_[host_]; }
  std::size_t ahead(std::size_t hops) const {
    return own_host()[(index_ + hops) % own_host().size()];
  }

  // Returns the chunk of a rail that this host passes on in hop `hops`. The hops are in the order
  // in which this host needs the chunks. So a chunk that is added up inside the host travels while
  // the host adds up the next chunk.
  Slice behind(std::size_t rail, std::size_t hops) const {
    const std::size_t n = hosts_.size();
    return chunk_of(rails_[rail], (host_ + 2 * n - hops) % n, n);
  }

  void add_up_inside() {
    const std::size_t count = own_host().size();
    for (std::size_t hop = 1; hop <= hosts_.size(); ++hop) {
      for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
        if (rail != index_) plan_.send(own_host()[rail], values_at(behind(rail, hop)));
      }
      for (std::size_t peer = 1; index_ < rails_.size() && peer < count; ++peer) {
        const bool last = hosts_.size() == 1 && peer + 1 == count;
        plan_.reduce(ahead(peer), values_at(behind(index_, hop)), last);
      }
    }
  }

  void ring_of_hosts() {
    const std::size_t n = hosts_.size();
    const std::size_t next = hosts_[(host_ + 1) % n][index_];
    const std::size_t previous = hosts_[(host_ + n - 1) % n][index_];
    for (std::size_t hop = 1; hop < n; ++hop) {
      plan_.send(next, values_at(behind(index_, hop)));
      plan_.reduce(previous, values_at(behind(index_, hop + 1)), hop + 1 == n);
    }
    for (std::size_t hop = 0; hop + 1 < n; ++hop) {
      plan_.send(next, values_at(behind(index_, hop)));
      plan_.receive(previous, values_at(behind(index_, hop + 1)));
    }
  }

  // Sends the chunks in the order in which they become complete.
  void hand_round_inside() {
    for (std::size_t hop = 0; hop < hosts_.size(); ++hop) {
      for (std::size_t peer = 1; index_ < rails_.size() && peer < own_host().size(); ++peer) {
        plan_.send(ahead(peer), values_at(behind(index_, hop)));
      }
      for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
        if (rail != index_) plan_.receive(own_host()[rail], values_at(behind(rail, hop)));
      }
    }
  }

  const PlanRequest& request_;
  std::vector<HostRanks> hosts_;
  std::size_t host_;       // This rank's host.
  std::size_t index_ = 0;  // This rank's index in its host.
  std::vector<Slice> rails_;
  PlanBuilder plan_;
};

}  // namespace

Plan two_level_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  ROTA_ASSERT(request.hosts.size() == request.world_size);
  return TwoLevel(request).make();
}

}  // namespace rota::collectives

// By host: one rank of each host, its hub, speaks with other hosts. The ranks of a host hand it
// their values whole; it bundles them, since nothing may be added before all of it is there: the
// order of additions and the bits are the ring's. Some hosts add up a part of the values each, and
// hubs tell each other the sums. With p of h hosts that is 2 p (h - 1) messages between hosts: one
// host adds up few bytes, all hosts add up many. With all ranks as one host this is the plan hub.
#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

// The cable of a host that adds up carries its share of everybody's values. Up to this, which is 66
// µs at 1 Gbit/s, they cost less than the messages of a further host that adds up.
constexpr std::size_t kBytesWorthAHost = 8 * 1024;

class ByHost {
 public:
  ByHost(const PlanRequest& request, std::vector<HostRanks> hosts)
      : request_(request),
        hosts_(std::move(hosts)),
        host_(host_of(hosts_, request.rank)),
        plan_(request.rank) {}

  Plan all_reduce() {
    const Place whole = values_at({0, request_.count});
    contribute(plan_, request_, whole.slice);
    if (request_.rank != hub_of(host_)) {
      plan_.send(hub_of(host_), whole);
      plan_.receive(hub_of(host_), whole);
      return plan_.build();
    }
    take_from_own_ranks();
    give_bundles();
    take_bundles();
    add_up();
    exchange_sums();
    for (const std::size_t rank : other_ranks()) plan_.send(rank, whole);
    return plan_.build();
  }

  Plan barrier() {
    const std::size_t hub = hub_of(host_);
    if (request_.rank != hub) {
      plan_.send_bare(hub);
      plan_.receive_bare(hub);
      return plan_.build();
    }
    const auto ranks = other_ranks();
    for (const std::size_t rank : ranks) plan_.receive_bare(rank);
    const std::size_t count = hosts_.size();
    std::size_t received = ranks.size();
    for (std::size_t distance = 1; distance < count; distance *= 2) {
      const std::size_t news = std::min(distance, count - distance);
      plan_.send_bare(hub_of(ahead(distance)), ranks.size() + std::bit_width(news - 1));
      plan_.receive_bare(hub_of(ahead(count - distance)));
      ++received;
    }
    for (const std::size_t rank : ranks) plan_.send_bare(rank, received);
    return plan_.build();
  }

 private:
  std::size_t hub_of(std::size_t host) const { return hosts_[host].front(); }
  std::size_t ahead(std::size_t hops) const { return (host_ + hops) % hosts_.size(); }
  std::span<const std::size_t> other_ranks() const { return std::span(hosts_[host_]).subspan(1); }

  // The ring's chunks that a host adds up: the first hosts, as many as that is worth.
  Slice chunks_of(std::size_t host) const {
    const std::size_t n = request_.world_size;
    const std::size_t bytes_of_all = n * request_.count * request_.element_bytes;
    const std::size_t worth = std::max<std::size_t>(1, bytes_of_all / kBytesWorthAHost);
    const std::size_t adding = std::min(hosts_.size(), worth);
    return host < adding ? slice_of(n, host, adding) : Slice{};
  }

  Slice chunk(std::size_t index) const {
    return chunk_of({0, request_.count}, index, request_.world_size);
  }

  // Their elements.
  Slice part_of_host(std::size_t host) const {
    const Slice chunks = chunks_of(host);
    if (chunks.count == 0) return {};
    const Slice last = chunk(chunks.offset + chunks.count - 1);
    const std::size_t begin = chunk(chunks.offset).offset;
    return {begin, last.offset + last.count - begin};
  }

  static Place within(const Place& place, Slice run) {
    return {place.buffer, {place.slice.offset + run.offset, run.count}};
  }

  void take_from_own_ranks() {
    own_values_.push_back(values_at({0, request_.count}));
    for (const std::size_t rank : other_ranks()) {
      own_values_.push_back(plan_.scratch(request_.count));
      plan_.receive(rank, own_values_.back());
    }
  }

  // To each other host: what this one's ranks have of its part, one behind the other.
  void give_bundles() {
    for (std::size_t hop = 1; hop < hosts_.size(); ++hop) {
      const Slice part = part_of_host(ahead(hop));
      Place bundle = within(own_values_.front(), part);
      if (own_values_.size() > 1) {
        bundle = plan_.scratch(own_values_.size() * part.count);
        for (std::size_t i = 0; i < own_values_.size(); ++i) {
          plan_.copy(within(own_values_[i], part), within(bundle, {i * part.count, part.count}));
        }
      }
      plan_.send(hub_of(ahead(hop)), bundle);
    }
  }

  // Sets terms_.
  void take_bundles() {
    const Slice part = part_of_host(host_);
    terms_.resize(request_.world_size);
    for (std::size_t i = 0; i < own_values_.size(); ++i) {
      terms_[hosts_[host_][i]] = within(own_values_[i], part);
    }
    for (std::size_t hop = hosts_.size() - 1; hop > 0; --hop) {
      const HostRanks& ranks = hosts_[ahead(hop)];
      const Place bundle = plan_.scratch(ranks.size() * part.count);
      plan_.receive(ranks.front(), bundle);
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        terms_[ranks[i]] = within(bundle, {i * part.count, part.count});
      }
    }
  }

  void add_up() {
    const Slice chunks = chunks_of(host_);
    const std::size_t begin = part_of_host(host_).offset;
    for (std::size_t c = chunks.offset; c < chunks.offset + chunks.count; ++c) {
      const Slice whole = chunk(c);
      add_up(c, {whole.offset - begin, whole.count});
    }
  }

  // The terms of chunk c are added in the order c + 1, c + 2, …, c. What was added up before this
  // rank's own term comes is added to that one, which lies in the values.
  void add_up(std::size_t c, Slice chunk) {
    const std::size_t n = request_.world_size;
    std::size_t sum = (c + 1) % n;
    for (std::size_t hop = 2; hop <= n; ++hop) {
      const std::size_t rank = (c + hop) % n;
      const Place term = within(terms_[rank], chunk);
      const Place so_far = within(terms_[sum], chunk);
      if (rank == request_.rank) {
        plan_.add(so_far, term, hop == n);
        sum = rank;
      } else {
        plan_.add(term, so_far, hop == n);
      }
    }
  }

  // Those of others answer the bundles, not the sums that this host sends.
  void exchange_sums() {
    for (std::size_t hop = hosts_.size() - 1; hop > 0; --hop) {
      plan_.receive_answer(hub_of(ahead(hop)), values_at(part_of_host(ahead(hop))));
    }
    const Place own = values_at(part_of_host(host_));
    for (std::size_t hop = 1; hop < hosts_.size(); ++hop) plan_.send(hub_of(ahead(hop)), own);
  }

  const PlanRequest& request_;
  std::vector<HostRanks> hosts_;
  std::size_t host_;  // Of this rank.
  PlanBuilder plan_;
  // Of a hub:
  std::vector<Place> own_values_;  // Whole, of its host's ranks in their order, itself the first.
  std::vector<Place> terms_;       // By rank: of the part that is added up here.
};

}  // namespace

Plan by_host_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.hosts.size() == request.world_size);
  ByHost by_host(request, ranks_by_host(request.hosts));
  if (request.collective == Collective::kBarrier) return by_host.barrier();
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  return by_host.all_reduce();
}

Plan hub_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  const std::vector<std::size_t> one_host(request.world_size);
  return ByHost(request, ranks_by_host(one_host)).all_reduce();
}

}  // namespace rota::collectives

// By host: one rank of each host, its hub, talks to other hosts. The other ranks of a host send the
// hub all their values. The hub sends bundles of unreduced values: an addition before all terms are
// there would change the ring's order, and so the bits. Some hosts add up one part of the values
// each, and the hubs exchange the sums. With h hosts and p adding hosts, there are 2 p (h - 1)
// messages between hosts: p is 1 for few bytes, and h for many. With all ranks on one host, this
// plan is the same as the plan hub.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/assert.h"
#include "base/sizes.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

// The network link of an adding host carries that host's part of all ranks' values. Up to this
// size, which takes 66 µs at 1 Gbit/s, these values cost less than the messages of one more adding
// host.
constexpr std::size_t kBytesWorthAHost = 8 * 1024;

class ByHost {
 public:
  ByHost(const PlanRequest& request, std::vector<HostRanks> hosts)
      : request_(request),
        hosts_(std::move(hosts)),
        host_(host_of(hosts_, request.rank)),
        plan_(request) {}

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

  // Returns the indices of the chunks that `host` adds up. The chunks are those of the ring. Only
  // the first hosts add up values: one host for each kBytesWorthAHost bytes of all ranks' values,
  // and at least one host.
  Slice chunks_of(std::size_t host) const {
    const std::size_t n = request_.world_size;
    // In 64 bits: a rank with 32-bit addresses must come to the same result as all other ranks.
    const std::uint64_t bytes_of_all = std::uint64_t{n} * request_.count * request_.element_bytes;
    const std::uint64_t worth = std::max<std::uint64_t>(1, bytes_of_all / kBytesWorthAHost);
    const std::size_t adding = base::at_most(hosts_.size(), worth);
    return host < adding ? slice_of(n, host, adding) : Slice{};
  }

  Slice chunk(std::size_t index) const {
    return chunk_of({0, request_.count}, index, request_.world_size);
  }

  // Returns the elements of the chunks that `host` adds up.
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

  // Sends a bundle to each other host. The bundle has the values that the other host adds up: those
  // of each rank of this host, rank after rank.
  void give_bundles() {
    for (std::size_t hop = 1; hop < hosts_.size(); ++hop) {
      const Slice part = part_of_host(ahead(hop));
      Place bundle = within(own_values_.front(), part);
      if (own_values_.size() > 1) {
        bundle = plan_.scratch(part.count, own_values_.size());
        for (std::size_t i = 0; i < own_values_.size(); ++i) {
          plan_.copy(within(own_values_[i], part), within(bundle, {i * part.count, part.count}));
        }
      }
      plan_.send(hub_of(ahead(hop)), bundle);
    }
  }

  // Receives the bundles, and sets terms_.
  void take_bundles() {
    const Slice part = part_of_host(host_);
    terms_.resize(request_.world_size);
    for (std::size_t i = 0; i < own_values_.size(); ++i) {
      terms_[hosts_[host_][i]] = within(own_values_[i], part);
    }
    for (std::size_t hop = hosts_.size() - 1; hop > 0; --hop) {
      const HostRanks& ranks = hosts_[ahead(hop)];
      const Place bundle = plan_.scratch(part.count, ranks.size());
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

  // Adds the terms of chunk c in the order c + 1, c + 2, …, c. At first, the sum is in the place of
  // the first term. When this rank's own term is added, the sum moves to the place of the own term.
  // That place is in the values.
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

  // receive_answer() receives an answer to all messages that this rank has sent so far. The sums of
  // other hosts answer this host's bundles, and do not answer this host's sums. So the plan lists
  // the receives before the sends.
  void exchange_sums() {
    for (std::size_t hop = hosts_.size() - 1; hop > 0; --hop) {
      plan_.receive_answer(hub_of(ahead(hop)), values_at(part_of_host(ahead(hop))));
    }
    const Place own = values_at(part_of_host(host_));
    for (std::size_t hop = 1; hop < hosts_.size(); ++hop) plan_.send(hub_of(ahead(hop)), own);
  }

  const PlanRequest& request_;
  std::vector<HostRanks> hosts_;
  std::size_t host_;  // This rank's host.
  PlanBuilder plan_;
  // Only a hub uses the next two members.
  std::vector<Place> own_values_;  // All values of each rank of the host; the hub first.
  std::vector<Place> terms_;       // Index = rank; value = the rank's term of this host's part.
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

// Direct: each rank exchanges values with all other ranks in one hop instead of n - 1 hops. Each
// rank sends as many bytes as on the ring. Direct suits worlds in which a hop costs more than the
// bytes that it moves, or in which peers read each other's memory. Its chunks and its order of
// additions are the ring's, and so are its bits.
#include "base/assert.h"
#include "collectives/algorithms.h"

namespace rota::collectives {
namespace {

class Direct {
 public:
  explicit Direct(const PlanRequest& request)
      : request_(request), n_(request.world_size), plan_(request) {}

  Plan make() {
    switch (request_.collective) {
      case Collective::kAllReduce: {
        const std::vector<Slice> chunks = cut({0, request_.count}, n_);
        const Place result = values_at(chunks[request_.rank]);
        scatter(chunks, result);
        gather(chunks, result);
        break;
      }
      case Collective::kReduceScatter: {
        const Slice own = part_of(request_, request_.rank);
        scatter(parts(), values_at(request_.in_place ? own : Slice{0, own.count}));
        break;
      }
      case Collective::kAllGather: {
        const Slice own = part_of(request_, request_.rank);
        const Place input = input_at({0, own.count});
        gather(parts(), request_.in_place ? values_at(own) : input);
        if (!request_.in_place) plan_.copy(input, values_at(own));
        break;
      }
      case Collective::kGather:
        to_root();
        break;
      case Collective::kScatter:
        from_root();
        break;
      case Collective::kAllToAll:
        exchange();
        break;
      case Collective::kSend:
        send();
        break;
      case Collective::kReceive:
        receive();
        break;
      default:
        ROTA_ASSERT(false);
    }
    return plan_.build();
  }

 private:
  std::size_t ahead(std::size_t hops) const { return (request_.rank + hops) % n_; }

  std::vector<Slice> parts() const {
    std::vector<Slice> parts;
    for (std::size_t rank = 0; rank < n_; ++rank) parts.push_back(part_of(request_, rank));
    return parts;
  }

  // Returns the place of this rank's contribution to `chunk`. If the input must be multiplied, the
  // plan first copies it to scratch memory, because no step writes the input.
  Place contribution(Slice chunk) {
    if (request_.in_place) {
      if (request_.pre_scales) plan_.pre_scale(values_at(chunk));
      return values_at(chunk);
    }
    if (!request_.pre_scales) return input_at(chunk);
    const Place place = plan_.scratch(chunk.count);
    plan_.copy(input_at(chunk), place);
    plan_.pre_scale(place);
    return place;
  }

  // Each rank adds up its own chunk, in the order rank + 1, rank + 2, …, rank.
  void scatter(const std::vector<Slice>& chunks, const Place& result) {
    for (std::size_t hop = 1; hop < n_; ++hop) {
      plan_.send(ahead(hop), contribution(chunks[ahead(hop)]));
    }
    const Place own = contribution(chunks[request_.rank]);
    if (n_ == 1) return plan_.copy(own, result);
    if (own == result && n_ == 2) return plan_.reduce(ahead(1), result, true);
    const Place sum = own == result ? plan_.scratch(result.slice.count) : result;
    plan_.receive(ahead(1), sum);
    for (std::size_t hop = 2; hop < n_; ++hop) plan_.reduce(ahead(hop), sum, false);
    if (own == result) {
      plan_.add(sum, result, true);
    } else {
      plan_.add(own, result, true);
    }
  }

  void gather(const std::vector<Slice>& chunks, const Place& own) {
    for (std::size_t hop = 1; hop < n_; ++hop) {
      plan_.send(ahead(hop), own);
      plan_.receive(ahead(n_ - hop), values_at(chunks[ahead(n_ - hop)]));
    }
  }

  void to_root() {
    const Slice own = part_of(request_, request_.rank);
    if (request_.rank != request_.root) return plan_.send(request_.root, input_at({0, own.count}));
    if (!request_.in_place) plan_.copy(input_at({0, own.count}), values_at(own));
    for (std::size_t hop = 1; hop < n_; ++hop) {
      plan_.receive(ahead(hop), values_at(part_of(request_, ahead(hop))));
    }
  }

  void from_root() {
    const Slice own = part_of(request_, request_.rank);
    if (request_.rank != request_.root) {
      return plan_.receive(request_.root, values_at({0, own.count}));
    }
    for (std::size_t hop = 1; hop < n_; ++hop) {
      plan_.send(ahead(hop), input_at(part_of(request_, ahead(hop))));
    }
    if (!request_.in_place) plan_.copy(input_at(own), values_at({0, own.count}));
  }

  void exchange() {
    const PlanRequest received = received_parts();
    const Place own = values_at(part_of(received, request_.rank));
    const bool stays = request_.in_place && own == values_at(part_of(request_, request_.rank));
    const std::vector<Place> parts = outgoing_parts(stays ? n_ - 1 : n_);
    for (std::size_t hop = 1; hop < n_; ++hop) {
      plan_.send(ahead(hop), parts[hop - 1]);
      plan_.receive(ahead(n_ - hop), values_at(part_of(received, ahead(n_ - hop))));
    }
    if (!stays) plan_.copy(parts.back(), own);
  }

  // Returns the places of the parts for the ranks 1 to `hops` ahead. With `hops` = n, the last part
  // is this rank's own. If the call is in place, the plan first copies the parts to scratch memory,
  // because received parts overwrite the values.
  std::vector<Place> outgoing_parts(std::size_t hops) {
    std::vector<Place> parts;
    for (std::size_t hop = 1; hop <= hops; ++hop) {
      const Slice part = part_of(request_, ahead(hop));
      parts.push_back(request_.in_place ? plan_.scratch(part.count) : input_at(part));
      if (request_.in_place) plan_.copy(values_at(part), parts.back());
    }
    return parts;
  }

  // A send of 0 elements also sends a message, so that a receiver with another count detects the
  // difference.
  void send() {
    if (request_.count == 0) return plan_.send_bare(request_.root);
    plan_.send(request_.root, input_at({0, request_.count}));
  }

  void receive() {
    if (request_.count == 0) return plan_.receive_bare(request_.root);
    plan_.receive(request_.root, values_at({0, request_.count}));
  }

  PlanRequest received_parts() const {
    PlanRequest received = request_;
    if (!request_.counts.empty()) received.counts = request_.receive_counts;
    return received;
  }

  const PlanRequest& request_;
  std::size_t n_;
  PlanBuilder plan_;
};

}  // namespace

Plan direct_plan(const PlanRequest& request) { return Direct(request).make(); }

}  // namespace rota::collectives

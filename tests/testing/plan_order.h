// The orders in which the steps of all ranks can run: which step waits for which.
//
// This class relies on these promises of the code that runs plans, and of the transports:
// - A step has a start and an end. The steps of a lane run one after the other: a step starts when
//   the step before it has ended. It also waits for the ends that its `afters` name. Lanes have no
//   other order, although one thread runs them all: a step may move its bytes little by little, and
//   steps of other lanes run in between.
// - The n-th message from rank A to rank B goes from the n-th step of A's sending lane to the n-th
//   step of B's receiving lane. A receive starts after its send has started.
// - A send may read its place at any time between its start and its end. A receive, and likewise a
//   local step, may write its place at any time between its own start and end.
// - Over a buffered wire (TCP) a send ends when the wire has taken the bytes. That says nothing
//   about the receiver. Over an in-place wire (shared memory) the receiver reads the sender's place
//   directly, and the send ends after the receive has ended. All other wires are between these two.
//
// A plan has to be right over any wire. So a step is *before* another only if the buffered wire
// orders them, because the buffered wire orders the fewest steps. Whether a step waits for ever is
// decided over the in-place wire, where sends wait most. On that wire the receiver reads between
// the start and the end of the send, so an order with the send is an order with that read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/plan.h"

namespace rota::testing {

class PlanOrder {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Steps are numbered over all ranks, lane by lane. Lanes are numbered rank by rank.
  struct Node {
    const collectives::Step* step = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t index = 0;  // In its lane.
  };
  struct Lane {
    collectives::Lane::Kind kind = collectives::Lane::Kind::kLocal;
    std::uint32_t rank = 0;
    std::uint32_t peer = 0;
    std::uint32_t first = 0;        // Its first node.
    std::uint32_t count = 0;        // Number of nodes.
    std::uint32_t partner = kNone;  // The lane at the other end, if any.
  };

  // `plans`: in rank order; they must outlive this object.
  explicit PlanOrder(const std::vector<collectives::Plan>& plans);

  std::size_t rank_count() const { return first_lanes_.size() - 1; }
  std::size_t node_count() const { return nodes_.size(); }
  const Node& node(std::uint32_t number) const { return nodes_[number]; }
  const Lane& lane_of(std::uint32_t number) const { return lanes_[nodes_[number].lane]; }
  std::span<const Lane> lanes() const { return lanes_; }
  std::uint32_t first_lane(std::size_t rank) const { return first_lanes_[rank]; }
  std::uint32_t lane_count(std::size_t rank) const {
    return first_lanes_[rank + 1] - first_lanes_[rank];
  }

  // Returns the steps of the same rank that have to end first. kNone: a dependency names a step
  // that does not exist.
  std::span<const std::uint32_t> before(std::uint32_t number) const {
    return std::span(before_).subspan(first_before_[number],
                                      first_before_[number + 1] - first_before_[number]);
  }
  // Returns the step at the other end of the message; kNone if there is none.
  std::uint32_t other_end(std::uint32_t number) const;

  // Returns one order in which all steps may start, if only sends take time. The order is complete
  // if no step waits for ever.
  std::span<const std::uint32_t> one_order() const { return order_; }

  // Returns a sentence about the first step that waits for ever, if there is one.
  const std::optional<std::string>& endless_wait() const { return endless_wait_; }

  // Returns whether `first` has always ended when `second` starts. Looks through all ranks: slow.
  bool is_before(std::uint32_t first, std::uint32_t second) const;

  // Returns "step 2 to rank 1", "step 1 from rank 3" or "local step 4". Steps count from 1 in their
  // lane.
  std::string name(std::uint32_t number) const;

 private:
  void number_steps(const std::vector<collectives::Plan>& plans);
  void list_before(const std::vector<collectives::Plan>& plans);
  void join_lanes();

  std::vector<std::uint32_t> first_lanes_;  // Index = rank; one more entry at the end.
  std::vector<Lane> lanes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> first_before_;  // Index = node; one more entry at the end.
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> order_;
  std::optional<std::string> endless_wait_;
};

}  // namespace rota::testing

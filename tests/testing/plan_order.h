// In which orders the steps of all ranks can run: who waits for whom.
//
// What the engine and the transports promise, and this relies on:
// - A step has a start and an end. The steps of a lane run one after the other: a step starts when
//   the one before it has ended. It also waits for the ends that its `afters` name. Lanes are in no
//   other order, although one thread runs them all: a step may move its bytes little by little,
//   and steps of other lanes have their turns in between.
// - The n-th message from one rank to another goes from the n-th step of the one's sending lane to
//   the n-th step of the other's receiving lane. A receive starts after its send has started.
// - A send may read its place at any time between its start and its end. A receive may write its
//   place at any time between its own, and so may a local step.
// - Over a buffered wire (TCP) a send ends when the wire has taken the bytes. That says nothing
//   about the receiver. Over an in-place wire (shared memory) the receiver reads the sender's place
//   where it lies, and the send ends after the receive has ended. Others lie between these two.
//
// A plan has to be right over any wire. So a step is *before* another only if it is so over the
// buffered wire, which orders least; and a step waits for ever if it does so over the in-place
// wire, where sends wait most. On the latter the receiver reads between the start and the end of
// the send: what is ordered with the send is ordered with that read.
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

  // The steps of all ranks are numbered, lane by lane; so are the lanes, rank by rank.
  struct Node {
    const collectives::Step* step = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t index = 0;  // In its lane.
  };
  struct Lane {
    collectives::Lane::Kind kind = collectives::Lane::Kind::kLocal;
    std::uint32_t rank = 0;
    std::uint32_t peer = 0;
    std::uint32_t first = 0;        // Node.
    std::uint32_t count = 0;        // Of nodes.
    std::uint32_t partner = kNone;  // The lane at the other end of its messages, if there is one.
  };

  // `plans`: in rank order; they outlive this.
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

  // The steps of the same rank that have to end first; kNone: one that there is not.
  std::span<const std::uint32_t> before(std::uint32_t number) const {
    return std::span(before_).subspan(first_before_[number],
                                      first_before_[number + 1] - first_before_[number]);
  }
  // At the other end of the message, and kNone if there is none.
  std::uint32_t other_end(std::uint32_t number) const;

  // One order in which all steps may start, if sends alone take time. Complete if nobody waits for
  // ever.
  std::span<const std::uint32_t> one_order() const { return order_; }

  // A sentence about the first step that waits for ever, if there is one.
  const std::optional<std::string>& endless_wait() const { return endless_wait_; }

  // Whether one step has ended whenever the other one starts. Looks through all ranks: slow.
  bool is_before(std::uint32_t first, std::uint32_t second) const;

  // "step 2 to rank 1", "step 1 from rank 3", "local step 4": a step counts from 1 in its lane.
  std::string name(std::uint32_t number) const;

 private:
  void number_steps(const std::vector<collectives::Plan>& plans);
  void list_before(const std::vector<collectives::Plan>& plans);
  void join_lanes();

  std::vector<std::uint32_t> first_lanes_;  // By rank, and one behind the last.
  std::vector<Lane> lanes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> first_before_;  // By node, and one behind the last.
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> order_;
  std::optional<std::string> endless_wait_;
};

}  // namespace rota::testing

// Collects the steps of a plan in the order in which its author thinks of them, and derives what
// each has to wait for. A step lists no wait that follows from its others.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "collectives/plan.h"

namespace rota::collectives {

// Steps on places without elements are dropped: every rank drops the same ones. Bare messages are
// for where the message itself is the point.
class PlanBuilder {
 public:
  explicit PlanBuilder(std::size_t rank) noexcept : rank_(rank) {}

  void send(std::size_t peer, const Place& place);
  void receive(std::size_t peer, const Place& place);
  // The same of what the peer sends once it has received all that has been sent to it so far,
  // which is not nothing.
  void receive_answer(std::size_t peer, const Place& place);
  void reduce(std::size_t peer, const Place& place, bool last);
  // Once the first so many bare messages have come, the peer's own aside: it knows of those.
  void send_bare(std::size_t peer, std::size_t received = 0);
  void receive_bare(std::size_t peer);

  void copy(const Place& from, const Place& to);
  void add(const Place& from, const Place& to, bool last);
  void pre_scale(const Place& place);

  // To and from the place of the same elements in Buffer::kCoded.
  void encode(const Place& place, bool last);
  void decode(const Place& place);
  void decode_add(const Place& place, bool last);

  // A place of the plan's own.
  Place scratch(std::size_t count);

  Plan build();

 private:
  // What has been done to a run of elements, as lanes' finished steps.
  struct History {
    After written;            // By whom last; of count 0: by nobody.
    std::vector<After> read;  // Since then.
  };
  using Runs = std::map<std::size_t, History>;  // By offset; each up to the next.

  std::uint32_t lane(Lane::Kind kind, std::size_t peer);
  void split(Runs& runs, std::size_t offset);
  template <class F>
  void for_runs(const Place& place, F f);
  void wait_for_writers(const Place& place);
  void wait_for_all(const Place& place);
  void wait_for(const After& after);
  std::span<const std::uint32_t> ended_before(const After& after) const;
  bool follows_from_others(const After& after) const;
  After add_step(std::uint32_t lane, const Step& step);
  void learn(std::span<std::uint32_t> ended, const After& after) const;
  void add_local(const Step& step);
  void mark_read(const Place& place, After by);
  void mark_written(const Place& place, After by);

  std::size_t rank_;
  Plan plan_;
  std::vector<std::vector<Step>> lane_steps_;
  // How many steps of each lane have ended when a step starts, by lane. Further lanes: none.
  std::vector<std::uint32_t> ended_;
  std::vector<std::vector<Slice>> lane_ended_;  // Of ended_, for each of lane_steps_.
  std::array<Runs, kBufferCount> runs_;
  std::vector<After> pending_;     // Of the step that is being added.
  std::optional<After> answered_;  // What it answers: has started, and perhaps not ended.
  std::vector<After> bare_;        // The bare messages that come, in order.
};

}  // namespace rota::collectives

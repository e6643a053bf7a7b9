// Collects the steps of a plan in the order in which an algorithm adds them, and derives the waits
// of each step. A step does not list a wait that its other waits imply. If the channels cannot
// access the values, adds the steps that copy messages into and out of segments.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "collectives/plan.h"

namespace rota::collectives {

// Steps on empty places are dropped, on every rank alike. Bare messages carry no values: the
// message itself is the signal.
class PlanBuilder {
 public:
  explicit PlanBuilder(const PlanRequest& request) noexcept
      : rank_(request.rank),
        segment_count_(request.segment_count),
        most_scratch_(kMostBytes / request.element_bytes) {}

  void send(std::size_t peer, const Place& place);
  void receive(std::size_t peer, const Place& place);
  // Receives as receive() does, but the message is an answer. The peer sends it after receiving all
  // messages that this rank has sent to the peer so far. This rank must have sent at least one
  // message to the peer.
  void receive_answer(std::size_t peer, const Place& place);
  void reduce(std::size_t peer, const Place& place, bool last);
  // Sends a bare message once the first `received` bare messages have arrived. The send does not
  // wait for messages from `peer`, because the peer knows which messages it has sent.
  void send_bare(std::size_t peer, std::size_t received = 0);
  void receive_bare(std::size_t peer);

  void copy(const Place& from, const Place& to);
  void add(const Place& from, const Place& to, bool last);
  void pre_scale(const Place& place);

  // The next three functions work between `place` and the place of the same elements in
  // Buffer::kCoded.
  void encode(const Place& place, bool last);
  void decode(const Place& place);
  void decode_add(const Place& place, bool last);

  // Reserves a place in the plan's scratch memory, for `times` times `count` elements. Throws Error
  // kNoMemory if this machine has no addresses for so much.
  Place scratch(std::size_t count, std::size_t times = 1);

  Plan build();

 private:
  static constexpr std::size_t kMostBytes = std::numeric_limits<std::ptrdiff_t>::max();

  // The finished steps that have read or written some contiguous elements.
  struct History {
    After written;            // The last writer; count 0: none.
    std::vector<After> read;  // The readers since then.
  };
  using Runs = std::map<std::size_t, History>;  // Key: offset of a run of elements. A run
                                                // ends where the next run begins.

  // The messages of a sending or receiving lane, and its segments, which it uses one after another.
  struct Traffic {
    std::uint32_t messages = 0;
    std::uint32_t parts = 0;
    std::size_t first = 0;  // Of the segments in Buffer::kStaging, if there is a part.
  };

  bool stages(const Place& place) const noexcept {
    return segment_count_ > 0 && place.buffer != Buffer::kCoded;
  }
  Traffic& traffic_of(std::uint32_t lane);
  Slice next_segment(std::uint32_t lane, std::size_t count);
  template <class F>
  void for_parts(std::uint32_t lane, const Place& place, F f);
  void send_staged(std::size_t peer, const Place& place);
  void receive_staged(std::size_t peer, const Place& place, Verb verb, bool last);

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
  After add_message(std::uint32_t lane, const Step& step);
  After add_part(std::uint32_t lane, const Step& step, const Part& part);
  void learn(std::span<std::uint32_t> ended, const After& after) const;
  void add_local(const Step& step);
  void mark_read(const Place& place, After by);
  void mark_written(const Place& place, After by);

  std::size_t rank_;
  std::size_t segment_count_;
  std::size_t most_scratch_;  // Elements.
  Plan plan_;
  std::vector<std::vector<Step>> lane_steps_;
  std::vector<std::vector<Part>> lane_parts_;  // Indexed as lane_steps_, if the plan stages.
  std::vector<Traffic> traffic_;               // Index = lane.
  // Rows, one for each step: how many steps of each lane have ended when the step starts; index =
  // lane. A lane beyond the end of the row has ended no step.
  std::vector<std::uint32_t> ended_;
  std::vector<std::vector<Slice>> lane_ended_;  // Rows of ended_, indexed as lane_steps_.
  std::array<Runs, kBufferCount> runs_;
  std::vector<After> pending_;     // Waits of the step that is being added.
  std::optional<After> answered_;  // The answered send. It has started, but may not have ended.
  std::vector<After> bare_;        // The bare messages received, in order.
};

}  // namespace rota::collectives

// The loop over the lanes of a plan, and the work of one round for a send and for a receive.
#include "collectives/plan_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "collectives/device_executor.h"

namespace rota::collectives {

using transport::Channel;
using transport::Header;
using transport::Progress;

template <class Executor>
PlanRunBy<Executor>::PlanRunBy(std::span<Channel* const> channels, const Flags* flags,
                               std::size_t first_stream)
    : channels_(channels), flags_(flags), first_stream_(static_cast<std::uint32_t>(first_stream)) {
  lanes_.reserve((Executor::kStages ? 4 : 2) * channels.size() + 1);  // No plan has more lanes.
}

template <class Executor>
void PlanRunBy<Executor>::add_streams(const Operation& operation, Streams& streams) const noexcept {
  for (const Lane& lane : operation.planned->plan.lanes) {
    if (is_local(lane.kind)) continue;
    streams.add(first_stream_ + 2 * lane.peer + (lane.kind == Lane::Kind::kSends ? 0 : 1));
  }
}

template <class Executor>
void PlanRunBy<Executor>::start(const Operation& operation) {
  ROTA_ASSERT(done());
  operation_ = &operation;
  lanes_.assign(plan().lanes.size(), LaneState{});
  lanes_left_ = static_cast<std::uint32_t>(lanes_.size());
  if constexpr (Executor::kStages) executor_.start(operation, lanes_.size());
}

template <class Executor>
Turn PlanRunBy<Executor>::step() {
  bool moved = false;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].done < plan().lanes[lane].step_count && advance(lane)) moved = true;
  }
  if (done() && executor_has_come()) return Turn::kDone;
  return moved ? Turn::kMoved : Turn::kNothing;
}

template <class Executor>
bool PlanRunBy<Executor>::may_start(const Step& step) const noexcept {
  for (std::uint32_t i = 0; i < step.after_count; ++i) {
    const After& after = plan().afters[step.first_after + i];
    if (lanes_[after.lane].done < after.count) return false;
  }
  return true;
}

template <class Executor>
bool PlanRunBy<Executor>::advance(std::size_t lane) {
  const Lane& row = plan().lanes[lane];
  const Step& step = plan().steps[row.first_step + lanes_[lane].done];
  if (!lanes_[lane].started && !may_start(step)) return false;
  switch (row.kind) {
    case Lane::Kind::kSends:
      return advance_send(lane, step);
    case Lane::Kind::kReceives:
      return advance_receive(lane, step);
    case Lane::Kind::kLocal:
    case Lane::Kind::kFillsSegments:
    case Lane::Kind::kEmptiesSegments:
      return advance_local(lane, step);
  }
  ROTA_ASSERT(false);
}

template <class Executor>
bool PlanRunBy<Executor>::advance_send(std::size_t lane, const Step& step) {
  Channel& channel = *channels_[plan().lanes[lane].peer];
  const bool first = !lanes_[lane].started;
  if (first) {
    if (begins_message(lane)) {
      channel.start_send(header_of(lane, step), bytes_at(step.at));
    } else {
      channel.send_more(bytes_at(step.at));
    }
    lanes_[lane].started = true;
  }
  const Progress progress = channel.progress_send();
  if (progress == Progress::kDone) finish_step(lane);
  return first || progress != Progress::kNone;
}

template <class Executor>
bool PlanRunBy<Executor>::advance_receive(std::size_t lane, const Step& step) {
  Channel& channel = *channels_[plan().lanes[lane].peer];
  LaneState& state = lanes_[lane];
  const bool first = !state.started;
  if (first) {
    if (begins_message(lane)) {
      const Header* header = channel.incoming();
      if (!header) return false;
      check_header(*header, lane, step);
    }
    state.started = true;
  }
  const std::size_t taken = take_payload(channel, step, state);
  if (state.received < bytes_at(step.at).size()) return first || taken > 0;
  // If the peer's program got its memory back during the read, the values may be wrong. Then this
  // rank must not pass them on, so the step does not finish.
  if (!channel.is_intact()) return first || taken > 0;
  if (ends_message(lane)) channel.finish_receive();
  finish_step(lane);
  return true;
}

template <class Executor>
bool PlanRunBy<Executor>::advance_local(std::size_t lane, const Step& step) {
  const LocalStep local{*operation_, step, bytes_at(step.at), bytes_at(step.from)};
  if constexpr (Executor::kStages) {
    const bool first = !lanes_[lane].started;
    if (first) executor_.begin(lane, local);
    lanes_[lane].started = true;
    if (!executor_.is_done(lane)) return first;
  } else {
    executor_.begin(local);
  }
  finish_step(lane);
  return true;
}

template <class Executor>
std::size_t PlanRunBy<Executor>::take_payload(Channel& channel, const Step& step,
                                              LaneState& state) {
  const auto rest = bytes_at(step.at).subspan(state.received);
  if (rest.empty()) return 0;
  std::size_t taken = 0;
  if (step.verb == Verb::kReduce) {
    const auto view = channel.peek();
    const std::size_t count = view.size() / reducer().element_bytes();
    taken = count * reducer().element_bytes();
    reducer().add(rest.data(), view.data(), count, step.last);
    channel.release(taken);
  } else {
    taken = channel.receive(rest);
  }
  state.received += taken;
  return taken;
}

template <class Executor>
void PlanRunBy<Executor>::finish_step(std::size_t lane) {
  const std::uint32_t finished = lanes_[lane].done + 1;
  lanes_[lane] = {.done = finished};
  if (finished == plan().lanes[lane].step_count) --lanes_left_;
}

template <class Executor>
std::byte* PlanRunBy<Executor>::start_of(Buffer buffer) const noexcept {
  if constexpr (Executor::kStages) {
    if (buffer == Buffer::kStaging) return operation_->staging;
    if (buffer == Buffer::kScratch) {
      return operation_->planned->device_scratch.bytes().address();
    }
  }
  return operation_->buffers[static_cast<std::size_t>(buffer)];
}

template <class Executor>
std::span<std::byte> PlanRunBy<Executor>::bytes_at(const Place& place) const noexcept {
  std::byte* buffer = start_of(place.buffer);
  if (place.buffer == Buffer::kCoded) {
    return {buffer + coder().bytes(place.slice.offset), coder().bytes(place.slice.count)};
  }
  const std::size_t element_bytes = reducer().element_bytes();
  return {buffer + place.slice.offset * element_bytes, place.slice.count * element_bytes};
}

// Returns the header of the lane's next message. The last word of the signature is the index of the
// message in its lane.
template <class Executor>
Header PlanRunBy<Executor>::header_of(std::size_t lane, const Step& step) const noexcept {
  Header header{.bytes = bytes_at(step.at).size(), .signature = operation_->signature().words()};
  header.signature[3] = lanes_[lane].done;
  if constexpr (Executor::kStages) {
    const Part& part = part_of(lane);
    if (step.at.buffer == Buffer::kStaging) {
      header.bytes = part.count * reducer().element_bytes();
    }
    header.signature[3] = part.message;
  }
  return header;
}

template <class Executor>
void PlanRunBy<Executor>::check_header(const Header& header, std::size_t lane,
                                       const Step& step) const {
  const Header expected = header_of(lane, step);
  if (header.signature == expected.signature && header.bytes == expected.bytes) return;
  const std::size_t peer = plan().lanes[lane].peer;
  const Signature theirs(header.signature);
  std::string detail;
  if (theirs == operation_->signature()) {
    detail = ", which sends " + std::to_string(header.bytes) + " bytes instead of " +
             std::to_string(expected.bytes) + " (message " +
             std::to_string(header.signature[3] + 1) + ")";
  }
  throw mismatch(operation_->signature(), theirs, peer, detail);
}

template <class Executor>
void PlanRunBy<Executor>::compare_with(std::size_t peer) const {
  if (!flags_ || is_between_two(operation_->planned->call.collective)) return;
  const auto theirs = flags_->known_signature_of(peer, flags_->number() + 1);
  // Another sequence is no mismatch: a peer that has finished this operation may be in the next
  // one.
  if (!theirs || theirs->sequence() != operation_->sequence) return;
  throw mismatch(operation_->signature(), *theirs, peer);
}

template <class Executor>
std::optional<Wait> PlanRunBy<Executor>::waiting() const noexcept {
  if (done()) return std::nullopt;
  std::optional<Wait> found;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const Lane& row = plan().lanes[lane];
    const LaneState& state = lanes_[lane];
    if (state.done == row.step_count) continue;
    // A local step that is under way is the device's, and peers may wait for it.
    if (is_local(row.kind) && state.started) return std::nullopt;
    const Step& step = plan().steps[row.first_step + state.done];
    if (is_local(row.kind) || (!state.started && !may_start(step))) continue;
    const bool sends = row.kind == Lane::Kind::kSends;
    // A missing message tells more than an unfinished send. A step never waits for a later step of
    // the plan, so the earliest step is the cause: ranks that wait in a circle blame the rank that
    // began the circle.
    if (found && std::pair(found->sends, found->step) <= std::pair(sends, state.done)) continue;
    found = {row.peer, sends, state.done, row.step_count, state.received, bytes_at(step.at).size()};
  }
  return found;
}

template <class Executor>
std::string_view PlanRunBy<Executor>::keeps_buffers() const noexcept {
  if constexpr (Executor::kStages) {
    return executor_.is_idle() ? "" : "a device";
  }
  return {};
}

template class PlanRunBy<HostExecutor>;
template class PlanRunBy<DeviceExecutor>;

std::unique_ptr<Running> Plans::make_place(std::size_t, std::size_t first_stream) {
  first_stream_ = first_stream;
  return std::make_unique<PlanRun>(channels_, flags_, first_stream);
}

std::unique_ptr<Running> DevicePlans::make_place(std::size_t, std::size_t) {
  return std::make_unique<PlanRunBy<DeviceExecutor>>(plans_.channels(), plans_.flags(),
                                                     plans_.first_stream());
}

}  // namespace rota::collectives

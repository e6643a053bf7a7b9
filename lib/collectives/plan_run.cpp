// The loop over the lanes of a plan, and what a send and a receive do in one round of it.
#include "collectives/plan_run.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::collectives {

using transport::Channel;
using transport::Header;
using transport::Progress;

PlanRun::PlanRun(std::span<Channel* const> channels, const Flags* flags, std::size_t first_stream)
    : channels_(channels), flags_(flags), first_stream_(static_cast<std::uint32_t>(first_stream)) {
  lanes_.reserve(2 * channels.size() + 1);  // No plan has more.
}

void PlanRun::add_streams(const Operation& operation, Streams& streams) const noexcept {
  for (const Lane& lane : operation.planned->plan.lanes) {
    if (lane.kind == Lane::Kind::kLocal) continue;
    streams.add(first_stream_ + 2 * lane.peer + (lane.kind == Lane::Kind::kSends ? 0 : 1));
  }
}

void PlanRun::start(const Operation& operation) {
  ROTA_ASSERT(done());
  operation_ = &operation;
  lanes_.assign(plan().lanes.size(), LaneState{});
  lanes_left_ = static_cast<std::uint32_t>(lanes_.size());
}

Turn PlanRun::step() {
  bool moved = false;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].done < plan().lanes[lane].step_count && advance(lane)) moved = true;
  }
  if (done()) return Turn::kDone;
  return moved ? Turn::kMoved : Turn::kNothing;
}

bool PlanRun::may_start(const Step& step) const noexcept {
  for (std::uint32_t i = 0; i < step.after_count; ++i) {
    const After& after = plan().afters[step.first_after + i];
    if (lanes_[after.lane].done < after.count) return false;
  }
  return true;
}

bool PlanRun::advance(std::size_t lane) {
  const Lane& row = plan().lanes[lane];
  const Step& step = plan().steps[row.first_step + lanes_[lane].done];
  if (!lanes_[lane].started && !may_start(step)) return false;
  switch (row.kind) {
    case Lane::Kind::kSends:
      return advance_send(lane, step);
    case Lane::Kind::kReceives:
      return advance_receive(lane, step);
    case Lane::Kind::kLocal:
      return advance_local(lane, step);
  }
  ROTA_ASSERT(false);
}

bool PlanRun::advance_send(std::size_t lane, const Step& step) {
  Channel& channel = *channels_[plan().lanes[lane].peer];
  const bool first = !lanes_[lane].started;
  if (first) {
    channel.start_send(header_of(lane, step), bytes_at(step.at));
    lanes_[lane].started = true;
  }
  const Progress progress = channel.progress_send();
  if (progress == Progress::kDone) finish_step(lane);
  return first || progress != Progress::kNone;
}

bool PlanRun::advance_receive(std::size_t lane, const Step& step) {
  Channel& channel = *channels_[plan().lanes[lane].peer];
  LaneState& state = lanes_[lane];
  const bool first = !state.started;
  if (first) {
    const Header* header = channel.incoming();
    if (!header) return false;
    check_header(*header, lane, step);
    state.started = true;
  }
  const std::size_t taken = take_payload(channel, step, state);
  if (state.received < bytes_at(step.at).size()) return first || taken > 0;
  // What the peer has taken back while it was read must not be passed on: the step stays open.
  if (!channel.is_intact()) return first || taken > 0;
  channel.finish_receive();
  finish_step(lane);
  return true;
}

bool PlanRun::advance_local(std::size_t lane, const Step& step) noexcept {
  std::byte* to = bytes_at(step.at).data();
  const std::byte* from = bytes_at(step.from).data();
  const std::size_t count = step.at.slice.count;
  switch (step.verb) {
    case Verb::kCopy:
      std::memcpy(to, from, bytes_at(step.at).size());
      break;
    case Verb::kAdd:
      reducer().add(to, from, count, step.last);
      break;
    case Verb::kPreScale:
      reducer().pre_scale(to, count);
      break;
    case Verb::kEncode:
      encode(step);
      break;
    case Verb::kDecode:
      coder().decode(to, from, count);
      break;
    case Verb::kDecodeAdd:
      coder().decode_add(to, from, count, step.last);
      break;
    case Verb::kSend:
    case Verb::kReceive:
    case Verb::kReduce:
      ROTA_ASSERT(false);
  }
  finish_step(lane);
  return true;
}

void PlanRun::encode(const Step& step) const noexcept {
  std::byte* feedback = operation_->buffers[static_cast<std::size_t>(Buffer::kFeedback)];
  if (feedback) feedback = bytes_at({Buffer::kFeedback, step.from.slice}).data();
  coder().encode(bytes_at(step.at).data(), bytes_at(step.from).data(), feedback,
                 step.from.slice.count, step.from.slice.offset, operation_->sequence, step.last);
}

std::size_t PlanRun::take_payload(Channel& channel, const Step& step, LaneState& state) {
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

void PlanRun::finish_step(std::size_t lane) {
  const std::uint32_t finished = lanes_[lane].done + 1;
  lanes_[lane] = {.done = finished};
  if (finished == plan().lanes[lane].step_count) --lanes_left_;
}

std::span<std::byte> PlanRun::bytes_at(const Place& place) const noexcept {
  std::byte* buffer = operation_->buffers[static_cast<std::size_t>(place.buffer)];
  if (place.buffer == Buffer::kCoded) {
    return {buffer + coder().bytes(place.slice.offset), coder().bytes(place.slice.count)};
  }
  const std::size_t element_bytes = reducer().element_bytes();
  return {buffer + place.slice.offset * element_bytes, place.slice.count * element_bytes};
}

// The signature, and the how-manieth message in its direction this is.
Header PlanRun::header_of(std::size_t lane, const Step& step) const noexcept {
  Header header{.bytes = bytes_at(step.at).size(), .signature = operation_->signature().words()};
  header.signature[3] = lanes_[lane].done;
  return header;
}

void PlanRun::check_header(const Header& header, std::size_t lane, const Step& step) const {
  const Header expected = header_of(lane, step);
  if (header.signature == expected.signature && header.bytes == expected.bytes) return;
  const std::size_t peer = plan().lanes[lane].peer;
  const Signature theirs(header.signature);
  std::string detail;
  if (theirs == operation_->signature()) {
    detail = ", which sends " + std::to_string(header.bytes) + " bytes where " +
             std::to_string(expected.bytes) + " are expected (message " +
             std::to_string(header.signature[3] + 1) + ")";
  }
  throw mismatch(operation_->signature(), theirs, peer, detail);
}

void PlanRun::compare_with(std::size_t peer) const {
  if (!flags_ || is_between_two(operation_->planned->call.collective)) return;
  const auto* words = flags_->signature_of(peer, flags_->number() + 1);
  if (!words) return;
  const Signature theirs(*words);
  // A peer that has done with this operation may be in the next one.
  if (theirs.sequence() != operation_->sequence) return;
  throw mismatch(operation_->signature(), theirs, peer);
}

std::optional<Wait> PlanRun::waiting() const noexcept {
  if (done()) return std::nullopt;
  std::optional<Wait> found;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const Lane& row = plan().lanes[lane];
    const LaneState& state = lanes_[lane];
    if (state.done == row.step_count) continue;
    const Step& step = plan().steps[row.first_step + state.done];
    if (row.kind == Lane::Kind::kLocal || (!state.started && !may_start(step))) continue;
    const bool sends = row.kind == Lane::Kind::kSends;
    // A missing arrival says more than an unfinished departure, and what comes first in the plan
    // does not wait for what comes later: so ranks that wait in a circle blame who began it.
    if (found && std::pair(found->sends, found->step) <= std::pair(sends, state.done)) continue;
    found = {row.peer, sends, state.done, row.step_count, state.received, bytes_at(step.at).size()};
  }
  return found;
}

std::unique_ptr<Running> Plans::make_place(std::size_t, std::size_t first_stream) {
  return std::make_unique<PlanRun>(channels_, flags_, first_stream);
}

}  // namespace rota::collectives

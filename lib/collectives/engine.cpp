// The loop over the lanes of a plan, and what a send and a receive do in one round of it.
#include "collectives/engine.h"

#include <algorithm>
#include <string>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::collectives {

using transport::Channel;
using transport::Header;
using transport::Progress;

Engine::Engine(std::span<Channel* const> channels) : channels_(channels.begin(), channels.end()) {
  lanes_.reserve(2 * channels.size());  // No plan has more.
}

void Engine::start(const Operation& operation) {
  ROTA_ASSERT(done());
  operation_ = operation;
  signature_ = pack(operation.signature);
  lanes_.assign(operation.plan->lanes.size(), LaneState{});
  lanes_left_ = lanes_.size();
}

bool Engine::step(base::TimePoint now) {
  bool moved = false;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].done < operation_.plan->lanes[lane].step_count && advance(lane)) moved = true;
  }
  if (moved) moved_at_ = now;
  return moved;
}

bool Engine::may_start(const Step& step) const noexcept {
  return step.after_count == 0 || lanes_[step.after_lane].done >= step.after_count;
}

bool Engine::advance(std::size_t lane) {
  const Lane& row = operation_.plan->lanes[lane];
  const Step& step = operation_.plan->steps[row.first_step + lanes_[lane].done];
  if (!lanes_[lane].started && !may_start(step)) return false;
  return row.sends ? advance_send(lane, step) : advance_receive(lane, step);
}

bool Engine::advance_send(std::size_t lane, const Step& step) {
  Channel& channel = *channels_[operation_.plan->lanes[lane].peer];
  const bool first = !lanes_[lane].started;
  if (first) {
    channel.start_send(header_of(step), bytes_of_chunk(step));
    lanes_[lane].started = true;
  }
  const Progress progress = channel.progress_send();
  if (progress == Progress::kDone) finish_step(lane);
  return first || progress != Progress::kNone;
}

bool Engine::advance_receive(std::size_t lane, const Step& step) {
  const std::uint32_t peer = operation_.plan->lanes[lane].peer;
  Channel& channel = *channels_[peer];
  LaneState& state = lanes_[lane];
  const bool first = !state.started;
  if (first) {
    const Header* header = channel.incoming();
    if (!header) return false;
    check_signature(*header, peer, step);
    state.started = true;
  }
  const std::size_t taken = take_payload(channel, step, state);
  if (state.received < bytes_of_chunk(step).size()) return first || taken > 0;
  channel.finish_receive();
  finish_step(lane);
  return true;
}

std::size_t Engine::take_payload(Channel& channel, const Step& step, LaneState& state) {
  const auto rest = bytes_of_chunk(step).subspan(state.received);
  if (rest.empty()) return 0;
  std::size_t taken = 0;
  if (step.verb == Verb::kReduce) {
    const auto view = channel.peek();
    const std::size_t count = view.size() / operation_.reducer->element_bytes();
    taken = count * operation_.reducer->element_bytes();
    operation_.reducer->add(rest.data(), view.data(), count, step.last);
    channel.release(taken);
  } else {
    taken = channel.receive(rest);
  }
  state.received += taken;
  return taken;
}

void Engine::finish_step(std::size_t lane) {
  const std::uint32_t finished = lanes_[lane].done + 1;
  lanes_[lane] = {.done = finished};
  if (finished == operation_.plan->lanes[lane].step_count) --lanes_left_;
}

std::span<std::byte> Engine::bytes_of_chunk(const Step& step) const noexcept {
  const Slice& chunk = operation_.plan->chunks[step.chunk];
  const std::size_t element_bytes = operation_.reducer->element_bytes();
  return {operation_.data + chunk.offset * element_bytes, chunk.count * element_bytes};
}

Header Engine::header_of(const Step& step) const noexcept {
  Header header{.bytes = bytes_of_chunk(step).size(), .signature = signature_};
  header.signature[3] = step.chunk;
  return header;
}

void Engine::check_signature(const Header& header, std::size_t peer, const Step& step) const {
  const Header expected = header_of(step);
  if (header.signature == expected.signature && header.bytes == expected.bytes) return;
  const Signature theirs = unpack(header.signature);
  std::string text = "this rank is in " + to_text(operation_.signature) + ", rank " +
                     std::to_string(peer) + " in " + to_text(theirs);
  if (pack(theirs) == signature_) {
    text += ", at chunk " + std::to_string(header.signature[3]) + " instead of " +
            std::to_string(step.chunk);
  }
  throw Error(ErrorCode::kMismatch,
              text + ": every rank must make the same calls in the same order", peer);
}

std::optional<Wait> Engine::waiting() const noexcept {
  std::optional<Wait> found;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const Lane& row = operation_.plan->lanes[lane];
    const LaneState& state = lanes_[lane];
    if (state.done == row.step_count) continue;
    const Step& step = operation_.plan->steps[row.first_step + state.done];
    if (!state.started && !may_start(step)) continue;
    if (found && row.sends) continue;  // A missing arrival says more than an unfinished departure.
    found = {row.peer,       row.sends,      state.done,
             row.step_count, state.received, bytes_of_chunk(step).size()};
    if (!row.sends) break;
  }
  return found;
}

}  // namespace rota::collectives

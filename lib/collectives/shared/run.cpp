// Runs the phases of a collective over shared memory, waits until all ranks have reduced their
// slices, and tells which rank it waits for.
#include "collectives/shared/run.h"

#include <algorithm>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::collectives {

SharedRun::SharedRun(Flags& flags, std::span<transport::Channel* const> channels, std::size_t place,
                     std::size_t first_stream)
    : flags_(&flags),
      channels_(channels),
      place_(static_cast<std::uint32_t>(place)),
      first_stream_(static_cast<std::uint32_t>(first_stream)),
      shares_(flags.world_size()),
      posts_(flags.world_size()),
      slice_reducer_(flags.world_size()) {}

bool SharedRun::gives(std::size_t rank) const noexcept { return gives_in(call(), rank); }

bool SharedRun::takes(std::size_t rank) const noexcept { return takes_in(call(), rank); }

void SharedRun::add_streams(const Operation& operation, Streams& streams) const noexcept {
  if (!needs_stage(operation)) return streams.add(first_stream_ + place_);
  for (std::size_t i = 0; i < kMostRunning; ++i) streams.add(first_stream_ + i);
}

Turn SharedRun::step() {
  const Turn turn = go_on();
  if (turn == Turn::kDone) phase_ = Phase::kDone;
  return turn;
}

Turn SharedRun::go_on() {
  switch (phase_) {
    case Phase::kMeets:
      return meet();
    case Phase::kStages:
      return stage();
    case Phase::kReduces:
      return reduce();
    case Phase::kWaits:
      return wait_for_all();
    case Phase::kDone:
      break;
  }
  ROTA_ASSERT(false);
}

Turn SharedRun::wait_for_all() {
  if (!all_are_done()) return Turn::kNothing;
  return is_staged_ ? go_on_with_next_segment() : Turn::kDone;
}

bool SharedRun::all_are_done() noexcept {
  for (; seen_ < flags_->world_size(); ++seen_) {
    if (!flags_->is_done(seen_, awaited_) && !shares_.is_empty(seen_)) return false;
  }
  return true;
}

void SharedRun::compare_with(std::size_t peer) const {
  if (channels_[peer]) compare_with_message(*operation_, *channels_[peer], peer);
}

void compare_with_message(const Operation& operation, transport::Channel& channel,
                          std::size_t peer) {
  const transport::Header* header = channel.incoming();
  if (!header) return;
  const Signature theirs(header->signature);
  // A send is no mismatch, because it is not a collective. Another sequence is no mismatch either:
  // a peer that has finished this collective may be in the next one.
  if (theirs.collective() == Collective::kSend) return;
  if (theirs.sequence() != operation.sequence) return;
  throw mismatch(operation.signature(), theirs, peer);
}

std::optional<Wait> SharedRun::waiting() const noexcept {
  if (phase_ == Phase::kReduces || phase_ == Phase::kDone) return std::nullopt;
  const bool travels = travels_with_post(bytes());
  const std::size_t own_bytes = travels ? 0 : own_.count * element_bytes();
  Wait wait{.peer = std::min(seen_, flags_->world_size() - 1),
            .step = phase_ == Phase::kWaits ? 1U : 0U,
            .step_count = travels ? 1U : 2U,
            .step_bytes = own_bytes};
  if (phase_ == Phase::kWaits) wait.bytes = own_bytes;
  return wait;
}

}  // namespace rota::collectives

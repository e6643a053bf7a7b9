// Lets devices reduce where they can reach all values. Otherwise brings values from the device,
// runs the collective in host memory, and takes the result back.
#include "collectives/shared/device_run.h"

#include <algorithm>

#include "base/assert.h"
#include "device/begin.h"

namespace rota::collectives {
namespace {

// Returns whether the values stay on devices if all ranks have theirs there.
bool may_stay_there(const PlannedCollective& planned) noexcept {
  return !SharedRun::travels_with_post(bytes_of(planned)) && !planned.reducer.needs_pre_scale();
}

}  // namespace

DeviceSharedRun::DeviceSharedRun(DeviceWays& ways, Flags& flags,
                                 std::span<transport::Channel* const> channels, std::size_t place,
                                 std::size_t first_stream)
    : ways_(ways),
      flags_(flags),
      channels_(channels),
      in_host_(flags, channels, place, first_stream),
      first_stream_(first_stream) {}

void DeviceSharedRun::add_streams(const Operation&, Streams& streams) const noexcept {
  for (std::size_t i = 0; i < kMostRunning; ++i) streams.add(first_stream_ + i);
}

void DeviceSharedRun::start(const Operation& operation) {
  operation_ = &operation;
  seen_ = 0;
  if (SharedRun::travels_with_post(bytes_of(operation)) || !ways_.peers.offer(operation)) {
    return go_through_host();
  }
  if (!operation.arrivals) return begin_to_show();
  ways_.peers.hold(operation);
  phase_ = Phase::kArrives;
}

Turn DeviceSharedRun::step() {
  switch (phase_) {
    case Phase::kArrives:
      return arrive();
    case Phase::kShows:
      return show();
    case Phase::kMeets:
      return meet();
    case Phase::kReduces:
      return reduce();
    case Phase::kWaits:
      return wait_for_all();
    case Phase::kBrings:
      return bring();
    case Phase::kRuns:
      return run();
    case Phase::kTakes:
      return take();
    case Phase::kDone:
      break;
  }
  ROTA_ASSERT(false);
}

Turn DeviceSharedRun::arrive() {
  if (!ways_.peers.is_done()) return Turn::kNothing;
  begin_to_show();
  return Turn::kMoved;
}

void DeviceSharedRun::begin_to_show() {
  number_ = flags_.number() + 1;
  flags_.show_on_device(operation_->planned->signature, operation_->sequence,
                        ways_.peers.offset_of_offer());
  phase_ = Phase::kShows;
}

// A rank shows its values before it posts. So a rank that has posted, and has shown nothing, shows
// nothing in this collective. All ranks come to the same result.
Turn DeviceSharedRun::show() {
  for (; seen_ < flags_.world_size(); ++seen_) {
    const bool has_posted = flags_.post_of(seen_, number_) != nullptr;
    if (flags_.has_shown(seen_, number_)) continue;
    if (!has_posted) return Turn::kNothing;
    go_through_host();
    return Turn::kMoved;
  }
  if (!ways_.peers.open_all(*operation_)) flags_.refuse();
  number_ = flags_.post(operation_->planned->signature, operation_->sequence, {}, 0);
  phase_ = Phase::kMeets;
  seen_ = 0;
  return Turn::kMoved;
}

Turn DeviceSharedRun::meet() {
  for (; seen_ < flags_.world_size(); ++seen_) {
    const Post* post = flags_.post_of(seen_, number_);
    if (!post) return Turn::kNothing;
    if (flags_.agrees(*post, number_)) continue;
    const Signature theirs(*flags_.signature_of(seen_, number_));
    throw mismatch(operation_->signature(), theirs, seen_);
  }
  if (flags_.broken()) return Turn::kNothing;
  flags_.pass_turn();
  for (std::size_t rank = 0; rank < flags_.world_size(); ++rank) {
    if (!flags_.has_refused(rank)) continue;
    ways_.peers.give_up();
    go_through_host();  // With another post, on all ranks.
    return Turn::kMoved;
  }
  ways_.went_through_host.store(false, std::memory_order_relaxed);
  if (has_share(flags_.rank())) ways_.peers.begin(*operation_);
  count_sent();
  phase_ = Phase::kReduces;
  return Turn::kMoved;
}

bool DeviceSharedRun::has_share(std::size_t rank) const noexcept {
  return DevicePeers::share_of(*operation_, rank, flags_.world_size()).count > 0;
}

// Counts the bytes of this rank's values that other ranks read, and the bytes that this rank writes
// to the values of other ranks.
void DeviceSharedRun::count_sent() const noexcept {
  const std::size_t own =
      DevicePeers::share_of(*operation_, flags_.rank(), flags_.world_size()).count *
      operation_->planned->reducer.element_bytes();
  std::uint64_t sent = gives_in(call(), flags_.rank()) ? bytes_of(*operation_) - own : 0;
  for (std::size_t rank = 0; rank < flags_.world_size(); ++rank) {
    if (rank != flags_.rank() && takes_in(call(), rank)) sent += own;
  }
  flags_.count_sent(sent);
}

Turn DeviceSharedRun::reduce() {
  const bool has_own = has_share(flags_.rank());
  if (has_own && !ways_.peers.is_done()) return Turn::kNothing;
  share_ = has_own ? flags_.say_done() : flags_.pass_over();
  phase_ = Phase::kWaits;
  seen_ = 0;
  return Turn::kMoved;
}

Turn DeviceSharedRun::wait_for_all() {
  for (; seen_ < flags_.world_size(); ++seen_) {
    if (has_share(seen_) && !flags_.is_done(seen_, share_)) return Turn::kNothing;
  }
  phase_ = Phase::kDone;
  return Turn::kDone;
}

void DeviceSharedRun::go_through_host() {
  const std::size_t bytes = bytes_of(*operation_);
  if (may_stay_there(*operation_->planned)) {
    ways_.went_through_host.store(true, std::memory_order_relaxed);
  }
  if (bytes > 0) {
    ways_.stage.prepare(call().memory.device(), bytes, operation_->staging, operation_->arrivals);
  }
  staged_ = *operation_;
  // Whether or not the caller's input is separate, the stage has the input, and then the result.
  std::byte* const stage = ways_.stage.data();
  staged_.buffers[static_cast<std::size_t>(Buffer::kInput)] = stage;
  staged_.buffers[static_cast<std::size_t>(Buffer::kValues)] = stage;
  if (bytes == 0 || !gives_in(call(), flags_.rank())) return run_in_host();
  phase_ = Phase::kBrings;  // First: if this throws, keeps_buffers() looks at the phase.
  ways_.stage.begin_to_bring(contribution_of(*operation_), bytes);
}

Turn DeviceSharedRun::bring() {
  const Turn turn = ways_.stage.go_on();
  if (turn != Turn::kDone) return turn;
  run_in_host();
  return Turn::kMoved;
}

void DeviceSharedRun::run_in_host() {
  in_host_.start(staged_);
  phase_ = Phase::kRuns;
}

Turn DeviceSharedRun::run() {
  const Turn turn = in_host_.step();
  if (turn != Turn::kDone) return turn;
  const std::size_t bytes = bytes_of(*operation_);
  if (bytes == 0 || !takes_in(call(), flags_.rank())) {
    phase_ = Phase::kDone;
    return Turn::kDone;
  }
  ways_.stage.begin_to_take(buffer_of(*operation_, Buffer::kValues), bytes);
  phase_ = Phase::kTakes;
  return Turn::kMoved;
}

Turn DeviceSharedRun::take() {
  const Turn turn = ways_.stage.go_on();
  if (turn == Turn::kDone) phase_ = Phase::kDone;
  return turn;
}

std::optional<Wait> DeviceSharedRun::waiting() const noexcept {
  switch (phase_) {
    case Phase::kShows:
    case Phase::kMeets:
    case Phase::kWaits:
      return Wait{.peer = std::min(seen_, flags_.world_size() - 1),
                  .step = phase_ == Phase::kWaits ? 1U : 0U,
                  .step_count = 2};
    case Phase::kRuns:
      return in_host_.waiting();
    case Phase::kArrives:
    case Phase::kReduces:
    case Phase::kBrings:
    case Phase::kTakes:
    case Phase::kDone:
      break;
  }
  return std::nullopt;
}

void DeviceSharedRun::compare_with(std::size_t peer) const {
  if (phase_ == Phase::kRuns) return in_host_.compare_with(peer);
  const bool meets = phase_ == Phase::kShows || phase_ == Phase::kMeets;
  if (meets && channels_[peer]) compare_with_message(*operation_, *channels_[peer], peer);
}

// Once this rank has posted, the device of another rank may use this rank's values. This rank
// cannot know until when.
std::string_view DeviceSharedRun::keeps_buffers() const noexcept {
  if (phase_ == Phase::kDone) return {};  // Another run may use what all have.
  const bool is_shared =
      phase_ == Phase::kMeets || phase_ == Phase::kReduces || phase_ == Phase::kWaits;
  if (is_shared) return "a device of another rank";
  return ways_.stage.is_idle() && ways_.peers.is_idle() ? "" : "a device";
}

// Pins memory as large as the values only if they will go through it, or if those of the last such
// call did: it shows while an operation is under way whether its values stay on devices.
std::byte* DeviceSharedCollectives::make_staging(const PlannedCollective& planned,
                                                 std::uint64_t number, std::uint64_t finished) {
  const std::size_t bytes = bytes_of(planned);
  if (bytes == 0) return nullptr;
  device::begin_use(planned.call.memory.device());  // Pinned memory takes a device that is in use.
  ways_.stage.make_pieces();
  const bool will_go =
      planned.reducer.needs_pre_scale() || ways_.went_through_host.load(std::memory_order_relaxed);
  if (!will_go || SharedRun::travels_with_post(bytes)) return pinned_.at_hand(bytes, number);
  return pinned_.memory_for(bytes, number, finished);
}

std::unique_ptr<Running> DeviceSharedCollectives::make_place(std::size_t place, std::size_t) {
  return std::make_unique<DeviceSharedRun>(ways_, shared_.flags(), shared_.channels(), place,
                                           shared_.first_stream());
}

}  // namespace rota::collectives

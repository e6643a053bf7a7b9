// Starts operations in their order, and finishes each when it is done.
#include "communicator/window.h"

#include <algorithm>

namespace rota {
namespace {

using collectives::Buffer;
using collectives::PlannedCollective;
using collectives::Streams;

Extent extent_at(const std::byte* start, std::size_t bytes) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  return {address, address + bytes};
}

// Returns the extent from the first part to the last part. This extent includes the memory between
// parts.
Extent extent_of(const Packing& packing) noexcept {
  Extent all{~std::uintptr_t{0}, 0};
  for (const Values& part : packing.parts) {
    const Extent own = extent_at(part.data(), part.count() * bytes_of(part.type()));
    if (own.begin == own.end) continue;
    all = {std::min(all.begin, own.begin), std::max(all.end, own.end)};
  }
  return all.end == 0 ? Extent{} : all;
}

MemoryUse memory_of(const QueuedOperation& operation) noexcept {
  if (operation.packing) return {.read = {}, .written = {extent_of(*operation.packing)}};
  const auto extent = [&](Buffer which, std::size_t bytes) {
    return extent_at(operation.buffers[static_cast<std::size_t>(which)], bytes);
  };
  const PlannedCollective& planned = *operation.planned;
  return {.read = extent(Buffer::kInput, planned.input_bytes),
          .written = {extent(Buffer::kValues, planned.value_bytes),
                      extent(Buffer::kFeedback, planned.feedback_bytes)}};
}

}  // namespace

Window::Window(OperationQueue& queue, std::span<const std::unique_ptr<collectives::Method>> methods,
               const transport::Transport* transport)
    : queue_(queue), transport_(transport) {
  places_.reserve(methods.size() * kPlaces);
  std::size_t streams = 0;
  for (const auto& method : methods) {
    starts_in_order_.push_back(method->starts_in_order());
    for (std::size_t place = 0; place < kPlaces; ++place) {
      places_.push_back(method->make_place(place, streams));
    }
    streams += method->stream_count();
  }
  stream_words_.resize(kPlaces * Streams::words_for(streams));
}

Window::Turn Window::turn() {
  bool moved = false;
  while (true) {
    const std::uint64_t oldest = queue_.finished() + 1;
    admit(oldest);
    bool moves = false;
    for (std::uint64_t number = oldest; number <= admitted_; ++number) {
      const Turn turn = advance(number, number == oldest);
      if (turn == Turn::kBroken) return turn;
      moves |= turn == Turn::kMoved;
    }
    if (!moves) return moved ? Turn::kMoved : Turn::kNothing;
    moved = true;
    std::uint64_t next = oldest;
    for (; next <= admitted_ && state_of(next) == State::kFinished; ++next) queue_.pop();
    if (next == oldest || next > queue_.submitted()) return Turn::kMoved;
  }
}

void Window::admit(std::uint64_t oldest) noexcept {
  const std::uint64_t last = std::min(queue_.submitted(), oldest + kPlaces - 1);
  while (admitted_ < last) state_of(++admitted_) = State::kWaits;
}

Window::Turn Window::advance(std::uint64_t number, bool is_oldest) {
  State& state = state_of(number);
  if (state == State::kFinished) return Turn::kNothing;
  const QueuedOperation& operation = queue_.at(number);
  collectives::Running& place = place_of(operation, number);
  if (state == State::kWaits) {
    if (!is_oldest && !may_start(number)) return Turn::kNothing;
    if (operation.packing) copy_in(*operation.packing);
    state = State::kRuns;
    place.start(operation);
  }
  if (state == State::kRuns) {
    const collectives::Turn turn = place.step();
    if (turn != collectives::Turn::kDone) {
      return turn == collectives::Turn::kMoved ? Turn::kMoved : Turn::kNothing;
    }
    state = State::kDone;
  }
  // A peer that fails takes its values back, and may change them. Values that this rank reads from
  // the peer afterwards are not the values that the peer offered. A peer announces its failure
  // before it takes anything back, so this check comes after all reads.
  if (transport_ && transport_->broken()) return Turn::kBroken;
  if (operation.packing) copy_out(*operation.packing);
  queue_.mark_done(number);
  state = State::kFinished;
  return Turn::kMoved;
}

bool Window::may_start(std::uint64_t number) noexcept {
  std::uint64_t& awaited = waits_for_[number % kPlaces];
  const std::uint64_t oldest = queue_.finished() + 1;
  if (awaited >= oldest && awaited < number && waits_for(number, awaited)) return false;
  for (std::uint64_t before = oldest; before < number; ++before) {
    if (!waits_for(number, before)) continue;
    awaited = before;
    return false;
  }
  return true;
}

bool Window::waits_for(std::uint64_t number, std::uint64_t before) noexcept {
  if (state_of(before) == State::kFinished) return false;
  const std::uint8_t method = queue_.at(number).planned->method;
  const bool has_turn = !starts_in_order_[method] || queue_.at(before).planned->method != method ||
                        state_of(before) != State::kWaits;
  return !has_turn || shares_memory(number, before) || shares_scratch(number, before) ||
         streams_of(before).meets(streams_of(number));
}

bool Window::shares_memory(std::uint64_t number, std::uint64_t before) noexcept {
  return memory_of(queue_.at(number)).conflicts_with(memory_of(queue_.at(before)));
}

// Equal calls have one plan, and the memory of this plan. With messages they also share streams. In
// a world of one, no plan has a message.
bool Window::shares_scratch(std::uint64_t number, std::uint64_t before) const noexcept {
  const PlannedCollective* planned = queue_.at(number).planned;
  return planned == queue_.at(before).planned &&
         (planned->plan.scratch_count > 0 || planned->plan.coded_count > 0);
}

// Streams are computed only if another operation is under way, and once per operation.
Streams Window::streams_of(std::uint64_t number) noexcept {
  const std::size_t words = stream_words_.size() / kPlaces;
  const std::span<std::uint64_t> all(stream_words_);
  Streams streams{all.subspan(number % kPlaces * words, words)};
  if (streams_known_[number % kPlaces] == number) return streams;
  streams_known_[number % kPlaces] = number;
  streams.clear();
  const QueuedOperation& operation = queue_.at(number);
  place_of(operation, number).add_streams(operation, streams);
  return streams;
}

std::string_view Window::keeps_buffers() const noexcept {
  for (const auto& place : places_) {
    if (const auto keeper = place->keeps_buffers(); !keeper.empty()) return keeper;
  }
  return {};
}

const QueuedOperation* Window::held_up_by_memory() noexcept {
  for (std::uint64_t number = queue_.finished() + 1; number <= admitted_; ++number) {
    for (std::uint64_t before = queue_.finished() + 1; before < number; ++before) {
      const bool waits = state_of(number) == State::kWaits;
      if (waits && state_of(before) != State::kFinished && shares_memory(number, before)) {
        return &queue_.at(number);
      }
    }
  }
  return nullptr;
}

}  // namespace rota

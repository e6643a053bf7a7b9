// A call of a Communicator before its arguments are checked: the description, and the addresses of
// all buffers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <rota/values.h>

#include "collectives/description.h"
#include "communicator/known_addresses.h"

namespace rota {

struct Call {
  collectives::Description what{};        // Incomplete until look_at_buffers().
  std::optional<Values> values{};         // Written by the call.
  std::optional<ConstValues> input{};     // Only read.
  std::span<const std::size_t> counts{};  // Elements of uneven parts; all_to_all_v: to send.
  std::span<const std::size_t> receive_counts{};  // all_to_all_v: to receive.
  std::span<const Values> group{};                // In a grouped call, instead of `values`.
  std::optional<Values> feedback{};               // For a codec.
  // The codec's number for random draws. look_at_buffers() moves it from `what` to here: calls that
  // differ only in this number use one plan.
  std::uint64_t draw = 0;

  // Completes `what` from the buffers. Type and count are set as if every rank gave the same count.
  void look_at_buffers() noexcept {
    what.type = DataType::kByte;
    const auto add = [this](const auto& run) {
      what.type = run.type();
      what.memory = run.memory();
      what.count = run.count();
    };
    if (values) {
      add(*values);
    } else if (input) {
      add(*input);
    } else if (!group.empty()) {
      add(group.front());
      for (const Values& part : group.subspan(1)) what.count += part.count();
    }
    what.in_place = !input;
    what.codec = what.reduction.codec().value_or(Codec::kIdentity);
    what.feeds_back = feedback.has_value();
    if (what.reduction.draw() == 0) return;
    draw = what.reduction.draw();
    what.reduction = what.reduction.drawn_by(0);
  }
};

// Returns whether the buffers pass the checks that depend on their addresses, except for the memory
// in which the addresses are. If so, the call is valid if a call with the same description and the
// same buffer sizes was valid. Not for uneven calls and calls with a feedback. The buffers of a
// group are not checked here.
inline bool is_plain(const Call& call) noexcept {
  const auto is_good = [](const auto& run) {
    const auto address = reinterpret_cast<std::uintptr_t>(run.data());
    return address != 0 && (address & (bytes_of(run.type()) - 1)) == 0;
  };
  if (call.values && !is_good(*call.values)) return false;
  if (!call.input) return true;
  if (!is_good(*call.input)) return false;
  return !call.values || (call.values->type() == call.input->type() &&
                          call.values->memory() == call.input->memory() &&
                          (call.input->data() >= call.values->data() + call.values->bytes() ||
                           call.values->data() >= call.input->data() + call.input->bytes()));
}

// Checks a call and returns its description. Requires an earlier look_at_buffers(). Throws Error
// kInvalidArgument with a message that tells what does not fit. Chooses no algorithm. If the caller
// names no codec, chooses no codec either. `known`: addresses whose memory need not be asked for;
// may be null. Addresses that pass the checks are added to it.
collectives::Description describe(const Call& call, std::size_t rank, std::size_t world_size,
                                  KnownAddresses* known = nullptr);

}  // namespace rota

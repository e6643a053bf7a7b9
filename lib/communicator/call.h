// What a caller asks a Communicator for, before anybody has looked whether it makes sense: what it
// is, and where everything lies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <rota/values.h>

#include "collectives/description.h"

namespace rota {

struct Call {
  collectives::Description what{};                // At first, but for what the rest shows.
  std::optional<Values> values{};                 // To be changed.
  std::optional<ConstValues> input{};             // To be read.
  std::span<const std::size_t> counts{};          // Of uneven parts; of all_to_all_v: sent.
  std::span<const std::size_t> receive_counts{};  // Of all_to_all_v.
  std::span<const Values> group{};                // Instead of `values`.
  std::optional<Values> feedback{};               // Of a codec.

  // Makes `what` complete; type and count are as if every rank gave as many.
  void look_at_buffers() noexcept {
    what.type = DataType::kByte;
    const auto add = [this](const auto& run) {
      what.type = run.type();
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
  }
};

// Whether a call that asks for the same, of as many values, makes sense where this one does: there
// is nothing to look at but its buffers, and they are good. Those of a group are left to whoever
// knows them.
inline bool is_plain(const Call& call) noexcept {
  const auto is_good = [](const auto& run) {
    const auto address = reinterpret_cast<std::uintptr_t>(run.data());
    return address != 0 && (address & (bytes_of(run.type()) - 1)) == 0;
  };
  if (call.what.uneven || call.what.feeds_back) return false;
  if (call.values && !is_good(*call.values)) return false;
  if (!call.input) return true;
  if (!is_good(*call.input)) return false;
  return !call.values || (call.values->type() == call.input->type() &&
                          (call.input->data() >= call.values->data() + call.values->bytes() ||
                           call.values->data() >= call.input->data() + call.input->bytes()));
}

// Requires that its buffers were looked at. Throws Error kInvalidArgument with a sentence that says
// what does not fit. Of the description, the algorithm is left open, and the codec where the caller
// names none.
collectives::Description describe(const Call& call, std::size_t rank, std::size_t world_size);

}  // namespace rota

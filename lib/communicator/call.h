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
  collectives::Description what{};                // But for what shows in the following.
  std::optional<Values> values{};                 // To be changed.
  std::optional<ConstValues> input{};             // To be read.
  std::span<const std::size_t> counts{};          // Of uneven parts; of all_to_all_v: sent.
  std::span<const std::size_t> receive_counts{};  // Of all_to_all_v.
  std::span<const Values> group{};                // Instead of `values`.
  std::optional<Values> feedback{};               // Of a codec.
};

// What it asks for, with what shows in its buffers: type and count as if every rank gave as many.
inline collectives::Description asked_by(const Call& call) noexcept {
  collectives::Description what = call.what;
  what.type = DataType::kByte;
  const auto add = [&what](const auto& values) {
    what.type = values.type();
    what.count = values.count();
  };
  if (call.values) {
    add(*call.values);
  } else if (call.input) {
    add(*call.input);
  } else if (!call.group.empty()) {
    add(call.group.front());
    for (const Values& values : call.group.subspan(1)) what.count += values.count();
  }
  what.in_place = !call.input.has_value();
  what.codec = what.reduction.codec().value_or(Codec::kIdentity);
  what.feeds_back = call.feedback.has_value();
  return what;
}

// Whether another call has only to ask for the same to show that this one makes sense: one address
// is all that it has, and a good one. Those of a group are left to whoever knows them.
inline bool is_plain(const Call& call) noexcept {
  if (call.input || call.what.uneven || call.feedback) return false;
  if (!call.values) return true;
  const std::size_t bytes = bytes_of(call.values->type());
  return call.values->data() &&
         (reinterpret_cast<std::uintptr_t>(call.values->data()) & (bytes - 1)) == 0;
}

// Throws Error kInvalidArgument with a sentence that says what does not fit. Of the description,
// the algorithm is left open, and the codec where the caller names none.
collectives::Description describe(const Call& call, std::size_t rank, std::size_t world_size);

}  // namespace rota

// Does the local steps of plans whose values are in host memory: each at once, in the call that
// begins it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "collectives/operation.h"
#include "collectives/planned.h"

namespace rota::collectives {

// A local step of an operation, and its addresses.
struct LocalStep {
  const Operation& operation;
  const Step& step;
  std::span<std::byte> to;    // Step::at.
  std::span<std::byte> from;  // Step::from, for verbs with a source.

  const PlannedCollective& planned() const noexcept { return *operation.planned; }
  // Returns the feedback of the source, or null if the call has none. For kEncode.
  std::byte* feedback() const noexcept {
    std::byte* all = operation.buffers[static_cast<std::size_t>(Buffer::kFeedback)];
    return all ? all + step.from.slice.offset * planned().reducer.element_bytes() : nullptr;
  }
  // Returns the number on which the random draws of a codec depend.
  std::uint64_t draw() const noexcept {
    return operation.draw != 0 ? operation.draw : operation.sequence;
  }
};

// An executor begins local steps and tells when they are done. It never waits.
class HostExecutor {
 public:
  // Whether messages go through segments, and steps may end later than they begin.
  static constexpr bool kStages = false;

  void begin(const LocalStep& local) const noexcept {
    const Reducer& reducer = local.planned().reducer;
    const Step& step = local.step;
    const std::size_t count = step.at.slice.count;
    std::byte* to = local.to.data();
    const std::byte* from = local.from.data();
    switch (step.verb) {
      case Verb::kCopy:
        std::memcpy(to, from, local.to.size());
        break;
      case Verb::kAdd:
        reducer.add(to, from, count, step.last);
        break;
      case Verb::kPreScale:
        reducer.pre_scale(to, count);
        break;
      case Verb::kEncode:
        local.planned().coder->encode(to, from, local.feedback(), step.from.slice.count,
                                      step.from.slice.offset, local.draw(), step.last);
        break;
      case Verb::kDecode:
        local.planned().coder->decode(to, from, count);
        break;
      case Verb::kDecodeAdd:
        local.planned().coder->decode_add(to, from, count, step.last);
        break;
      case Verb::kSend:
      case Verb::kReceive:
      case Verb::kReduce:
        ROTA_ASSERT(false);
    }
  }
};

}  // namespace rota::collectives

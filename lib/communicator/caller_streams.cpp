// Goes through the buffers of a call, and names the one whose stream is refused.
#include "communicator/caller_streams.h"

#include <string>

#include "communicator/operation_queue.h"
#include "device/calls.h"

namespace rota {
namespace {

bool has_streams(const Call& call) noexcept {
  const auto has_stream = [](const auto& run) { return run && run->stream() != 0; };
  return has_stream(call.values) || has_stream(call.input) || has_stream(call.feedback) ||
         std::ranges::any_of(call.group, [](const Values& part) { return part.stream() != 0; });
}

void note_run(const Call& call, const char* name, const ConstValues& run,
              device::Arrivals& arrivals) {
  if (run.stream() == 0) return;
  const std::uint8_t device = run.memory().device();
  device::check_stream(arrivals.note({.device = device, .stream = run.stream()}), device,
                       std::string(to_string(call.what.collective)) + ": " + name);
}

}  // namespace

const device::Arrivals* CallerStreams::note(const Call& call, std::uint64_t number) {
  if (!has_streams(call)) return nullptr;
  arrivals_.resize(OperationQueue::kCapacity);
  device::Arrivals& arrivals = arrivals_[number % OperationQueue::kCapacity];
  arrivals.clear();
  if (call.values) note_run(call, "the output's stream", *call.values, arrivals);
  if (call.input) note_run(call, "the input's stream", *call.input, arrivals);
  if (call.feedback) note_run(call, "the feedback's stream", *call.feedback, arrivals);
  for (const Values& part : call.group) {
    note_run(call, "the stream of a buffer of the group", part, arrivals);
  }
  return &arrivals;
}

}  // namespace rota

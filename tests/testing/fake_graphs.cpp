// The fake device's functions for graphs: it keeps the operations of a captured stream, and puts
// them on the stream again for each launch.
#include <mutex>
#include <thread>
#include <utility>

#include "testing/fake_inside.h"
#include "testing/fake_search.h"
#include "testing/fake_state.h"

namespace rota::testing {
namespace {

using cuda::Handle;
using cuda::On;
using State = FakeDevice::State;

FakeStream* stream_of(State& own, const On& on) {
  const auto found = own.streams.find(on.stream);
  const bool is_there = found != own.streams.end() && found->second.device == on.device;
  return is_there ? &found->second : nullptr;
}

int begin_capture(const On& on) noexcept {
  State& own = state_of_fake();
  const std::scoped_lock lock(own.mutex);
  if (const int error = own.begin(FakeCall::kBeginCapture); error != 0) return error;
  FakeStream* const stream = stream_of(own, on);
  if (!stream || stream->is_captured) return kFakeInvalid;
  stream->is_captured = true;
  stream->capturer = std::this_thread::get_id();
  return 0;
}

int end_capture(const On& on, Handle& graph) noexcept {
  State& own = state_of_fake();
  const std::scoped_lock lock(own.mutex);
  FakeStream* const stream = stream_of(own, on);
  if (!stream || !stream->is_captured) return kFakeInvalid;
  if (stream->capturer != std::this_thread::get_id()) own.commit("another thread ends a capture");
  stream->is_captured = false;
  std::vector<FakeWork> work = std::exchange(stream->captured, {});
  if (const int error = own.begin(FakeCall::kEndCapture); error != 0) return error;
  own.graphs[graph = ++own.last_handle] = {.device = on.device, .work = std::move(work)};
  return 0;
}

// The last operation of a launch counts it off.
int launch_graph(const On& on, Handle handle) noexcept {
  State& own = state_of_fake();
  const std::scoped_lock lock(own.mutex);
  if (const int error = own.begin(FakeCall::kLaunchGraph); error != 0) return error;
  FakeStream* const stream = stream_of(own, on);
  const auto graph = own.graphs.find(handle);
  if (!stream) return kFakeNoStream;
  if (graph == own.graphs.end() || graph->second.device != on.device || stream->is_captured) {
    own.commit("a graph is launched that is not there, not any more, or of another device");
    return kFakeInvalid;
  }
  for (const FakeWork& work : graph->second.work) {
    if (work.recorded != 0 && !own.event(work.recorded)) {
      own.commit("a graph records an event that was destroyed");
      return kFakeInvalid;
    }
    own.put(*stream, work);
  }
  ++graph->second.under_way;
  own.put(*stream, {.piece = [handle](State& all) {
    --all.graphs.at(handle).under_way;
    return true;
  }});
  return 0;
}

int destroy_graph(std::uint8_t, Handle handle) noexcept {
  State& own = state_of_fake();
  const std::scoped_lock lock(own.mutex);
  const auto graph = own.graphs.find(handle);
  if (graph == own.graphs.end()) {
    own.commit("a graph is destroyed that is not there, or not any more");
    return kFakeInvalid;
  }
  if (graph->second.under_way > 0 && !own.is_faulted) {
    own.commit("a graph is destroyed while a launch is under way");
  }
  own.graphs.erase(graph);
  return 0;
}

}  // namespace

void add_graphs(cuda::Calls& calls) {
  calls.begin_capture = begin_capture;
  calls.end_capture = end_capture;
  calls.launch_graph = launch_graph;
  calls.destroy_graph = destroy_graph;
}

}  // namespace rota::testing

// Captures passes, and keeps their graphs.
#include "nn/pass_graphs.h"

#include <algorithm>
#include <cstdio>

namespace rota::nn {
namespace {

// Passes of further keys are not captured. A training run has few: two sizes of batches, in the
// forward and the backward pass, and micro-batches that add.
constexpr std::size_t kMostGraphs = 16;

}  // namespace

PassGraphs::PassGraphs(DeviceWork& work)
    : work_(work), is_refused_(work.calls().begin_capture == nullptr) {
  known_.reserve(kMostGraphs);
}

PassGraphs::Known* PassGraphs::find(const Key& key) noexcept {
  const auto found = std::ranges::find(known_, key, &Known::key);
  return found == known_.end() ? nullptr : &*found;
}

bool PassGraphs::launch(const Key& key) {
  const Known* const known = find(key);
  if (known == nullptr || known->graph == 0) return false;
  work_.check(work_.calls().launch_graph(work_.on(), known->graph), "the launch of a graph");
  return true;
}

// Returns whether the stream is captured now.
bool PassGraphs::begins_capture(const Key& key) {
  if (is_refused_) return false;
  if (find(key) == nullptr) {
    if (known_.size() < kMostGraphs) known_.push_back({key});
    return false;
  }
  const int error = work_.calls().begin_capture(work_.on());
  if (error != 0) refuse(device::text_of(error));
  return error == 0;
}

// Returns whether there is a graph of the key now.
bool PassGraphs::ends_capture(const Key& key) {
  cuda::Handle graph = 0;
  const int error = work_.calls().end_capture(work_.on(), graph);
  if (error != 0) refuse(device::text_of(error));
  if (is_refused_ && graph != 0) work_.calls().destroy_graph(work_.on().device, graph);
  if (!is_refused_) find(key)->graph = graph;
  return !is_refused_;
}

void PassGraphs::refuse(const std::string& why) {
  is_refused_ = true;
  if (why_.empty()) why_ = why;
}

// Says once why there are no graphs. Called after a pass that needed none: if the device has
// failed, an Error says more.
void PassGraphs::warn() {
  if (why_.empty()) return;
  const std::string line =
      "rota: warning: device " + std::to_string(work_.on().device) +
      " makes no graph of a training step, so small steps are slower: " + why_ + "\n";
  std::fputs(line.c_str(), stderr);  // In one write: other threads write there too.
  why_.clear();
}

void PassGraphs::clear() noexcept {
  const cuda::Calls* const calls = device::calls_in_use();
  for (const Known& known : known_) {
    if (known.graph != 0 && calls) calls->destroy_graph(work_.on().device, known.graph);
  }
  known_.clear();
}

}  // namespace rota::nn

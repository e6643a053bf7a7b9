// Fills the table's functions for graphs.
#include "cuda/graphs.h"

#include <cuda_runtime.h>

#include "cuda/with_device.h"

namespace rota::cuda {
namespace {

// CUDA could be asked for it, but each record of an event would have to ask.
thread_local Handle captured_stream = 0;

cudaStream_t captured(const On& on) noexcept {
  return reinterpret_cast<cudaStream_t>(on.stream);  // NOLINT(performance-no-int-to-ptr)
}
cudaGraphExec_t graph_of(Handle handle) noexcept {
  return reinterpret_cast<cudaGraphExec_t>(handle);  // NOLINT(performance-no-int-to-ptr)
}

// While one thread captures, other threads may call all of CUDA.
int begin_capture(const On& on) noexcept {
  const int error = with_device(on.device, [&] {
    return cudaStreamBeginCapture(captured(on), cudaStreamCaptureModeThreadLocal);
  });
  if (error == 0) captured_stream = on.stream;
  return error;
}

int end_capture(const On& on, Handle& graph) noexcept {
  captured_stream = 0;
  const Current current(on.device);
  if (current.error() != 0) return current.error();
  cudaGraph_t operations = nullptr;
  int error = forgotten(cudaStreamEndCapture(captured(on), &operations));
  cudaGraphExec_t made = nullptr;
  if (error == 0) error = forgotten(cudaGraphInstantiate(&made, operations, 0));
  if (operations != nullptr) forgotten(cudaGraphDestroy(operations));
  if (error == 0) graph = reinterpret_cast<Handle>(made);
  return error;
}

int launch_graph(const On& on, Handle graph) noexcept {
  return with_device(on.device, [&] { return cudaGraphLaunch(graph_of(graph), captured(on)); });
}

int destroy_graph(std::uint8_t device, Handle graph) noexcept {
  return with_device(device, [&] { return cudaGraphExecDestroy(graph_of(graph)); });
}

}  // namespace

bool is_captured(const On& on) noexcept {
  return captured_stream != 0 && captured_stream == on.stream;
}

// The default stream gives an error of its own while another stream of the program is captured.
int find_foreign_capture(const On& on) noexcept {
  if (is_captured(on)) return 0;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const int error = forgotten(cudaStreamIsCapturing(captured(on), &status));
  if (error != 0) return error;
  return status == cudaStreamCaptureStatusNone ? 0 : cudaErrorStreamCaptureUnsupported;
}

void add_graphs(Calls& calls) noexcept {
  calls.begin_capture = begin_capture;
  calls.end_capture = end_capture;
  calls.launch_graph = launch_graph;
  calls.destroy_graph = destroy_graph;
}

}  // namespace rota::cuda

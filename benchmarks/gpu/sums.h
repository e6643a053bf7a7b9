// The sums that the figures of all-reduces measure, and the check that comes before each figure.
// Nothing here needs CUDA, so tests run it over fakes.
#pragma once
#include <rota/communicator.h>
#include <rota/device_span.h>
#include <rota/reduce_op.h>

#include <string>

namespace rota::bench::gpu {

// NCCL runs sums of floats. It gets no maximum and no minimum of floats from rota.
inline constexpr ReduceOp kMeasuredOp = ReduceOp::kSum;

// How the values must travel.
enum class Way {
  kAny,
  kOnDevices,  // Not through host memory.
  kByNccl,     // Each sum by the table that counted() has returned.
};

// Collective, with the same arguments on all ranks. Sums all of `values`, and then all except the
// first, and compares both with the exact sums. Returns nothing if figures of such sums mean what
// their rows say. Otherwise every rank returns the same reason: "wrong values" if a rank got other
// sums, or else that the values of a rank went another way. run.sh knows the first one. Leaves
// zeros.
std::string why_no_figure(Communicator& comm, DeviceSpan<float> values, Way way);

}  // namespace rota::bench::gpu

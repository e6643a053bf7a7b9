// Starts kernels. A kernel is a struct with its arguments. It has phases, and between two phases
// all threads of a block wait for each other. So a compiler without CUDA can run a kernel as loops
// over blocks, phases and threads, and the tests need no GPU.
//
// A kernel has kThreads, the number of threads of a block; kPhases; Shared, the memory that a
// block's threads share; Local, what a thread keeps from phase to phase; and
//   template <unsigned kPhase>
//   ROTA_TARGET void run(const Place& place, Shared& shared, Local& local) const;
// Nothing initializes Shared and Local.
#pragma once
#include "kernels/cuda/launches.h"
#include "kernels/cuda/target.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include <vector>
#else
#include "kernels/cuda/host_run.h"
#endif

namespace rota::kernels::cuda {

struct Place {  // Which thread runs.
  unsigned block;
  unsigned blocks;
  unsigned thread;
};

struct Nothing {};

// Adds to a number that the threads of a block share, while other threads add to it too.
ROTA_TARGET inline void add_shared(unsigned& number, unsigned more) noexcept {
#if defined(__CUDA_ARCH__)
  atomicAdd(&number, more);
#else
  number += more;
#endif
}

#if defined(__CUDACC__)

template <unsigned kPhase, class Kernel>
__device__ void run_from(const Kernel& kernel, const Place& place, typename Kernel::Shared& shared,
                         typename Kernel::Local& local) {
  kernel.template run<kPhase>(place, shared, local);
  if constexpr (kPhase + 1 < Kernel::kPhases) {
    __syncthreads();
    run_from<kPhase + 1>(kernel, place, shared, local);
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads) run(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  typename Kernel::Local local;
  run_from<0>(kernel, {blockIdx.x, gridDim.x, threadIdx.x}, shared, local);
}

// The kernels that are launched anywhere, as the CUDA runtime knows them.
std::vector<const void*>& all_kernels();

template <class Kernel>
inline const bool kIsListed = [] {
  all_kernels().push_back(reinterpret_cast<const void*>(&run<Kernel>));
  return true;
}();

// Puts a kernel on the queue's stream. A kernel of no blocks does nothing.
template <class Kernel>
Status launch(const Queue& queue, std::size_t blocks, const Kernel& kernel) noexcept {
  static_cast<void>(kIsListed<Kernel>);
  if (blocks == 0) return cudaSuccess;
  if (blocks > 0x7fff'ffff) return cudaErrorInvalidConfiguration;
  run<<<static_cast<unsigned>(blocks), Kernel::kThreads, 0,
        static_cast<cudaStream_t>(queue.stream)>>>(kernel);
  return cudaGetLastError();
}

#else

template <unsigned kPhase, class Kernel>
void run_from(const Kernel& kernel, Place place, typename Kernel::Shared& shared,
              typename Kernel::Local* locals) noexcept {
  const host_run::Order threads(Kernel::kThreads);
  for (unsigned i = 0; i < Kernel::kThreads; ++i) {
    place.thread = threads[i];
    kernel.template run<kPhase>(place, shared, locals[place.thread]);
  }
  if constexpr (kPhase + 1 < Kernel::kPhases) run_from<kPhase + 1>(kernel, place, shared, locals);
}

template <class Kernel>
Status launch(const Queue&, std::size_t blocks, const Kernel& kernel) noexcept {
  const host_run::Order order(static_cast<unsigned>(blocks));
  const host_run::Uninitialized<typename Kernel::Shared> shared(1);
  const host_run::Uninitialized<typename Kernel::Local> locals(Kernel::kThreads);
  for (unsigned i = 0; i < blocks; ++i) {
    shared.forget();
    locals.forget();
    run_from<0>(kernel, {order[i], static_cast<unsigned>(blocks), 0}, *shared.data(),
                locals.data());
  }
  return 0;
}

#endif

}  // namespace rota::kernels::cuda

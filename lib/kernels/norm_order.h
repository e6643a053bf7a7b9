// Says in which order the squares of an array are added, on CPUs and on GPUs. The order depends on
// the number of elements alone, and suits both.
//
// A block has kNormBlock elements; the last block may have fewer. Element i of a block belongs to
// lane i mod kNormThreads * kNormLanes. Each lane adds its squares in order. The lanes of a thread
// are kNormLanes neighbours, which are added in order to the thread's sum. Then the upper half of
// the threads' sums is added to the lower half, until one sum is left: the sum of the block. The
// sum of block b belongs to thread b mod kNormThreads. Each thread adds the sums of its blocks in
// order, and the threads' sums are halved as before. Everything is computed in double.
#pragma once
#include <cstddef>

namespace rota::kernels {

inline constexpr std::size_t kNormBlock = 4096;
inline constexpr unsigned kNormThreads = 256;
inline constexpr unsigned kNormLanes = 4;

}  // namespace rota::kernels

// Lists the kernels for GPUs, as functions that put a kernel on a stream. librota_cuda.so has these
// functions. Nothing here needs CUDA's headers, so librota and its tests can include this file.
//
// Every kernel gives the bits of the CPU's "scalar". Only the bits of a NaN may differ.
//
// All addresses are of memory that the device of the stream can access. No array needs an alignment
// unless a comment says so, but arrays that begin at multiples of 16 bytes are the fastest. A
// function returns at once: its arrays are in use until the stream has come to the end of the
// kernel.
#pragma once
#include <cstddef>

#include "kernels/codings.h"
#include "kernels/cuda/model_launches.h"
#include "kernels/norm_order.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"

namespace rota::kernels::cuda {

inline constexpr unsigned kMostInputs = 8;

// Combines the inputs from left to right: ((inputs[0] op inputs[1]) op inputs[2]) and so on. For a
// mean, the last addition also multiplies by the factor. Elements of 16 bits are rounded after each
// operation, as if each input were combined by a kernel of its own. An output may be an input;
// otherwise no two arrays may overlap.
struct Reduction {
  const std::byte* inputs[kMostInputs];
  unsigned input_count;  // 2 to kMostInputs.
  std::byte* to;
  std::byte* also_to;  // A second output, or null.
  std::size_t count;
  double factor;
};
using Reduce = Status (*)(const Queue& queue, const Reduction& reduction) noexcept;

// Computes values[i] *= factor, as kernels::Scale does.
using Scale = Status (*)(const Queue& queue, std::byte* values, std::size_t count,
                         double factor) noexcept;

// Converts numbers to another type. Rounds to nearest, ties to even. Halves and float64 are
// converted through float.
using Cast = Status (*)(const Queue& queue, std::byte* to, const std::byte* from,
                        std::size_t count) noexcept;

// Writes the sum of the squares of `values` to *result, as kernels::Updates returns it. sums has
// norm_sums(count) elements, which the kernels use. Requires that `result` and `sums` have the
// alignment of double.
using SquaredNorm = Status (*)(const Queue& queue, double* result, double* sums,
                               const std::byte* values, std::size_t count) noexcept;

// Returns the number of blocks, each of which gives a sum.
constexpr std::size_t norm_sums(std::size_t count) noexcept {
  return (count + kNormBlock - 1) / kNormBlock;
}

struct TypeLaunches {  // The kernels of one type; null where there is none.
  Reduce reduce[kReduceOpCount] = {};
  Scale scale = nullptr;
  Cast cast_to[kDataTypeCount] = {};   // Between the four types of floating-point numbers.
  SquaredNorm squared_norm = nullptr;  // Of float32 and float64.
};

// What kernels::Coding does.
struct CodingLaunches {
  using Decode = Status (*)(const Queue& queue, std::byte* to, const std::byte* from,
                            const std::byte* coded, std::size_t count, float factor) noexcept;

  Status (*encode)(const Queue& queue, std::byte* coded, const std::byte* values, std::size_t count,
                   Dither dither) noexcept = nullptr;
  Decode decode = nullptr;
  Decode add = nullptr;
  Decode lose = nullptr;
};

// What kernels::Updates does, for all parameters of a bucket at once.
template <class T>
struct UpdateLaunches {
  Status (*sgd)(const Queue& queue, T* values, T* velocity, const T* gradient, std::size_t count,
                const Hyperparameters<T>& hyperparameters) noexcept;
  Status (*adam)(const Queue& queue, T* values, T* mean, T* mean_square, const T* gradient,
                 std::size_t count, const AdamFactors<T>& factors) noexcept;
};

struct Launches {
  TypeLaunches types[kDataTypeCount] = {};  // Indexed by DataType.
  CodingLaunches codecs[kCodecCount] = {};  // Indexed by Codec; empty for the identity.
  UpdateLaunches<float> float32 = {};
  UpdateLaunches<double> float64 = {};
  ModelLaunches models = {};

  const TypeLaunches& of(DataType type) const noexcept {
    return types[static_cast<std::size_t>(type)];
  }
  const CodingLaunches& of(Codec codec) const noexcept {
    return codecs[static_cast<std::size_t>(codec)];
  }
};

const Launches& launches() noexcept;

}  // namespace rota::kernels::cuda

// librota_cuda.so exports this function for tests and benchmarks of single kernels.
extern "C" __attribute__((visibility("default"))) const rota::kernels::cuda::Launches*
rota_kernels_of_cuda() noexcept;

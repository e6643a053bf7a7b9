// Gives kernels the arguments of the table's functions. This file needs nothing of CUDA: a test
// compiles it together with the kernels as plain C++.
#include "cuda/arithmetic.h"

#include <cstddef>

#include "cuda/on_queue.h"
#include "kernels/cuda/launches.h"

namespace rota::cuda {
namespace {

using kernels::cuda::Queue;
static_assert(Calls::kMostInputs == kernels::cuda::kMostInputs);

std::byte* bytes_at(void* address) noexcept { return static_cast<std::byte*>(address); }
const std::byte* bytes_at(const void* address) noexcept {
  return static_cast<const std::byte*>(address);
}

const kernels::cuda::CodingLaunches& kernels_of(Codec codec) noexcept {
  return kernels::cuda::launches().of(codec);
}

int combine(const On& on, void* accumulator, const void* input, std::size_t count, DataType type,
            ReduceOp op, double factor) noexcept {
  const auto reduce = kernels::cuda::launches().of(type).reduce[static_cast<std::size_t>(op)];
  return on_queue(on, [&](const Queue& queue) {
    return reduce(queue, {.inputs = {bytes_at(accumulator), bytes_at(input)},
                          .input_count = 2,
                          .to = bytes_at(accumulator),
                          .also_to = nullptr,
                          .count = count,
                          .factor = factor});
  });
}

int scale(const On& on, void* values, std::size_t count, DataType type, double factor) noexcept {
  return on_queue(on, [&](const Queue& queue) {
    return kernels::cuda::launches().of(type).scale(queue, bytes_at(values), count, factor);
  });
}

int encode(const On& on, void* coded, const void* values, std::size_t count, Codec codec,
           std::uint32_t key, std::uint32_t first) noexcept {
  return on_queue(on, [&](const Queue& queue) {
    return kernels_of(codec).encode(queue, bytes_at(coded), bytes_at(values), count,
                                    {.key = key, .first = first});
  });
}

int decode(const On& on, void* values, const void* coded, std::size_t count, Codec codec) noexcept {
  return on_queue(on, [&](const Queue& queue) {
    return kernels_of(codec).decode(queue, bytes_at(values), bytes_at(values), bytes_at(coded),
                                    count, 1);
  });
}

int decode_add(const On& on, void* values, const void* coded, std::size_t count, Codec codec,
               float factor) noexcept {
  return on_queue(on, [&](const Queue& queue) {
    return kernels_of(codec).add(queue, bytes_at(values), bytes_at(values), bytes_at(coded), count,
                                 factor);
  });
}

int lose(const On& on, void* lost, const void* values, const void* coded, std::size_t count,
         Codec codec, float factor) noexcept {
  return on_queue(on, [&](const Queue& queue) {
    return kernels_of(codec).lose(queue, bytes_at(lost), bytes_at(values), bytes_at(coded), count,
                                  factor);
  });
}

int reduce(const On& on, const ManyInputs& reduction) noexcept {
  kernels::cuda::Reduction all{};
  for (std::uint32_t i = 0; i < reduction.input_count; ++i) {
    all.inputs[i] = bytes_at(reduction.inputs[i]);
  }
  all.input_count = reduction.input_count;
  all.to = bytes_at(reduction.to);
  all.also_to = bytes_at(reduction.also_to);
  all.count = reduction.count;
  all.factor = reduction.factor;
  const auto& kernels = kernels::cuda::launches().of(reduction.type);
  return on_queue(on, [&](const Queue& queue) {
    return kernels.reduce[static_cast<std::size_t>(reduction.op)](queue, all);
  });
}

}  // namespace

void add_arithmetic(Calls& calls) noexcept {
  calls.combine = combine;
  calls.scale = scale;
  calls.encode = encode;
  calls.decode = decode;
  calls.decode_add = decode_add;
  calls.lose = lose;
  calls.reduce = reduce;
}

}  // namespace rota::cuda

// The fake device's kernels: those of the host.
#include "kernels/codings.h"
#include "kernels/reductions.h"
#include "testing/fake_inside.h"

namespace rota::testing {
namespace {

using cuda::Calls;
using cuda::On;

// Adds a kernel that decodes. `from`: values that it reads; `to`: values that it writes.
int add_decoding(const On& on, kernels::Coding::Decode kernel, void* to, const void* from,
                 const void* coded, std::size_t count, Codec codec, float factor) {
  return add_fake_kernel(on, [=](FakeMemory& all) {
    std::byte* into = all.reach(to, count * sizeof(float), "a decoding");
    const std::byte* values = all.reach(from, count * sizeof(float), "a decoding");
    const std::byte* bytes = all.reach(coded, kernels::coded_bytes(codec, count), "a decoding");
    if (into && values && bytes) kernel(into, values, bytes, count, factor);
  });
}

const kernels::Coding& coding_of(Codec codec) {
  return kernels::reference<kernels::Codings>().coding(codec);
}

}  // namespace

void add_codings(Calls& calls) {
  calls.encode = [](const On& on, void* coded, const void* values, std::size_t count, Codec codec,
                    std::uint32_t key, std::uint32_t first) noexcept {
    return add_fake_kernel(on, [=](FakeMemory& all) {
      std::byte* into = all.reach(coded, kernels::coded_bytes(codec, count), "an encoding");
      const std::byte* own = all.reach(values, count * sizeof(float), "an encoding");
      if (into && own) coding_of(codec).encode(into, own, count, {.key = key, .first = first});
    });
  };
  calls.decode = [](const On& on, void* values, const void* coded, std::size_t count,
                    Codec codec) noexcept {
    return add_decoding(on, coding_of(codec).decode, values, values, coded, count, codec, 1);
  };
  calls.decode_add = [](const On& on, void* values, const void* coded, std::size_t count,
                        Codec codec, float factor) noexcept {
    return add_decoding(on, coding_of(codec).add, values, values, coded, count, codec, factor);
  };
  calls.lose = [](const On& on, void* lost, const void* values, const void* coded,
                  std::size_t count, Codec codec, float factor) noexcept {
    return add_decoding(on, coding_of(codec).lose, lost, values, coded, count, codec, factor);
  };
}

void add_arithmetic(Calls& calls) {
  calls.combine = [](const On& on, void* accumulator, const void* input, std::size_t count,
                     DataType type, ReduceOp op, double factor) noexcept {
    return add_fake_kernel(on, [=](FakeMemory& all) {
      const std::size_t bytes = count * bytes_of(type);
      std::byte* into = all.reach(accumulator, bytes, "an addition");
      const std::byte* added = all.reach(input, bytes, "an addition");
      const auto kernel = kernels::reference<kernels::Reductions>().combine(type, op);
      if (into && added) kernel(into, added, count, factor);
    });
  };
  calls.scale = [](const On& on, void* values, std::size_t count, DataType type,
                   double factor) noexcept {
    return add_fake_kernel(on, [=](FakeMemory& all) {
      std::byte* own = all.reach(values, count * bytes_of(type), "a scaling");
      if (own) kernels::reference<kernels::Reductions>().scale(type)(own, count, factor);
    });
  };
}

}  // namespace rota::testing

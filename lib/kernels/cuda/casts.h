// Converts arrays between the types of floating-point numbers on a GPU. The codecs of 16 bits are
// such conversions too.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/map.h"

namespace rota::kernels::cuda {

template <class To, class From>
struct CastBody {
  static constexpr std::size_t kLeast =
      To::kElementBytes < From::kElementBytes ? To::kElementBytes : From::kElementBytes;
  static constexpr std::size_t kRun = kGranule / kLeast;
  static constexpr unsigned kUnroll = 2;
  using Loaded = Bytes<kRun * From::kElementBytes>;

  std::byte* to;
  const std::byte* from;

  ROTA_TARGET void one(std::size_t index) const noexcept {
    convert(to + index * To::kElementBytes, from + index * From::kElementBytes);
  }
  ROTA_TARGET Loaded load(std::size_t index) const noexcept {
    return load_granules<sizeof(Loaded)>(from + index * From::kElementBytes);
  }
  ROTA_TARGET void store(std::size_t index, const Loaded& loaded) const noexcept {
    Bytes<kRun * To::kElementBytes> result;
    ROTA_UNROLL
    for (std::size_t i = 0; i < kRun; ++i) {
      convert(result.bytes + i * To::kElementBytes, loaded.bytes + i * From::kElementBytes);
    }
    store_granules(to + index * To::kElementBytes, result);
  }

 private:
  ROTA_TARGET static void convert(std::byte* to, const std::byte* from) noexcept {
    To::store(to, static_cast<typename To::Number>(From::load(from)));
  }
};

template <class To, class From>
Status cast(const Queue& queue, std::byte* to, const std::byte* from, std::size_t count) noexcept {
  return map(queue, CastBody<To, From>{to, from}, to, To::kElementBytes, count);
}

}  // namespace rota::kernels::cuda

// Has the loops of codings.h, written once for all instruction sets. The including file first
// defines what lanes.h and coding_steps.h need. It also defines Float16Lanes; StoredBytes, the type
// of some bytes; widen_bytes, which converts StoredBytes to as many floats, in one register or in
// several; last_bytes, which makes StoredBytes of the lowest bits of so many floats.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/coding_steps.h"
#include "kernels/codings.h"
#include "kernels/cpu/top_k.h"
#include "kernels/lanes.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// All loops work on as many floats in a turn as StoredBytes has bytes. In the scalar variant, both
// sizes are those of a float.
using WidenedBytes = decltype(widen_bytes(StoredBytes{}));

template <class Format>
using Turn = Grouped<Format, sizeof(WidenedBytes) / sizeof(Floats)>;  // NOLINT: see above.
using TurnOfFloats = Turn<Same<float>>;
using FloatGroup = TurnOfFloats::Registers;
using IntegerGroup = Turn<Same<std::int32_t>>::Registers;

// A format has blocks, a Reader that gives the floats of a block, and a function that writes a
// block. at() gives the floats of a turn, and some_at() fewer. OfHalves has 16 bits for each
// element; Halves loads and stores as many elements as a register has floats.
template <class Halves>
struct OfHalves {
  static constexpr std::size_t kBlock = 1024;        // Any large number.
  static constexpr Codec kCodec = Codec::kBfloat16;  // float16 has the same size.

  class Reader {
   public:
    Reader(const std::byte* coded, std::size_t) noexcept : coded_(coded) {}
    ROTA_TARGET FloatGroup at(std::size_t index) const noexcept {
      return Turn<Halves>::load(coded_ + index * 2);
    }
    ROTA_TARGET FloatGroup some_at(std::size_t index, std::size_t count) const noexcept {
      return load_some<Turn<Halves>>(coded_ + index * 2, count);
    }

   private:
    const std::byte* coded_;
  };

  ROTA_TARGET static void encode(std::byte* coded, const std::byte* values, std::size_t count,
                                 Dither) noexcept {
    std::size_t i = 0;
    for (; i + TurnOfFloats::kCount <= count; i += TurnOfFloats::kCount) {
      Turn<Halves>::store(coded + i * 2, TurnOfFloats::load(values + i * sizeof(float)));
    }
    if (i == count) return;
    store_some<Turn<Halves>>(
        coded + i * 2, load_some<TurnOfFloats>(values + i * sizeof(float), count - i), count - i);
  }
};

// Puts 16 bits into the upper half of each lane of 32 bits, and takes them from there. An
// instruction set may have its own functions of these names.
template <class Halves>
ROTA_TARGET Words in_upper_half(Halves halves) noexcept {
  return static_cast<Words>(converted<std::uint32_t>(halves) << 16);
}
template <class FromWords>
ROTA_TARGET auto upper_half(FromWords words) noexcept {
  return converted<std::uint16_t>(static_cast<Words>(words >> 16));
}

// Bfloat16Lanes has pairs, in the order that is fastest for additions. Here elements must stay in
// order, and the input may be any float.
struct Bfloat16InLine {
  static constexpr std::size_t kCount = Same<float>::kCount;
  static constexpr std::size_t kElementBytes = 2;
  using Stored = decltype(converted<std::uint16_t>(Words{}));

  ROTA_TARGET static Floats load(const std::byte* from) noexcept {
    Stored stored;
    std::memcpy(&stored, from, sizeof(stored));
    return bits_of<Floats>(in_upper_half(stored));
  }
  ROTA_TARGET static void store(std::byte* to, Floats lanes) noexcept {
    const auto bits = bits_of<Words>(lanes);
    const auto magnitude = bits_of<Integers>(static_cast<Words>(bits & 0x7fff'ffff));
    const Words rounded = bits + 0x7fff + (bits >> 16 & 1);
    const Words quiet = bits | 0x0040'0000;
    const auto stored = upper_half(static_cast<Words>(magnitude > 0x7f80'0000 ? quiet : rounded));
    std::memcpy(to, &stored, sizeof(stored));
  }
};

template <bool kStochastic>
struct OfInt8 {
  static constexpr std::size_t kBlock = kInt8Block;
  static constexpr Codec kCodec = Codec::kInt8;
  class Reader {
   public:
    Reader(const std::byte* coded, std::size_t) noexcept : bytes_(coded + sizeof(step_)) {
      std::memcpy(&step_, coded, sizeof(step_));
    }
    ROTA_TARGET FloatGroup at(std::size_t index) const noexcept {
      StoredBytes stored;
      std::memcpy(&stored, bytes_ + index, sizeof(stored));
      return times_step(stored);
    }
    ROTA_TARGET FloatGroup some_at(std::size_t index, std::size_t count) const noexcept {
      StoredBytes stored{};
      std::memcpy(&stored, bytes_ + index, count);
      return times_step(stored);
    }

   private:
    ROTA_TARGET ROTA_INLINE FloatGroup times_step(StoredBytes stored) const noexcept {
      auto numbers = bits_of<FloatGroup>(widen_bytes(stored));
      ROTA_UNROLL for (Floats& lanes : numbers.each) lanes = lanes * step_;
      return numbers;
    }

    float step_ = 0;
    const std::byte* bytes_;
  };

  ROTA_TARGET static void encode(std::byte* coded, const std::byte* values, std::size_t count,
                                 Dither dither) noexcept {
    const Quantization quantization = quantization_of(largest_magnitude(values, count));
    const auto [step, steps] = quantization;
    std::memcpy(coded, &step, sizeof(step));
    std::byte* bytes = coded + sizeof(step);
    if (!quantization.is_number()) {
      std::memset(bytes, 0, count);
      return;
    }
    std::size_t i = 0;
    for (; i + TurnOfFloats::kCount <= count; i += TurnOfFloats::kCount) {
      const StoredBytes stored =
          rounded(TurnOfFloats::load(values + i * sizeof(float)), steps, dither, i);
      std::memcpy(bytes + i, &stored, sizeof(stored));
    }
    if (i == count) return;
    const FloatGroup rest = load_some<TurnOfFloats>(values + i * sizeof(float), count - i);
    const StoredBytes stored = rounded(rest, steps, dither, i);
    std::memcpy(bytes + i, &stored, count - i);
  }

 private:
  ROTA_TARGET static float largest_magnitude(const std::byte* values, std::size_t count) noexcept {
    IntegerGroup most{};
    std::size_t i = 0;
    for (; i + TurnOfFloats::kCount <= count; i += TurnOfFloats::kCount) {
      make_larger(most, TurnOfFloats::load(values + i * sizeof(float)));
    }
    if (i < count) {
      make_larger(most, load_some<TurnOfFloats>(values + i * sizeof(float), count - i));
    }
    Integers most_of_all = most.each[0];
    ROTA_UNROLL for (const Integers& lanes : most.each) {
      most_of_all = lanes > most_of_all ? lanes : most_of_all;
    }
    std::array<std::int32_t, Same<float>::kCount> each;
    std::memcpy(each.data(), &most_of_all, sizeof(most_of_all));
    const std::int32_t largest = *std::max_element(each.begin(), each.end());
    float magnitude = 0;
    std::memcpy(&magnitude, &largest, sizeof(magnitude));
    return magnitude;
  }

  ROTA_TARGET ROTA_INLINE static void make_larger(IntegerGroup& most,
                                                  const FloatGroup& numbers) noexcept {
    ROTA_UNROLL for (std::size_t i = 0; i < IntegerGroup::kSize; ++i) {
      most.each[i] = larger(most.each[i], numbers.each[i]);
    }
  }

  ROTA_TARGET ROTA_INLINE static StoredBytes rounded(FloatGroup numbers, float steps, Dither dither,
                                                     std::size_t index) noexcept {
    ROTA_UNROLL for (Floats& lanes : numbers.each) {
      lanes = with_last_bits<kStochastic>(lanes * steps, dither, index);
      index += Same<float>::kCount;
    }
    WidenedBytes widened;
    std::memcpy(&widened, &numbers, sizeof(widened));
    return last_bytes(widened);
  }
};

struct OfTopK {
  static constexpr std::size_t kBlock = kTopKBlock;
  static constexpr Codec kCodec = Codec::kTopK;

  class Reader {
   public:
    Reader(const std::byte* coded, std::size_t count) noexcept {
      decode_top_k(values_, coded, count);
    }
    ROTA_TARGET FloatGroup at(std::size_t index) const noexcept {
      return TurnOfFloats::load(reinterpret_cast<const std::byte*>(&values_[index]));
    }
    ROTA_TARGET FloatGroup some_at(std::size_t index, std::size_t count) const noexcept {
      return load_some<TurnOfFloats>(reinterpret_cast<const std::byte*>(&values_[index]), count);
    }

   private:
    std::array<float, kTopKBlock> values_;
  };

  static void encode(std::byte* coded, const std::byte* values, std::size_t count,
                     Dither) noexcept {
    encode_top_k(coded, values, count);
  }
};

template <class Format>
void encode(std::byte* coded, const std::byte* values, std::size_t count, Dither dither) noexcept {
  while (count > 0) {
    const std::size_t block = std::min(count, Format::kBlock);
    Format::encode(coded, values, block, dither);
    coded += coded_bytes(Format::kCodec, block);
    values += block * sizeof(float);
    dither.first += static_cast<std::uint32_t>(block);
    count -= block;
  }
}

template <class Operation>
ROTA_TARGET ROTA_INLINE FloatGroup of_each(FloatGroup from, const FloatGroup& decoded,
                                           float factor) noexcept {
  ROTA_UNROLL for (std::size_t i = 0; i < FloatGroup::kSize; ++i) {
    from.each[i] = Operation::of(from.each[i], decoded.each[i], factor);
  }
  return from;
}

template <class Format, class Operation>
ROTA_TARGET void decode(std::byte* to, const std::byte* from, const std::byte* coded,
                        std::size_t count, float factor) noexcept {
  while (count > 0) {
    const std::size_t block = std::min(count, Format::kBlock);
    const typename Format::Reader reader(coded, block);
    std::size_t i = 0;
    for (; i + TurnOfFloats::kCount <= block; i += TurnOfFloats::kCount) {
      const std::size_t at = i * sizeof(float);
      TurnOfFloats::store(to + at,
                          of_each<Operation>(TurnOfFloats::load(from + at), reader.at(i), factor));
    }
    if (i < block) {
      const std::size_t at = i * sizeof(float);
      const FloatGroup rest = load_some<TurnOfFloats>(from + at, block - i);
      store_some<TurnOfFloats>(
          to + at, of_each<Operation>(rest, reader.some_at(i, block - i), factor), block - i);
    }
    coded += coded_bytes(Format::kCodec, block);
    to += block * sizeof(float);
    from += block * sizeof(float);
    count -= block;
  }
}

template <class Format>
constexpr Coding kCoding = {encode<Format>, decode<Format, Take>, decode<Format, Add>,
                            decode<Format, Lose>};

constexpr Codings make_codings(const Variant& variant) noexcept {
  return {&variant,
          {{},  // kIdentity has no coding.
           kCoding<OfHalves<Bfloat16InLine>>,
           kCoding<OfHalves<Float16Lanes>>,
           kCoding<OfInt8<false>>,
           kCoding<OfInt8<true>>,
           kCoding<OfTopK>}};
}

}  // namespace
}  // namespace rota::kernels::cpu

// The loops of codings.h, written once for every instruction set. Beside what lanes.h asks for, its
// file first defines Float16Lanes; converted<T>, which turns lanes of 32 bits into as many T and
// back; and StoredBytes, as many bytes as there are such lanes: widen_bytes turns them into floats,
// and last_bytes takes them out of floats' last bits.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/codings.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/top_k.h"

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

using Floats = Lanes<float>;
using Words = Lanes<std::uint32_t>;
using Integers = Lanes<std::int32_t>;

template <class To, class From>
ROTA_TARGET To bits_of(From from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// A format has blocks, a Reader that gives the floats of one, and a function that writes one.
// Of 16 bits an element, in lanes of which Halves stores and loads as many as there are floats.
template <class Halves>
struct OfHalves {
  static constexpr std::size_t kBlock = 1024;  // No matter how many, as long as there are many.
  static constexpr Codec kCodec = Codec::kBfloat16;  // As long as float16.

  class Reader {
   public:
    Reader(const std::byte* coded, std::size_t) noexcept : coded_(coded) {}
    ROTA_TARGET Floats at(std::size_t index) const noexcept {
      return Halves::load(coded_ + index * 2);
    }
    ROTA_TARGET Floats some_at(std::size_t index, std::size_t count) const noexcept {
      return load_some<Halves>(coded_ + index * 2, count);
    }

   private:
    const std::byte* coded_;
  };

  ROTA_TARGET static void encode(std::byte* coded, const std::byte* values, std::size_t count,
                                 Dither) noexcept {
    std::size_t i = 0;
    for (; i + Same<float>::kCount <= count; i += Same<float>::kCount) {
      Halves::store(coded + i * 2, Same<float>::load(values + i * sizeof(float)));
    }
    if (i == count) return;
    store_some<Halves>(coded + i * 2, load_some<Same<float>>(values + i * sizeof(float), count - i),
                       count - i);
  }
};

// Bfloat16Lanes has pairs of them in the order in which they are added fastest; here they are
// wanted one after the other, and come from any float.
struct Bfloat16InLine {
  static constexpr std::size_t kCount = Same<float>::kCount;
  static constexpr std::size_t kElementBytes = 2;
  using Stored = decltype(converted<std::uint16_t>(Words{}));

  ROTA_TARGET static Floats load(const std::byte* from) noexcept {
    Stored stored;
    std::memcpy(&stored, from, sizeof(stored));
    return bits_of<Floats>(static_cast<Words>(converted<std::uint32_t>(stored) << 16));
  }
  ROTA_TARGET static void store(std::byte* to, Floats lanes) noexcept {
    const auto bits = bits_of<Words>(lanes);
    const auto magnitude = bits_of<Integers>(static_cast<Words>(bits & 0x7fff'ffff));
    const Words rounded = bits + 0x7fff + (bits >> 16 & 1);
    const Words quiet = bits | 0x0040'0000;
    const auto stored = converted<std::uint16_t>(
        static_cast<Words>((magnitude > 0x7f80'0000 ? quiet : rounded) >> 16));
    std::memcpy(to, &stored, sizeof(stored));
  }
};

// One step is the largest magnitude over 127. Where there is infinity or NaN, all of the block
// becomes NaN, or zeros of infinite steps, which is NaN too.
template <bool kStochastic>
struct OfInt8 {
  static constexpr std::size_t kBlock = kInt8Block;
  static constexpr Codec kCodec = Codec::kInt8;
  class Reader {
   public:
    Reader(const std::byte* coded, std::size_t) noexcept : bytes_(coded + sizeof(step_)) {
      std::memcpy(&step_, coded, sizeof(step_));
    }
    ROTA_TARGET Floats at(std::size_t index) const noexcept {
      StoredBytes stored;
      std::memcpy(&stored, bytes_ + index, sizeof(stored));
      return widen_bytes(stored) * step_;
    }
    ROTA_TARGET Floats some_at(std::size_t index, std::size_t count) const noexcept {
      StoredBytes stored{};
      std::memcpy(&stored, bytes_ + index, count);
      return widen_bytes(stored) * step_;
    }

   private:
    float step_ = 0;
    const std::byte* bytes_;
  };

  ROTA_TARGET static void encode(std::byte* coded, const std::byte* values, std::size_t count,
                                 Dither dither) noexcept {
    const float largest = largest_magnitude(values, count);
    constexpr float kTooSmall = 1e-36F;  // Its reciprocal overflows: all of it is lost.
    const bool vanishes = largest < kTooSmall;
    const float step = vanishes ? 0 : largest / 127;
    const float steps = vanishes ? 0 : 127 / largest;
    std::memcpy(coded, &step, sizeof(step));
    std::byte* bytes = coded + sizeof(step);
    std::size_t i = 0;
    for (; i + Same<float>::kCount <= count; i += Same<float>::kCount) {
      const StoredBytes stored =
          rounded(Same<float>::load(values + i * sizeof(float)) * steps, dither, i);
      std::memcpy(bytes + i, &stored, sizeof(stored));
    }
    if (i == count) return;
    const Floats rest = load_some<Same<float>>(values + i * sizeof(float), count - i);
    const StoredBytes stored = rounded(rest * steps, dither, i);
    std::memcpy(bytes + i, &stored, count - i);
  }

 private:
  ROTA_TARGET static float largest_magnitude(const std::byte* values, std::size_t count) noexcept {
    Integers most{};
    std::size_t i = 0;
    for (; i + Same<float>::kCount <= count; i += Same<float>::kCount) {
      most = larger(most, Same<float>::load(values + i * sizeof(float)));
    }
    if (i < count) {
      most = larger(most, load_some<Same<float>>(values + i * sizeof(float), count - i));
    }
    std::array<std::int32_t, Same<float>::kCount> each;
    std::memcpy(each.data(), &most, sizeof(most));
    const std::int32_t largest = *std::max_element(each.begin(), each.end());
    float magnitude = 0;
    std::memcpy(&magnitude, &largest, sizeof(magnitude));
    return magnitude;
  }

  ROTA_TARGET static Integers larger(Integers most, Floats lanes) noexcept {
    const auto magnitude = static_cast<Integers>(bits_of<Integers>(lanes) & 0x7fff'ffff);
    return magnitude > most ? magnitude : most;
  }

  // A sum with 1.5 * 2^23 has the nearest integer in its last bits.
  ROTA_TARGET static StoredBytes rounded(Floats steps, Dither dither, std::size_t index) noexcept {
    if constexpr (kStochastic) {
      steps = steps + chance(dither, index);
      steps = steps > 127.0F ? Floats{} + 127.0F : steps;
      steps = steps < -127.0F ? Floats{} - 127.0F : steps;
    }
    return last_bytes(steps + 0x1.8p23F);
  }

  // Evenly from -1/2 to 1/2: a hash of where the element is, and of the key.
  ROTA_TARGET static Floats chance(Dither dither, std::size_t index) noexcept {
    static constexpr std::array<std::uint32_t, 16> kPlaces = {0, 1, 2,  3,  4,  5,  6,  7,
                                                              8, 9, 10, 11, 12, 13, 14, 15};
    Words word;
    std::memcpy(&word, kPlaces.data(), sizeof(word));
    word = word + (dither.first + static_cast<std::uint32_t>(index));
    word = word * 0x9e37'79b1U + dither.key;
    word = (word ^ word >> 16) * 0x7feb'352dU;
    word = (word ^ word >> 15) * 0x846c'a68bU;
    word = word ^ word >> 16;
    return converted<float>(bits_of<Integers>(static_cast<Words>(word >> 8))) * 0x1p-24F - 0.5F;
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
    ROTA_TARGET Floats at(std::size_t index) const noexcept {
      Floats lanes;
      std::memcpy(&lanes, &values_[index], sizeof(lanes));
      return lanes;
    }
    ROTA_TARGET Floats some_at(std::size_t index, std::size_t count) const noexcept {
      Floats lanes{};
      std::memcpy(&lanes, &values_[index], count * sizeof(float));
      return lanes;
    }

   private:
    std::array<float, kTopKBlock> values_;
  };

  static void encode(std::byte* coded, const std::byte* values, std::size_t count,
                     Dither) noexcept {
    encode_top_k(coded, values, count);
  }
};

struct Take {
  ROTA_TARGET static Floats of(Floats, Floats decoded, float) noexcept { return decoded; }
};
struct Add {
  ROTA_TARGET static Floats of(Floats from, Floats decoded, float factor) noexcept {
    return (from + decoded) * factor;
  }
};
// What is not finite would be added to all that follows: nothing is kept of it.
struct Lose {
  ROTA_TARGET static Floats of(Floats from, Floats decoded, float factor) noexcept {
    const Floats lost = (from - decoded) * factor;
    return lost * 0.0F == Floats{} ? lost : Floats{};
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

template <class Format, class Operation>
ROTA_TARGET void decode(std::byte* to, const std::byte* from, const std::byte* coded,
                        std::size_t count, float factor) noexcept {
  while (count > 0) {
    const std::size_t block = std::min(count, Format::kBlock);
    const typename Format::Reader reader(coded, block);
    std::size_t i = 0;
    for (; i + Same<float>::kCount <= block; i += Same<float>::kCount) {
      const std::size_t at = i * sizeof(float);
      Same<float>::store(to + at,
                         Operation::of(Same<float>::load(from + at), reader.at(i), factor));
    }
    if (i < block) {
      const std::size_t at = i * sizeof(float);
      const Floats rest = load_some<Same<float>>(from + at, block - i);
      store_some<Same<float>>(to + at, Operation::of(rest, reader.some_at(i, block - i), factor),
                              block - i);
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
          {{},  // What travels as it is, is not coded.
           kCoding<OfHalves<Bfloat16InLine>>,
           kCoding<OfHalves<Float16Lanes>>,
           kCoding<OfInt8<false>>,
           kCoding<OfInt8<true>>,
           kCoding<OfTopK>}};
}

}  // namespace
}  // namespace rota::kernels::cpu

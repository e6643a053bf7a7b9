// Kernels touch no byte outside of their arrays, and the arrays may begin at any byte. Every
// variant gives the bits of "scalar" there, with a rest of every length. Method: the arrays end
// where the memory of the program ends, or begin where it begins.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "kernels/codings.h"
#include "kernels/crc32c.h"
#include "kernels/fenced_array.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"
#include "kernels/reference.h"
#include "kernels/tiles.h"

namespace rota::kernels::testing {
namespace {

constexpr double kMeanFactor = 1.0F / 3.0F;

// No variant works on more bytes in a turn of a loop.
constexpr std::size_t kTurnBytes = 1024;

constexpr ReduceOp kAllOps[] = {ReduceOp::kSum,   ReduceOp::kMean,  ReduceOp::kProduct,
                                ReduceOp::kMin,   ReduceOp::kMax,   ReduceOp::kBitAnd,
                                ReduceOp::kBitOr, ReduceOp::kBitXor};

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
bool has(const std::byte* bytes, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    if (!same(value, expected[i])) return false;
  }
  return true;
}

// Returns the place of a copy of `array` in `room`, which begins `offset` bytes into the room.
template <class T>
std::byte* put_at(std::vector<std::byte>& room, std::size_t offset, const std::vector<T>& array) {
  std::ranges::copy(bytes_of(array), room.begin() + static_cast<std::ptrdiff_t>(offset));
  return room.data() + offset;
}

template <class T>
class EdgesOfReductions : public ::testing::Test {
 protected:
  // Calls check(row, op) for each variant and each operation of the type.
  template <class Check>
  static void for_all(const Check& check) {
    for (const Reductions* row : supported<Reductions>()) {
      for (const ReduceOp op : kAllOps) {
        if (why_not(op, data_type_of<T>()).empty()) check(*row, op);
      }
    }
  }

  // Returns a op b by "scalar".
  static std::vector<T> combined(ReduceOp op, std::vector<T> a, const std::vector<T>& b) {
    reference<Reductions>().combine(data_type_of<T>(), op)(bytes_at(a), bytes_at(b), a.size(),
                                                           kMeanFactor);
    return a;
  }
};

using AllTypes = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                                  std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(EdgesOfReductions, AllTypes);

TYPED_TEST(EdgesOfReductions, AreKeptWithARestOfEveryLength) {
  using T = TypeParam;
  const FencedArray first(2 * kTurnBytes);
  const FencedArray second(2 * kTurnBytes);
  const FencedArray third(2 * kTurnBytes);
  this->for_all([&](const Reductions& row, ReduceOp op) {
    const std::size_t most = (op == ReduceOp::kSum ? kTurnBytes + 64 : 160) / sizeof(T);
    for (std::size_t count = 0; count <= most; ++count) {
      const std::vector<T> a = any_values<T>(count, 1);
      const std::vector<T> b = any_values<T>(count, 2);
      const std::vector<T> expected = this->combined(op, a, b);
      for (const bool is_at_end : {true, false}) {
        SCOPED_TRACE(std::string(row.variant->name) + ", " + std::string(to_string(op)) + " of " +
                     std::to_string(count));
        std::byte* to = first.put(bytes_of(a), is_at_end);
        const std::byte* from = second.put(bytes_of(b), is_at_end);
        row.combine(data_type_of<T>(), op)(to, from, count, kMeanFactor);
        ASSERT_TRUE(has(to, expected));
        to = first.put(bytes_of(a), is_at_end);
        std::byte* also_to = third.put(bytes_of(a), is_at_end);
        row.combine_to_both(data_type_of<T>(), op)(to, also_to, to, from, count, kMeanFactor);
        ASSERT_TRUE(has(to, expected) && has(also_to, expected));
      }
    }
  });
}

TYPED_TEST(EdgesOfReductions, MayBeAnywhere) {
  using T = TypeParam;
  std::vector<std::byte> first(kTurnBytes);
  std::vector<std::byte> second(kTurnBytes);
  this->for_all([&](const Reductions& row, ReduceOp op) {
    for (const std::size_t bytes : {std::size_t{16}, std::size_t{136}, std::size_t{600}}) {
      const std::vector<T> a = any_values<T>(bytes / sizeof(T), 1);
      const std::vector<T> b = any_values<T>(bytes / sizeof(T), 2);
      const std::vector<T> expected = this->combined(op, a, b);
      for (std::size_t offset = 0; offset < 64; ++offset) {
        std::byte* to = put_at(first, offset, a);
        row.combine(data_type_of<T>(), op)(to, put_at(second, 63 - offset, b), a.size(),
                                           kMeanFactor);
        ASSERT_TRUE(has(to, expected))
            << row.variant->name << ", " << to_string(op) << ", offset " << offset;
      }
    }
  });
}

TYPED_TEST(EdgesOfReductions, OfBothResultsMayBeAnywhere) {
  using T = TypeParam;
  std::vector<std::byte> rooms[] = {
      std::vector<std::byte>(kTurnBytes), std::vector<std::byte>(kTurnBytes),
      std::vector<std::byte>(kTurnBytes), std::vector<std::byte>(kTurnBytes)};
  this->for_all([&](const Reductions& row, ReduceOp op) {
    for (const std::size_t bytes : {std::size_t{16}, std::size_t{136}, std::size_t{600}}) {
      const std::vector<T> a = any_values<T>(bytes / sizeof(T), 1);
      const std::vector<T> b = any_values<T>(bytes / sizeof(T), 2);
      const std::vector<T> expected = this->combined(op, a, b);
      for (std::size_t offset = 0; offset < 64; ++offset) {
        std::byte* to = rooms[2].data() + (offset + 21) % 64;
        std::byte* also_to = rooms[3].data() + (offset + 42) % 64;
        row.combine_to_both(data_type_of<T>(), op)(to, also_to, put_at(rooms[0], offset, a),
                                                   put_at(rooms[1], 63 - offset, b), a.size(),
                                                   kMeanFactor);
        ASSERT_TRUE(has(to, expected) && has(also_to, expected))
            << row.variant->name << ", " << to_string(op) << ", offset " << offset;
      }
    }
  });
}

TYPED_TEST(EdgesOfReductions, OfScaledValuesMayBeAnywhere) {
  using T = TypeParam;
  std::vector<std::byte> room(kTurnBytes);
  for (const Reductions* row : supported<Reductions>()) {
    if (row->scale(data_type_of<T>()) == nullptr) continue;
    for (const std::size_t bytes : {std::size_t{16}, std::size_t{136}, std::size_t{600}}) {
      const std::vector<T> before = any_values<T>(bytes / sizeof(T), 1);
      std::vector<T> expected = before;
      reference<Reductions>().scale(data_type_of<T>())(bytes_at(expected), before.size(),
                                                       kMeanFactor);
      for (std::size_t offset = 0; offset < 64; ++offset) {
        std::byte* values = put_at(room, offset, before);
        row->scale(data_type_of<T>())(values, before.size(), kMeanFactor);
        ASSERT_TRUE(has(values, expected)) << row->variant->name << ", offset " << offset;
      }
    }
  }
}

TYPED_TEST(EdgesOfReductions, AreKeptByScale) {
  using T = TypeParam;
  const FencedArray array(2 * kTurnBytes);
  for (const Reductions* row : supported<Reductions>()) {
    if (row->scale(data_type_of<T>()) == nullptr) continue;
    for (std::size_t count = 0; count <= (kTurnBytes + 64) / sizeof(T); ++count) {
      const std::vector<T> before = any_values<T>(count, 1);
      std::vector<T> expected = before;
      reference<Reductions>().scale(data_type_of<T>())(bytes_at(expected), count, kMeanFactor);
      for (const bool is_at_end : {true, false}) {
        std::byte* values = array.put(bytes_of(before), is_at_end);
        row->scale(data_type_of<T>())(values, count, kMeanFactor);
        ASSERT_TRUE(has(values, expected)) << row->variant->name << ", count " << count;
      }
    }
  }
}

class EdgesOfCodings : public ::testing::TestWithParam<Codec> {
 protected:
  static constexpr std::size_t kMostCount = 3 * kTopKBlock;
  static constexpr Dither kSomeDither{.key = 99, .first = 512};

  // Rests of a register, of a turn, and of a block.
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    const std::size_t most = GetParam() == Codec::kTopK ? 70 : 2 * kInt8Block + 70;
    for (std::size_t count = 0; count <= most; ++count) all.push_back(count);
    for (const std::size_t count : {kTopKBlock - 1, kTopKBlock, kTopKBlock + 1, kTopKBlock + 65}) {
      all.push_back(count);
    }
    return all;
  }

  std::vector<std::byte> coded_by_scalar(const std::vector<float>& values) const {
    std::vector<std::byte> coded(coded_bytes(GetParam(), values.size()));
    reference<Codings>()
        .coding(GetParam())
        .encode(coded.data(), bytes_at(values), values.size(), kSomeDither);
    return coded;
  }

  static std::vector<float> ordinary_values(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random() % 4000) / 256.0F - 7.0F;
    return values;
  }
};

TEST_P(EdgesOfCodings, AreKeptWithARestOfEveryLength) {
  const FencedArray coded_room(coded_bytes(GetParam(), kMostCount));
  const FencedArray from_room(kMostCount * sizeof(float));
  const FencedArray to_room(kMostCount * sizeof(float));
  for (const std::size_t count : counts()) {
    const std::vector<float> values = ordinary_values(count, 1);
    const std::vector<float> others = ordinary_values(count, 2);
    const std::vector<std::byte> coded = coded_by_scalar(values);
    for (const Codings* row : supported<Codings>()) {
      const Coding& coding = row->coding(GetParam());
      for (const bool is_at_end : {true, false}) {
        SCOPED_TRACE(std::string(row->variant->name) + ", count " + std::to_string(count));
        std::byte* at = coded_room.put(coded, is_at_end);
        std::fill(at, at + coded.size(), std::byte{0x5a});
        coding.encode(at, from_room.put(bytes_of(values), is_at_end), count, kSomeDither);
        ASSERT_TRUE(std::equal(coded.begin(), coded.end(), at));
        for (const auto decode : {&Coding::decode, &Coding::add, &Coding::lose}) {
          std::vector<float> expected = others;
          (reference<Codings>().coding(GetParam()).*decode)(bytes_at(expected), bytes_at(others),
                                                            coded.data(), count, 0.3F);
          const std::byte* from = from_room.put(bytes_of(others), is_at_end);
          std::byte* to = to_room.put(bytes_of(values), is_at_end);
          (coding.*decode)(to, from, at, count, 0.3F);
          ASSERT_TRUE(has(to, expected));
        }
      }
    }
  }
}

TEST_P(EdgesOfCodings, OfCodedBytesMayBeAnywhere) {
  for (const std::size_t count : {std::size_t{300}, kTopKBlock + 65}) {
    const std::vector<float> values = ordinary_values(count, 1);
    const std::vector<std::byte> coded = coded_by_scalar(values);
    std::vector<float> expected(count);
    reference<Codings>()
        .coding(GetParam())
        .decode(bytes_at(expected), bytes_at(values), coded.data(), count, 1);
    for (const Codings* row : supported<Codings>()) {
      std::vector<std::byte> room(coded.size() + 64);
      for (std::size_t offset = 0; offset < 64; ++offset) {
        SCOPED_TRACE(std::string(row->variant->name) + ", offset " + std::to_string(offset));
        std::byte* at = room.data() + offset;
        row->coding(GetParam()).encode(at, bytes_at(values), count, kSomeDither);
        ASSERT_TRUE(std::equal(coded.begin(), coded.end(), at));
        std::vector<float> decoded(count);
        row->coding(GetParam()).decode(bytes_at(decoded), bytes_at(values), at, count, 1);
        ASSERT_TRUE(has(bytes_at(decoded), expected));
      }
    }
  }
}

TEST_P(EdgesOfCodings, OfFloatsMayBeAnywhere) {
  for (const std::size_t count : {std::size_t{300}, kTopKBlock + 65}) {
    const std::vector<float> values = ordinary_values(count, 1);
    const std::vector<float> others = ordinary_values(count, 2);
    const std::vector<std::byte> coded = coded_by_scalar(values);
    std::vector<std::byte> first(count * sizeof(float) + 64);
    std::vector<std::byte> second(first.size());
    for (const auto decode : {&Coding::decode, &Coding::add, &Coding::lose}) {
      std::vector<float> expected = others;
      (reference<Codings>().coding(GetParam()).*decode)(bytes_at(expected), bytes_at(others),
                                                        coded.data(), count, 0.3F);
      for (const Codings* row : supported<Codings>()) {
        for (std::size_t offset = 0; offset < 64; ++offset) {
          SCOPED_TRACE(std::string(row->variant->name) + ", offset " + std::to_string(offset));
          std::byte* to = second.data() + 63 - offset;
          (row->coding(GetParam()).*decode)(to, put_at(first, offset, others), coded.data(), count,
                                            0.3F);
          ASSERT_TRUE(has(to, expected));
        }
      }
    }
    for (const Codings* row : supported<Codings>()) {
      std::vector<std::byte> again(coded.size());
      for (std::size_t offset = 0; offset < 64; ++offset) {
        row->coding(GetParam())
            .encode(again.data(), put_at(first, offset, values), count, kSomeDither);
        ASSERT_EQ(again, coded) << row->variant->name << ", offset " << offset;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, EdgesOfCodings,
                         ::testing::Values(Codec::kBfloat16, Codec::kFloat16, Codec::kInt8,
                                           Codec::kInt8Stochastic, Codec::kTopK));

template <class T>
class EdgesOfArrays : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EdgesOfArrays, FloatTypes);

TYPED_TEST(EdgesOfArrays, AreKeptByOptimizers) {
  using T = TypeParam;
  const FencedArray rooms[] = {FencedArray(kTurnBytes), FencedArray(kTurnBytes),
                               FencedArray(kTurnBytes), FencedArray(kTurnBytes)};
  for (std::size_t count = 0; count <= kTurnBytes / sizeof(T); ++count) {
    const std::vector<T> before[] = {any_values<T>(count, 1), any_values<T>(count, 2),
                                     any_values<T>(count, 3), any_values<T>(count, 4)};
    const auto run = [&](const Updates<T>& updates, T* const(&at)[4]) {
      updates.sgd(at[0], at[1], at[3], count, {T(0.1), T(0.9), T(0.01), T(0.25)});
      updates.adam(at[0], at[1], at[2], at[3], count,
                   {T(0.9), T(0.99), T(0.01), T(0.1), T(2), T(0.001), T(0.25)});
    };
    std::vector<T> expected[] = {before[0], before[1], before[2], before[3]};
    run(reference<Optimizers>().updates<T>(),
        {expected[0].data(), expected[1].data(), expected[2].data(), expected[3].data()});
    for (const Optimizers* row : supported<Optimizers>()) {
      for (const bool is_at_end : {true, false}) {
        T* at[4];
        for (std::size_t i = 0; i < 4; ++i) {
          at[i] = reinterpret_cast<T*>(rooms[i].put(bytes_of(before[i]), is_at_end));
        }
        run(row->updates<T>(), at);
        for (std::size_t i = 0; i < 4; ++i) {
          ASSERT_TRUE(has(reinterpret_cast<std::byte*>(at[i]), expected[i]))
              << row->variant->name << ", array " << i << ", count " << count;
        }
      }
    }
  }
}

// The norm adds more numbers in a turn than other kernels do: one for each lane.
TYPED_TEST(EdgesOfArrays, AreKeptByTheSquaredNorm) {
  using T = TypeParam;
  constexpr std::size_t kMost = kNormThreads * kNormLanes + 70;
  const FencedArray room(kMost * sizeof(T));
  for (std::size_t count = 0; count <= kMost; ++count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 97) / T(7);
    const double expected = reference<Optimizers>().updates<T>().squared_norm(values.data(), count);
    for (const Optimizers* row : supported<Optimizers>()) {
      for (const bool is_at_end : {true, false}) {
        const auto* at = reinterpret_cast<const T*>(room.put(bytes_of(values), is_at_end));
        ASSERT_EQ(row->updates<T>().squared_norm(at, count), expected)
            << row->variant->name << ", count " << count;
      }
    }
  }
}

TYPED_TEST(EdgesOfArrays, AreKeptByTiles) {
  using T = TypeParam;
  constexpr std::size_t kMost = 70;
  const FencedArray from_room(64 * kMost * sizeof(T));
  const FencedArray to_room(64 * kMost * sizeof(T));
  const auto compare = [&](auto kernel_of, std::size_t from_side, std::size_t to_side) {
    for (std::size_t count = 1; count <= kMost; ++count) {
      const TileSteps from_steps{from_side * count, count};
      const TileSteps to_steps{to_side * count, count};
      std::vector<T> from(from_side * from_side * count);
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i % 97) / T(4);
      std::vector<T> expected(to_side * to_side * count, T(1));
      const std::vector<T> before = expected;
      kernel_of(reference<Tiles>())(from.data(), from_steps, expected.data(), to_steps, count);
      for (const Tiles* row : supported<Tiles>()) {
        for (const bool is_at_end : {true, false}) {
          const std::byte* at = from_room.put(bytes_of(from), is_at_end);
          std::byte* to = to_room.put(bytes_of(before), is_at_end);
          kernel_of (*row)(reinterpret_cast<const T*>(at), from_steps, reinterpret_cast<T*>(to),
                           to_steps, count);
          ASSERT_TRUE(has(to, expected)) << row->variant->name << ", count " << count;
        }
      }
    }
  };
  for (const std::size_t window : {3, 5}) {
    using Part = TileTransform<T> TileTransforms<T>::*;
    const std::pair<Part, std::size_t> parts[] = {{&TileTransforms<T>::inputs, 8},
                                                  {&TileTransforms<T>::weights, window},
                                                  {&TileTransforms<T>::outputs, 9 - window}};
    for (const auto& [part, side] : parts) {
      const Part chosen = part;
      compare([&](const Tiles& row) { return (row.transforms<T>(window).*chosen).expand; }, side,
              8);
      compare([&](const Tiles& row) { return (row.transforms<T>(window).*chosen).contract_add; }, 8,
              side);
    }
  }
}

TEST(EdgesOfBytes, AreKeptByChecksums) {
  constexpr std::size_t kMost = 1100;
  const FencedArray room(kMost);
  std::vector<std::byte> bytes(kMost);
  for (std::size_t i = 0; i < kMost; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  for (std::size_t count = 0; count <= kMost; ++count) {
    const auto part = std::span<const std::byte>(bytes).first(count);
    const std::uint32_t expected = Crc32c::table().back()->extend(1, part.data(), count);
    for (const Crc32c* row : Crc32c::table()) {
      if (!row->supported()) continue;
      for (const bool is_at_end : {true, false}) {
        ASSERT_EQ(row->extend(1, room.put(part, is_at_end), count), expected)
            << row->name << ", count " << count;
      }
    }
  }
}

}  // namespace
}  // namespace rota::kernels::testing

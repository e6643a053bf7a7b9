// Tests what Values, ConstValues and InputValues can be made from, and what they then contain.
#include <gtest/gtest.h>
#include <rota/communicator.h>
#include <rota/values.h>

#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rota {
namespace {

template <class T>
class ValuesTest : public ::testing::Test {};
using ValueTypes = ::testing::Types<std::byte, Float16, Bfloat16, float, double, std::int8_t,
                                    std::uint8_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(ValuesTest, ValueTypes);

TYPED_TEST(ValuesTest, SayWhatTheyWereMadeFrom) {
  std::vector<TypeParam> vector(5);
  const Values values = vector;
  EXPECT_EQ(values.data(), reinterpret_cast<std::byte*>(vector.data()));
  EXPECT_EQ(values.count(), 5U);
  EXPECT_EQ(values.type(), data_type_of<TypeParam>());
  EXPECT_EQ(values.bytes(), 5 * sizeof(TypeParam));
  EXPECT_EQ(bytes_of(values.type()), sizeof(TypeParam));
}

TYPED_TEST(ValuesTest, CanBeReadThroughConstValuesHoweverTheyAreHeld) {
  std::array<TypeParam, 3> array{};
  const std::array<TypeParam, 3>& constant = array;
  const Values values = array;
  for (const ConstValues& read :
       {ConstValues(array), ConstValues(constant), ConstValues(std::span(array)),
        ConstValues(std::span(constant)), ConstValues(values)}) {
    EXPECT_EQ(read.data(), reinterpret_cast<const std::byte*>(array.data()));
    EXPECT_EQ(read.count(), 3U);
    EXPECT_EQ(read.bytes(), 3 * sizeof(TypeParam));
    EXPECT_EQ(read.type(), data_type_of<TypeParam>());
  }
}

TYPED_TEST(ValuesTest, AreNotMadeFromWhatIsConst) {
  using T = TypeParam;
  static_assert(std::is_convertible_v<std::vector<T>&, Values>);
  static_assert(!std::is_constructible_v<Values, const std::vector<T>&>);
  static_assert(!std::is_constructible_v<Values, std::span<const T>>);
  static_assert(!std::is_constructible_v<Values, ConstValues>);
  static_assert(std::is_convertible_v<const std::vector<T>&, ConstValues>);
  static_assert(std::is_convertible_v<std::span<const T>, ConstValues>);
  static_assert(std::is_convertible_v<Values, ConstValues>);
}

// If a temporary were accepted, a collective that returns immediately would work on freed memory.
TYPED_TEST(ValuesTest, AreNotMadeFromWhatEndsWithTheCall) {
  using T = TypeParam;
  static_assert(!std::is_constructible_v<Values, std::vector<T>>);
  static_assert(!std::is_constructible_v<Values, std::array<T, 3>>);
  static_assert(std::is_convertible_v<std::span<T>, Values>);
  static_assert(std::is_convertible_v<const std::span<T, 4>, Values>);
  static_assert(std::is_convertible_v<std::span<T>, ConstValues>);
  static_assert(std::is_convertible_v<T(&)[3], Values>);
}

// Memory that a blocking call only reads is borrowed until the call returns.
TYPED_TEST(ValuesTest, ThatABlockingCallReadsMayEndWithIt) {
  using T = TypeParam;
  static_assert(std::is_convertible_v<std::vector<T>, InputValues>);
  static_assert(std::is_convertible_v<const std::vector<T>, InputValues>);
  static_assert(std::is_convertible_v<std::array<T, 3>, InputValues>);
  static_assert(std::is_convertible_v<const std::vector<T>&, InputValues>);
  static_assert(std::is_convertible_v<std::span<const T>, InputValues>);
  static_assert(std::is_convertible_v<Values, InputValues>);
  static_assert(std::is_convertible_v<ConstValues, InputValues>);
  const auto said = [](InputValues input) { return std::pair(input.count(), input.type()); };
  EXPECT_EQ(said(std::array<T, 3>{}), std::pair(std::size_t{3}, data_type_of<T>()));
  EXPECT_EQ(said(std::vector<T>(5)), std::pair(std::size_t{5}, data_type_of<T>()));
}

// A call in the form that users write.
template <class Range>
concept CanBeReduced = requires(Communicator& communicator, Range&& range) {
  communicator.all_reduce(std::forward<Range>(range), ReduceOp::kSum);
  communicator.all_reduce_async(std::forward<Range>(range), ReduceOp::kSum);
};

TEST(Values, OfACallOutliveIt) {
  static_assert(CanBeReduced<std::vector<float>&>);
  static_assert(CanBeReduced<std::span<float>>);
  static_assert(!CanBeReduced<std::vector<float>>);
  static_assert(!CanBeReduced<std::array<float, 3>>);
}

template <class Span>
concept CanBeReadByTheHost = requires(Span span) {
  span[0];
}
|| requires(Span span) { *span; }
|| requires(Span span) { span.begin(); }
|| requires(Span span) { span.data(); };

TYPED_TEST(ValuesTest, SayOnWhichDeviceTheyLie) {
  using T = TypeParam;
  std::array<T, 5> elements{};
  const DeviceSpan<T> span(elements.data(), 5, 7);
  const Values values = span.subspan(2).first(2);
  EXPECT_EQ(values.data(), reinterpret_cast<std::byte*>(elements.data() + 2));
  EXPECT_EQ(values.count(), 2U);
  EXPECT_EQ(values.type(), data_type_of<T>());
  EXPECT_EQ(values.memory(), MemoryKind::of_device(7));
  const DeviceSpan<const T> constant = span;
  for (const ConstValues& read :
       {ConstValues(span), ConstValues(constant), ConstValues(Values(span)),
        static_cast<ConstValues>(InputValues(constant))}) {
    EXPECT_EQ(read.count(), 5U);
    EXPECT_EQ(read.memory(), MemoryKind::of_device(7));
  }
  EXPECT_TRUE(Values(elements).memory().is_host());
  static_assert(!std::is_constructible_v<Values, DeviceSpan<const T>>);
  static_assert(!CanBeReadByTheHost<DeviceSpan<T>>);
  static_assert(CanBeReadByTheHost<std::span<T>>, "the concept finds what can be read");
}

TEST(Values, AreNotMadeFromOtherTypes) {
  static_assert(!std::is_constructible_v<Values, std::vector<std::int16_t>&>);
  static_assert(!std::is_constructible_v<ConstValues, const std::vector<char>&>);
  static_assert(!std::is_constructible_v<ConstValues, const std::vector<bool>&>);
  static_assert(!std::is_constructible_v<ConstValues, const std::vector<float*>&>);
  static_assert(!std::is_constructible_v<InputValues, std::vector<char>>);
  static_assert(!std::is_constructible_v<InputValues, std::vector<bool>>);
}

}  // namespace
}  // namespace rota

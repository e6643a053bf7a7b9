// Tests every collective in each of its forms, for every type and every reduction of that type,
// between real processes over a real transport.
#include <gtest/gtest.h>

#include "ranks/ranks.h"
#include "testing/every_collective.h"

namespace rota {
namespace {

template <class T>
class EveryCollectiveTest : public ::testing::Test {};

using Types = ::testing::Types<Float16, Bfloat16, float, double, std::int8_t, std::uint8_t,
                               std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(EveryCollectiveTest, Types, testing::NamesOfTypes);

TYPED_TEST(EveryCollectiveTest, LeavesWhatTheSerialReferenceDoes) {
  testing::check_every_collective<TypeParam>(the_communicator());
}

// With so many elements, an operation takes many turns of the driver, and its staged bytes fill
// their ring buffer more than once.
TYPED_TEST(EveryCollectiveTest, LeavesItForManyElements) {
  testing::EveryCollectiveCheck<TypeParam>(the_communicator()).run(100003);
}

}  // namespace
}  // namespace rota

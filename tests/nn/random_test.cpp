// Compares the generator with the test vectors that its authors publish.
#include <gtest/gtest.h>

#include "nn/random.h"

namespace rota::nn {
namespace {

TEST(Philox, GivesItsAuthorsNumbers) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~std::uint64_t{0}, {~0U, ~0U, ~0U, ~0U}),
            (RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(join(0xa4093822, 0x299f31d0), {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

}  // namespace
}  // namespace rota::nn

// Ranks of another rota, or with another layout of memory, are refused by name.
#include "communicator/first_word.h"

#include <gtest/gtest.h>

#include "base/byte_stream.h"
#include "testing/error_of.h"

namespace rota {
namespace {

TEST(FirstWord, IsReadAsItWasWritten) {
  const FirstWord word{
      .rota = own_rota(), .plan = "plan ring", .tuned_file = "/t", .tuned_text = "text"};
  const FirstWord read = decode_first_word(encode(word));
  EXPECT_EQ(rota_in_first_word(encode(word)), own_rota());
  EXPECT_EQ(read.rota, word.rota);
  EXPECT_EQ(read.plan, word.plan);
  EXPECT_EQ(read.tuned_file, word.tuned_file);
  EXPECT_EQ(read.tuned_text, word.tuned_text);
}

// Earlier versions began their word with the plan.
TEST(FirstWord, OfAnotherVersionIsRecognized) {
  base::ByteWriter earlier;
  earlier.write(std::string_view("plan ring, codec none"));
  EXPECT_EQ(rota_in_first_word(earlier.take_text()), "another version of rota");
  EXPECT_EQ(rota_in_first_word("\xff\xff"), "another version of rota");
  EXPECT_NO_THROW(require_same_rota(1, own_rota()));
  const auto error = testing::error_of([] { require_same_rota(1, "rota 1.2.4", "rota 1.2.3"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kMismatch);
  EXPECT_STREQ(error->what(),
               "rank 1 has rota 1.2.3, but rank 0 has rota 1.2.4: link all programs with the same "
               "rota");
}

TEST(MemoryLayout, IsThatOfThisProgram) {
  EXPECT_EQ(own_memory_layout(),
            sizeof(void*) == 8 ? "64-bit little-endian" : "32-bit little-endian");
  EXPECT_NO_THROW(require_same_memory_layout(3, 2, own_memory_layout()));
}

TEST(MemoryLayout, MustBeTheSameForRanksThatShareMemory) {
  for (const std::string other : {"32-bit little-endian", "64-bit big-endian"}) {
    const auto error =
        testing::error_of([&] { require_same_memory_layout(3, 2, other, "64-bit little-endian"); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kMismatch);
    EXPECT_EQ(error->what(), "rank 3 is a 64-bit little-endian program, but rank 2 is a " + other +
                                 " one: they cannot share memory; start rotarun with --transport "
                                 "tcp");
  }
}

}  // namespace
}  // namespace rota

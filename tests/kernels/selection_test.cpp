// Which variant is used: the best that runs here, or the one that was asked for.
#include <gtest/gtest.h>
#include <rota/error.h>

#include <string>

#include "kernels/kernels.h"

namespace rota::kernels {
namespace {

TEST(Selection, TakesTheFirstThatThisMachineSupports) {
  const Variant* best = nullptr;
  for (const Variant* variant : variants()) {
    if (best == nullptr && variant->supported()) best = variant;
  }
  EXPECT_EQ(&select(), best);
}

TEST(Selection, HasAVariantThatRunsEverywhere) {
  EXPECT_STREQ(variants().back()->name, "scalar");
  EXPECT_TRUE(variants().back()->supported());
}

TEST(Selection, TakesWhatIsAskedFor) {
  for (const Variant* variant : variants()) {
    if (variant->supported()) {
      EXPECT_EQ(&select(variant->name), variant);
    } else {
      EXPECT_THROW(select(variant->name), Error);
    }
  }
}

TEST(Selection, ListsWhatThereIsWhenAskedForWhatThereIsNot) {
  try {
    select("mmx");
    FAIL() << "mmx was found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    const std::string text = error.what();
    EXPECT_NE(text.find("\"mmx\""), std::string::npos) << text;
    EXPECT_NE(text.find("scalar"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace rota::kernels

// Tests the selection of kernels: the best kernels of each kind that this machine can run, or the
// variant that the user names.
#include <gtest/gtest.h>
#include <rota/error.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/codings.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"
#include "kernels/reference.h"
#include "kernels/tiles.h"
#include "kernels/toy_variant.h"
#include "testing/error_of.h"

namespace rota::kernels {
namespace {

using testing::kToy;
using testing::kToyTiles;
using testing::supported;

#if defined(__x86_64__)
constexpr const char* kOfOtherProcessors = "neon";
#else
constexpr const char* kOfOtherProcessors = "avx2";
#endif

template <class Kernels>
class SelectionTest : public ::testing::Test {};

using Sorts = ::testing::Types<Reductions, Codings, Optimizers, Tiles>;
TYPED_TEST_SUITE(SelectionTest, Sorts);

TYPED_TEST(SelectionTest, TakesTheFirstRowThatThisMachineSupports) {
  EXPECT_EQ(&select<TypeParam>(), supported<TypeParam>().front());
}

TYPED_TEST(SelectionTest, HasARowThatRunsEverywhere) {
  EXPECT_EQ(reference<TypeParam>().variant, variants().back());
  EXPECT_STREQ(variants().back()->name, "scalar");
  EXPECT_TRUE(variants().back()->supported());
}

// Method: in the list of all variants, which has the best first, the variant of each row must come
// after the variant of the row before.
TYPED_TEST(SelectionTest, HasItsRowsBestFirst) {
  auto rest = variants();
  for (const TypeParam* row : TypeParam::table()) {
    const auto found = std::ranges::find(rest, row->variant);
    ASSERT_NE(found, rest.end()) << row->variant->name;
    rest = rest.subspan(static_cast<std::size_t>(found - rest.begin()) + 1);
  }
}

TYPED_TEST(SelectionTest, TakesWhatIsAskedFor) {
  for (const TypeParam* row : TypeParam::table()) {
    if (row->variant->supported()) {
      EXPECT_EQ(&select<TypeParam>(row->variant->name), row);
    } else {
      EXPECT_THROW(select<TypeParam>(row->variant->name), Error);
    }
  }
}

TYPED_TEST(SelectionTest, ListsWhatThereIsWhenAskedForWhatThereIsNot) {
  std::string names;
  for (const Variant* variant : variants()) {
    if (variant->supported()) names += (names.empty() ? "" : ", ") + std::string(variant->name);
  }
  for (const std::string name : {"mmx", kOfOtherProcessors}) {
    const auto error = rota::testing::error_of([&] { select<TypeParam>(name); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(error->what(), "this machine has no kernels named \"" + name + "\"; it has " + names);
  }
}

TEST(BestVariant, IsTheFirstThatThisMachineSupports) {
  EXPECT_TRUE(best_variant().supported());
  EXPECT_EQ(&best_variant(), allowed(variants(), best_variant().name).front());
  for (const Variant* variant : variants()) {
    if (variant == &best_variant()) break;
    EXPECT_FALSE(variant->supported()) << variant->name;
  }
}

// The new variant is better than all others, but has only tiles. The other kinds of kernels do not
// change.
TEST(NewVariant, TakesWhatItLacksFromTheOthers) {
  std::vector<const Variant*> all = {&kToy};
  all.insert(all.end(), variants().begin(), variants().end());
  std::vector<const Tiles*> tiles = {&kToyTiles};
  tiles.insert(tiles.end(), Tiles::table().begin(), Tiles::table().end());
  for (const char* forced : {"", "toy"}) {
    const Variants may_run = allowed(all, forced);
    EXPECT_EQ(&best_row<Tiles>(may_run, tiles), &kToyTiles);
    EXPECT_EQ(&best_row(may_run, Reductions::table()), &select<Reductions>());
    EXPECT_EQ(&best_row(may_run, Codings::table()), &select<Codings>());
    EXPECT_EQ(&best_row(may_run, Optimizers::table()), &select<Optimizers>());
  }
  EXPECT_EQ(&best_row<Tiles>(allowed(all, "scalar"), tiles), &reference<Tiles>());
}

bool runs() noexcept { return true; }
bool does_not_run() noexcept { return false; }

constexpr Variant kBest = {"best", runs};
constexpr Variant kMissing = {"missing", does_not_run};
constexpr Variant kMiddle = {"middle", runs};
constexpr Variant kLast = {"last", runs};
constexpr const Variant* kAll[] = {&kBest, &kMissing, &kMiddle, &kLast};

struct Row {
  const Variant* variant;
};
constexpr Row kOfBest = {&kBest};
constexpr Row kOfMissing = {&kMissing};
constexpr Row kOfMiddle = {&kMiddle};
constexpr Row kOfLast = {&kLast};

std::string chosen(std::span<const Row* const> table, std::string_view forced) {
  return best_row<Row>(allowed(kAll, forced), table).variant->name;
}

// A caller that asks for a lesser variant must not get a better one.
TEST(NewVariant, IsNeverReplacedByABetterOne) {
  constexpr const Row* kLacksMiddle[] = {&kOfBest, &kOfMissing, &kOfLast};
  constexpr const Row* kLacksBest[] = {&kOfMissing, &kOfMiddle, &kOfLast};
  constexpr const Row* kHasLast[] = {&kOfLast};
  EXPECT_EQ(chosen(kLacksMiddle, ""), "best");
  EXPECT_EQ(chosen(kLacksMiddle, "best"), "best");
  EXPECT_EQ(chosen(kLacksMiddle, "middle"), "last");
  EXPECT_EQ(chosen(kLacksMiddle, "last"), "last");
  EXPECT_EQ(chosen(kLacksBest, ""), "middle");
  EXPECT_EQ(chosen(kLacksBest, "best"), "middle");
  EXPECT_EQ(chosen(kLacksBest, "last"), "last");
  EXPECT_EQ(chosen(kHasLast, ""), "last");
  EXPECT_EQ(chosen(kHasLast, "best"), "last");
}

TEST(NewVariant, IsListedAmongWhatThereIs) {
  constexpr const Row* kHasLast[] = {&kOfLast};
  try {
    chosen(kHasLast, "missing");
    FAIL() << "a variant that cannot run here was chosen";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "this machine has no kernels named \"missing\"; it has best, middle, last");
  }
}

}  // namespace
}  // namespace rota::kernels

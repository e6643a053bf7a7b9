// Compares rota's own declarations of PMIx with PMIx's header. If a size or a number differed, a
// rank would read and write the wrong memory.
#include "stores/pmix_calls.h"

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstddef>
#include <vector>

namespace rota::stores::pmix {
namespace {

static_assert(sizeof(Proc) == sizeof(pmix_proc_t) && alignof(Proc) == alignof(pmix_proc_t));
static_assert(offsetof(Proc, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(Value) == sizeof(pmix_value_t) && alignof(Value) == alignof(pmix_value_t));
static_assert(offsetof(Value, data) == offsetof(pmix_value_t, data));
static_assert(sizeof(Value::type) == sizeof(pmix_value_t::type));
static_assert(sizeof(Info) == sizeof(pmix_info_t) && alignof(Info) == alignof(pmix_info_t));
static_assert(offsetof(Info, flags) == offsetof(pmix_info_t, flags));
static_assert(offsetof(Info, value) == offsetof(pmix_info_t, value));
static_assert(sizeof(Status) == sizeof(pmix_status_t) && sizeof(Rank) == sizeof(pmix_rank_t) &&
              sizeof(Scope) == sizeof(pmix_scope_t));
static_assert(kSuccess == PMIX_SUCCESS && kAlreadyDone == PMIX_OPERATION_SUCCEEDED);
static_assert(kAnyRank == PMIX_RANK_WILDCARD && kGlobal == PMIX_GLOBAL);
static_assert(kBool == PMIX_BOOL && kString == PMIX_STRING && kUint32 == PMIX_UINT32);

// Has the sizes of a call's result and parameters. Pointers to rota's own types and pointers to
// PMIx's types have the same size.
template <class Call>
struct Sizes;
template <class Result, class... Arguments>
struct Sizes<Result (*)(Arguments...)> {
  static std::vector<std::size_t> get() { return {sizeof(Result), sizeof(Arguments)...}; }
};
template <class Ours, class Theirs>
bool are_alike() {
  return Sizes<Ours>::get() == Sizes<Theirs>::get();
}

// Method: only the types of the library's functions are used, so the test does not link it.
TEST(PmixCalls, TakeTheArgumentsOfTheLibrarysOwn) {
  EXPECT_TRUE((are_alike<decltype(Calls::init), decltype(&PMIx_Init)>()));
  EXPECT_TRUE((are_alike<decltype(Calls::finalize), decltype(&PMIx_Finalize)>()));
  EXPECT_TRUE((are_alike<decltype(Calls::put), decltype(&PMIx_Put)>()));
  EXPECT_TRUE((are_alike<decltype(Calls::commit), decltype(&PMIx_Commit)>()));
  EXPECT_TRUE((are_alike<decltype(Calls::fence), decltype(&PMIx_Fence_nb)>()));
  EXPECT_TRUE((are_alike<decltype(Calls::get), decltype(&PMIx_Get_nb)>()));
  EXPECT_TRUE((are_alike<decltype(Calls::error_text), decltype(&PMIx_Error_string)>()));
}

TEST(PmixCalls, HaveTheNamesOfTheStandard) {
  EXPECT_STREQ(kJobSize, PMIX_JOB_SIZE);
  EXPECT_STREQ(kLocalSize, PMIX_LOCAL_SIZE);
  EXPECT_STREQ(kCollectData, PMIX_COLLECT_DATA);
}

// A value is in the same place of the union, whatever its type is.
TEST(PmixCalls, FindAValueWhereTheLibraryPutsIt) {
  pmix_value_t theirs{};
  Value ours{};
  ours.type = kUint32;
  ours.data.number = 4711;
  static_assert(sizeof ours == sizeof theirs);
  __builtin_memcpy(&theirs, &ours, sizeof theirs);
  EXPECT_EQ(theirs.type, PMIX_UINT32);
  EXPECT_EQ(theirs.data.uint32, 4711U);
  char text[] = "text";
  ours.data.string = text;
  __builtin_memcpy(&theirs, &ours, sizeof theirs);
  EXPECT_EQ(theirs.data.string, text);
}

}  // namespace
}  // namespace rota::stores::pmix

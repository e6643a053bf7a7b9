// What rota declares of NCCL is what nccl.h declares. This file is compiled only where there is a
// nccl.h: the compiler makes the comparison.
#include <nccl.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include <rota/nccl_calls.h>

#include "nccl/functions.h"

namespace rota {
namespace {

template <class T>
constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;

// rota declares enumerations as int, and pointers to NCCL's types as pointers to its own.
template <class A, class B>
constexpr bool are_alike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>&& is_number<A> ==
                                  is_number<B>&& std::is_class_v<A> == std::is_class_v<B>;

template <class A, class B>
struct Functions : std::false_type {};
template <class A, class... As, class B, class... Bs>
requires(sizeof...(As) == sizeof...(Bs)) struct Functions<A(As...), B(Bs...)>
    : std::bool_constant<are_alike<A, B> && (are_alike<As, Bs> && ...)> {
};

#define ROTA_COMPARE(name, arguments) \
  static_assert(Functions<int arguments, decltype(::name)>::value, #name);
namespace of_rota {
using namespace nccl;  // NOLINT: the arguments have the types of rota.
ROTA_NCCL_FUNCTIONS(ROTA_COMPARE)
#if NCCL_VERSION_CODE >= 22807
ROTA_NEWER_NCCL_FUNCTIONS(ROTA_COMPARE)
#endif
}  // namespace of_rota

TEST(NcclDeclarations, AreThoseOfItsHeader) {
  EXPECT_EQ(int{nccl::kInvalidUsage}, int{ncclInvalidUsage});
  EXPECT_EQ(int{nccl::kRemoteError}, int{ncclRemoteError});
  EXPECT_EQ(int{nccl::kInProgress}, int{ncclInProgress});
  EXPECT_EQ(int{nccl::kInt8}, int{ncclInt8});
  EXPECT_EQ(int{nccl::kUint8}, int{ncclUint8});
  EXPECT_EQ(int{nccl::kInt32}, int{ncclInt32});
  EXPECT_EQ(int{nccl::kInt64}, int{ncclInt64});
  EXPECT_EQ(int{nccl::kFloat16}, int{ncclFloat16});
  EXPECT_EQ(int{nccl::kFloat32}, int{ncclFloat32});
  EXPECT_EQ(int{nccl::kFloat64}, int{ncclFloat64});
  EXPECT_EQ(int{nccl::kBfloat16}, int{ncclBfloat16});
  EXPECT_EQ(int{nccl::kSum}, int{ncclSum});
  EXPECT_EQ(int{nccl::kProduct}, int{ncclProd});
  EXPECT_EQ(int{nccl::kMax}, int{ncclMax});
  EXPECT_EQ(int{nccl::kMin}, int{ncclMin});
}

TEST(NcclDeclarations, OfTheConfigurationAreItsBeginning) {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const nccl::Config ours;
  EXPECT_EQ(offsetof(ncclConfig_t, size), offsetof(nccl::Config, size));
  EXPECT_EQ(offsetof(ncclConfig_t, magic), offsetof(nccl::Config, magic));
  EXPECT_EQ(offsetof(ncclConfig_t, version), offsetof(nccl::Config, version));
  EXPECT_EQ(offsetof(ncclConfig_t, blocking), offsetof(nccl::Config, blocking));
  EXPECT_EQ(theirs.magic, ours.magic);
  EXPECT_EQ(theirs.blocking, ours.blocking);
  EXPECT_LE(ours.size, theirs.size);
  EXPECT_EQ(sizeof(ncclUniqueId), sizeof(nccl::Id));
}

}  // namespace
}  // namespace rota

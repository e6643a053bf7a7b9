// Compares what rota declares of cuBLAS with cuBLAS's own header.
#include <cublas_v2.h>

#include <gtest/gtest.h>

#include <type_traits>

#include "cuda/cublas.h"

namespace rota::cuda {
namespace {

// What a type of cuBLAS is in rota's declarations: an enumeration is an int, a handle or a stream a
// void*.
template <class T>
using Plain = std::conditional_t<
    std::is_enum_v<T>, int,
    std::conditional_t<std::is_same_v<T, cublasHandle_t> || std::is_same_v<T, cudaStream_t>, void*,
                       std::conditional_t<std::is_same_v<T, cublasHandle_t*>, void**, T>>>;

template <class Function>
struct PlainFunction;
template <class Result, class... Arguments>
struct PlainFunction<Result (*)(Arguments...)> {
  static_assert(sizeof(Result) == sizeof(int) &&
                (... && (!std::is_enum_v<Arguments> || sizeof(Arguments) == sizeof(int))));
  using Type = Plain<Result> (*)(Plain<Arguments>...);
};

template <class Theirs, class Ours>
constexpr bool kIsSame = std::is_same_v<typename PlainFunction<Theirs>::Type, Ours>;

TEST(CublasHeader, HasWhatRotaDeclares) {
  EXPECT_TRUE((kIsSame<decltype(&cublasCreate_v2), decltype(Cublas::create)>));
  EXPECT_TRUE((kIsSame<decltype(&cublasDestroy_v2), decltype(Cublas::destroy)>));
  EXPECT_TRUE((kIsSame<decltype(&cublasSetStream_v2), decltype(Cublas::set_stream)>));
  EXPECT_TRUE((kIsSame<decltype(&cublasSetWorkspace_v2), decltype(Cublas::set_workspace)>));
  EXPECT_TRUE((kIsSame<decltype(&cublasSetMathMode), decltype(Cublas::set_math_mode)>));
  EXPECT_TRUE((kIsSame<decltype(&cublasSgemm_v2), decltype(Cublas::sgemm)>));
  EXPECT_EQ(static_cast<int>(CUBLAS_STATUS_SUCCESS), Cublas::kSuccess);
  EXPECT_EQ(static_cast<int>(CUBLAS_OP_N), Cublas::kPlain);
  EXPECT_EQ(static_cast<int>(CUBLAS_OP_T), Cublas::kTransposed);
  EXPECT_EQ(static_cast<int>(CUBLAS_DEFAULT_MATH), Cublas::kFullPrecision);
}

}  // namespace
}  // namespace rota::cuda

// The matrix product, by OpenBLAS if CMake chose it (ROTA_BLAS), otherwise by Eigen.
#include "nn/product.h"

#include <mutex>

#if defined(ROTA_OPENBLAS)
// All builds of OpenBLAS have these functions; sgemm_ and dgemm_ have the Fortran interface.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" void openblas_set_num_threads(int count);
extern "C" int openblas_get_parallel();
extern "C" void sgemm_(const char* a_is, const char* b_is, const int* rows, const int* columns,
                       const int* inner, const float* factor, const float* a, const int* a_step,
                       const float* b, const int* b_step, const float* result_factor, float* result,
                       const int* result_step);
extern "C" void dgemm_(const char* a_is, const char* b_is, const int* rows, const int* columns,
                       const int* inner, const double* factor, const double* a, const int* a_step,
                       const double* b, const int* b_step, const double* result_factor,
                       double* result, const int* result_step);
// NOLINTEND(readability-identifier-naming)
#else
#include <Eigen/Core>
#endif

namespace rota::nn {
namespace {

#if defined(ROTA_OPENBLAS)
constexpr auto gemm_of(const float*) noexcept { return sgemm_; }
constexpr auto gemm_of(const double*) noexcept { return dgemm_; }

template <class T>
int step_of(const Matrix<T>& matrix) noexcept {
  return static_cast<int>(matrix.column_major ? matrix.rows : matrix.columns);
}

// BLAS stores matrices by columns, and these matrices are stored by rows. So BLAS sees them
// transposed, and computes the transposed product: bᵀ · aᵀ.
template <class T>
void multiply_at_once(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept {
  const char transposed = 'T';
  const char plain = 'N';
  const int rows = static_cast<int>(b.columns);
  const int columns = static_cast<int>(a.rows);
  const int inner = static_cast<int>(a.columns);
  const int a_step = step_of(a);
  const int b_step = step_of(b);
  const T one = 1;
  const T kept = mode == Result::kAdd ? 1 : 0;
  gemm_of(result)(b.column_major ? &transposed : &plain, a.column_major ? &transposed : &plain,
                  &rows, &columns, &inner, &one, b.data, &b_step, a.data, &a_step, &kept, result,
                  &rows);
}

// The serial build of OpenBLAS hands out its working memory without a lock: products of several
// threads at the same time gave wrong results. So the replicas of a process multiply one after the
// other. The library has one working memory for the process, so there is one lock for the process.
std::unique_lock<std::mutex> take_turn() {
  static const bool kIsSerial = openblas_get_parallel() == 0;
  static std::mutex turn;
  return kIsSerial ? std::unique_lock(turn) : std::unique_lock<std::mutex>();
}
#else
template <class T, int Order>
using View = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order> >;
template <class T>
using ResultView = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> >;

template <int Order, class T>
View<T, Order> view(const Matrix<T>& matrix) noexcept {
  return {matrix.data, static_cast<Eigen::Index>(matrix.rows),
          static_cast<Eigen::Index>(matrix.columns)};
}

template <class T, class A, class B>
void multiply_views(const A& a, const B& b, T* data, Result mode) noexcept {
  ResultView<T> result(data, a.rows(), b.cols());
  if (mode == Result::kAdd) {
    result.noalias() += a * b;
  } else {
    result.noalias() = a * b;
  }
}

template <class T, class A>
void multiply_by(const A& a, const Matrix<T>& b, T* result, Result mode) noexcept {
  b.column_major ? multiply_views(a, view<Eigen::ColMajor>(b), result, mode)
                 : multiply_views(a, view<Eigen::RowMajor>(b), result, mode);
}

template <class T>
void multiply_at_once(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept {
  a.column_major ? multiply_by(view<Eigen::ColMajor>(a), b, result, mode)
                 : multiply_by(view<Eigen::RowMajor>(a), b, result, mode);
}
#endif

}  // namespace

template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept {
#if defined(ROTA_OPENBLAS)
  const std::unique_lock<std::mutex> turn = take_turn();
#endif
  multiply_at_once(a, b, result, mode);
}

void use_one_thread() noexcept {
#if defined(ROTA_OPENBLAS)
  // Called only once, because other replicas of this process may be in the middle of a product.
  [[maybe_unused]] static const bool kDone = (openblas_set_num_threads(1), true);
#endif
}

template void multiply(const Matrix<float>&, const Matrix<float>&, float*, Result) noexcept;
template void multiply(const Matrix<double>&, const Matrix<double>&, double*, Result) noexcept;

}  // namespace rota::nn

// Hands products to Eigen, which hands them to OpenBLAS where ROTA_BLAS (CMake) says so.
#include "nn/product.h"

#include <Eigen/Core>
#include <mutex>

#if defined(EIGEN_USE_BLAS)
extern "C" void openblas_set_num_threads(int count);  // All flavours have these.
extern "C" int openblas_get_parallel();
#endif

namespace rota::nn {
namespace {

template <class T, int Order>
using View = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>>;
template <class T>
using ResultView = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

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

// The serial flavour of OpenBLAS hands out its working memory without a lock: products that threads
// took at once came out wrong. So replicas of one process take turns there. It is the library's
// memory, one for the process, and so is the lock.
std::unique_lock<std::mutex> take_turn() {
#if defined(EIGEN_USE_BLAS)
  static const bool kIsSerial = openblas_get_parallel() == 0;
  static std::mutex turn;
  if (kIsSerial) return std::unique_lock(turn);
#endif
  return {};
}

}  // namespace

template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, T* result, Result mode) noexcept {
  const std::unique_lock<std::mutex> turn = take_turn();
  a.column_major ? multiply_by(view<Eigen::ColMajor>(a), b, result, mode)
                 : multiply_by(view<Eigen::RowMajor>(a), b, result, mode);
}

void use_one_thread() noexcept {
#if defined(EIGEN_USE_BLAS)
  // Once, since other replicas of this process may be in the middle of a product.
  [[maybe_unused]] static const bool kDone = (openblas_set_num_threads(1), true);
#endif
}

template void multiply(const Matrix<float>&, const Matrix<float>&, float*, Result) noexcept;
template void multiply(const Matrix<double>&, const Matrix<double>&, double*, Result) noexcept;

}  // namespace rota::nn

// Finds cuBLAS, and gives its products row-major matrices.
#include "cuda/products.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <new>

#include "cuda/cublas.h"

namespace rota::cuda {
namespace {

// Of CUDA's error codes, without its header.
enum CudaError {
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitialization = 3,
  kNoKernelImage = 209,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kUnknown = 999,
};

// cuBLAS gives the same bits in each call only if one stream at a time uses its workspace. So every
// stream has a handle with a workspace of its own, as large as cuBLAS takes itself on a H100.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

struct Products {
  Cublas::Handle handle = nullptr;
  void* workspace = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Cublas& found) noexcept {
  const auto& names = Cublas::kNames;
  return find(library, names[0], found.create) && find(library, names[1], found.destroy) &&
         find(library, names[2], found.set_stream) &&
         find(library, names[3], found.set_workspace) &&
         find(library, names[4], found.set_math_mode) && find(library, names[5], found.sgemm);
}

Products* products_of(Handle products) noexcept {
  return reinterpret_cast<Products*>(products);  // NOLINT(performance-no-int-to-ptr)
}

int fill(const Calls& calls, const Cublas& functions, const On& on, Products& products) noexcept {
  int error = calls.allocate(on.device, kWorkspaceBytes, products.workspace);
  if (error != 0) return error;
  error = error_of_cublas(functions.create(&products.handle));
  if (error != 0) return error;
  auto* const stream = reinterpret_cast<Cublas::Stream>(on.stream);  // NOLINT: a number.
  error = error_of_cublas(functions.set_stream(products.handle, stream));
  if (error != 0) return error;
  // Setting a stream takes the workspace away, so this comes afterwards.
  error = error_of_cublas(
      functions.set_workspace(products.handle, products.workspace, kWorkspaceBytes));
  if (error != 0) return error;
  return error_of_cublas(functions.set_math_mode(products.handle, Cublas::kFullPrecision));
}

}  // namespace

const Cublas* cublas() noexcept {
  static Cublas functions;
  static const bool kIsThere = [] {
    for (const char* const name : {"libcublas.so.13", "libcublas.so.12"}) {
      void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr && find_all(library, functions)) return true;
    }
    return false;
  }();
  return kIsThere ? &functions : nullptr;
}

int error_of_cublas(int status) noexcept {
  switch (status) {
    case Cublas::kSuccess:
      return 0;
    case 1:  // CUBLAS_STATUS_NOT_INITIALIZED
      return kInitialization;
    case 3:  // CUBLAS_STATUS_ALLOC_FAILED
      return kMemoryAllocation;
    case 7:  // CUBLAS_STATUS_INVALID_VALUE
      return kInvalidValue;
    case 8:  // CUBLAS_STATUS_ARCH_MISMATCH
      return kNoKernelImage;
    case 13:  // CUBLAS_STATUS_EXECUTION_FAILED
      return kLaunchFailure;
    case 15:  // CUBLAS_STATUS_NOT_SUPPORTED
      return kNotSupported;
    default:
      return kUnknown;
  }
}

int make_products(const Calls& calls, const On& on, Handle& handle) noexcept {
  const Cublas* const functions = cublas();
  if (functions == nullptr) return kNoProducts;
  auto* const products = new (std::nothrow) Products;
  if (products == nullptr) return kMemoryAllocation;
  const int error = fill(calls, *functions, on, *products);
  const auto made = reinterpret_cast<Handle>(products);
  if (error == 0) {
    handle = made;
  } else {
    destroy_products(calls, on, made);
  }
  return error;
}

int destroy_products(const Calls& calls, const On& on, Handle handle) noexcept {
  Products* const products = products_of(handle);
  if (products == nullptr) return 0;
  const int status = products->handle == nullptr ? 0 : cublas()->destroy(products->handle);
  const int error = products->workspace == nullptr ? 0 : calls.free(on.device, products->workspace);
  delete products;
  return status != Cublas::kSuccess ? error_of_cublas(status) : error;
}

// cuBLAS stores matrices by columns, and these matrices are stored by rows. So cuBLAS sees them
// transposed, and computes the transposed product: bᵀ · aᵀ.
int multiply(Handle handle, const Product& product) noexcept {
  const auto [a, b, result, all_rows, all_columns, all_inner, a_is_transposed, b_is_transposed,
              adds] = product;
  constexpr std::size_t kMost = std::numeric_limits<int>::max();  // As cuBLAS counts.
  if (std::max({all_rows, all_columns, all_inner}) > kMost) return kInvalidValue;
  const int rows = static_cast<int>(all_rows);
  const int columns = static_cast<int>(all_columns);
  const int inner = static_cast<int>(all_inner);
  const float one = 1;
  const float kept = adds ? 1 : 0;
  return error_of_cublas(cublas()->sgemm(
      products_of(handle)->handle, b_is_transposed ? Cublas::kTransposed : Cublas::kPlain,
      a_is_transposed ? Cublas::kTransposed : Cublas::kPlain, columns, rows, inner, &one, b,
      b_is_transposed ? inner : columns, a, a_is_transposed ? rows : inner, &kept, result,
      columns));
}

}  // namespace rota::cuda

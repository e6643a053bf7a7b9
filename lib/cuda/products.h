// Computes the products of matrices on a GPU, by cuBLAS. Needs nothing of CUDA to be compiled. The
// caller makes the stream's device the thread's, as CUDA's functions want it.
#pragma once
#include <rota/cuda_calls.h>

namespace rota::cuda {

// These three do what the functions of ModelCalls do. make_products() takes its working memory from
// `calls`, which must be the same in destroy_products().
int make_products(const Calls& calls, const On& on, Handle& handle) noexcept;
int destroy_products(const Calls& calls, const On& on, Handle handle) noexcept;
int multiply(Handle handle, const Product& product) noexcept;

// Returns the error code of CUDA that means the same as a status of cuBLAS.
int error_of_cublas(int status) noexcept;

}  // namespace rota::cuda

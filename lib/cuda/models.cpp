// Gives kernels and products the arguments of the table's functions for models. This file needs
// nothing of CUDA: a test compiles it together with the kernels as plain C++.
#include "cuda/models.h"

#include <rota/cuda.h>

#include <cstddef>

#include "cuda/on_queue.h"
#include "cuda/products.h"
#include "kernels/cuda/launches.h"

namespace rota::cuda {
namespace {

using kernels::cuda::launches;
using kernels::cuda::ModelLaunches;
using kernels::cuda::Queue;

static_assert(kNormBlock == kernels::kNormBlock);

// Fills a function with one that launches a kernel of ModelLaunches with the same arguments.
template <auto kKernel, class... Arguments>
void fill(int (*&function)(const On& on, Arguments... arguments) noexcept) noexcept {
  function = [](const On& on, Arguments... arguments) noexcept {
    return on_queue(
        on, [&](const Queue& queue) { return (launches().models.*kKernel)(queue, arguments...); });
  };
}

// Calls `call` while the stream's device is the thread's, as cuBLAS wants it.
template <class Call>
int on_device(const On& on, Call call) noexcept {
  const Current current(on.device);
  return current.error() != 0 ? current.error() : call();
}

void fill_products(ModelCalls& models) noexcept {
  models.make_products = [](const On& on, Handle& products) noexcept {
    return on_device(on, [&] { return make_products(*rota_calls_of_cuda(), on, products); });
  };
  models.destroy_products = [](const On& on, Handle products) noexcept {
    return on_device(on, [&] { return destroy_products(*rota_calls_of_cuda(), on, products); });
  };
  models.multiply = [](const On& on, Handle products, const Product& product) noexcept {
    return on_device(on, [&] { return multiply(products, product); });
  };
}

void fill_updates(ModelCalls& models) noexcept {
  models.sgd = [](const On& on, float* values, float* velocity, const float* gradient,
                  std::size_t count, const SgdStep& step) noexcept {
    return on_queue(on, [&](const Queue& queue) {
      return launches().float32.sgd(
          queue, values, velocity, gradient, count,
          {step.learning_rate, step.momentum, step.weight_decay, step.gradient_scale});
    });
  };
  models.adam = [](const On& on, float* values, float* mean, float* mean_square,
                   const float* gradient, std::size_t count, const AdamStep& step) noexcept {
    return on_queue(on, [&](const Queue& queue) {
      return launches().float32.adam(queue, values, mean, mean_square, gradient, count,
                                     {step.beta1, step.beta2, step.weight_decay, step.rate,
                                      step.correction, step.epsilon, step.gradient_scale});
    });
  };
  models.squared_norm = [](const On& on, double* result, double* work, const float* values,
                           std::size_t count) noexcept {
    return on_queue(on, [&](const Queue& queue) {
      return launches()
          .of(DataType::kFloat32)
          .squared_norm(queue, result, work, reinterpret_cast<const std::byte*>(values), count);
    });
  };
}

}  // namespace

void add_models(Calls& calls) noexcept {
  ModelCalls& models = calls.models;
  fill_products(models);
  fill<&ModelLaunches::fill_rows>(models.fill_rows);
  fill<&ModelLaunches::add_rows>(models.add_rows);
  fill<&ModelLaunches::activate>(models.activate);
  fill<&ModelLaunches::differentiate>(models.differentiate);
  fill<&ModelLaunches::multiply_each>(models.multiply_each);
  fill<&ModelLaunches::widen_pixels>(models.widen_pixels);
  fill<&ModelLaunches::max_pool>(models.max_pool);
  fill<&ModelLaunches::max_pool_gradient>(models.max_pool_gradient);
  fill<&ModelLaunches::unfold>(models.unfold);
  fill<&ModelLaunches::turn_filters>(models.turn_filters);
  fill<&ModelLaunches::draw_factors>(models.draw_factors);
  fill<&ModelLaunches::softmax_cross_entropy>(models.softmax_cross_entropy);
  fill_updates(models);
}

}  // namespace rota::cuda

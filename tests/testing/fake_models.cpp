// The part of the fake device by which models are trained: the kernels for GPUs, compiled as plain
// C++, and the host's products. Blocks and threads of each kernel run in another order than those
// of the kernel before.
#include <utility>
#include <vector>

#include "kernels/cuda/host_run.h"
#include "kernels/cuda/launches.h"
#include "nn/product.h"
#include "testing/fake_inside.h"

namespace rota::testing {
namespace {

using cuda::Activation;
using cuda::Handle;
using cuda::Images;
using cuda::ModelCalls;
using cuda::On;
using kernels::cuda::Queue;

constexpr int kWrongStream = 1;

// The products of one stream.
struct Products {
  Handle stream;
};

// An array that a kernel uses. Null: the kernel uses none in this place.
struct Array {
  const void* address;
  std::size_t bytes;
};

template <class T>
Array array_of(const T* elements, std::size_t count) {
  return {elements, count * sizeof(T)};
}

// Where the host accesses the arrays of a kernel.
class Inside {
 public:
  Inside(FakeMemory& all, const std::vector<Array>& arrays) : arrays_(arrays) {
    for (const Array& array : arrays_) {
      places_.push_back(array.address ? all.reach(array.address, array.bytes, "a kernel")
                                      : nullptr);
      is_whole_ &= !array.address || places_.back();
    }
  }
  bool is_whole() const { return is_whole_; }

  // Returns where the array is that begins at `address`.
  template <class T>
  T* operator()(T* address) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (arrays_[i].address == address) return reinterpret_cast<T*>(places_[i]);
    }
    return nullptr;
  }

 private:
  std::vector<Array> arrays_;
  std::vector<std::byte*> places_;
  bool is_whole_ = true;
};

// Puts a kernel on a stream. launch(queue, inside) runs it on the host.
template <class Launch>
int add_launch(const On& on, std::vector<Array> arrays, Launch launch) {
  return add_fake_kernel(on, [arrays = std::move(arrays), launch](FakeMemory& all) {
    const Inside inside(all, arrays);
    if (!inside.is_whole()) return;
    static std::uint32_t count = 0;  // Kernels run one at a time.
    ++count;
    kernels::cuda::host_run::order_seed = count;
    launch(Queue{nullptr, count % 8 == 0 ? 3U : 1U << 20}, inside);
  });
}

const kernels::cuda::ModelLaunches& kernels_of_models() { return kernels::cuda::launches().models; }

nn::Matrix<float> matrix_of(const float* data, std::size_t rows, std::size_t columns,
                            bool is_transposed) {
  if (is_transposed) return nn::row_major(data, columns, rows).transposed();
  return nn::row_major(data, rows, columns);
}

void add_products(ModelCalls& calls) {
  calls.make_products = [](const On& on, Handle& products) noexcept {
    products = reinterpret_cast<Handle>(new Products{on.stream});
    return 0;
  };
  calls.destroy_products = [](const On&, Handle products) noexcept {
    delete reinterpret_cast<Products*>(products);
    return 0;
  };
  calls.multiply = [](const On& on, Handle products, const cuda::Product& product) noexcept {
    if (reinterpret_cast<Products*>(products)->stream != on.stream) return kWrongStream;
    const auto& [a, b, result, rows, columns, inner, a_turned, b_turned, adds] = product;
    return add_launch(
        on,
        {array_of(a, rows * inner), array_of(b, inner * columns), array_of(result, rows * columns)},
        [product](const Queue&, const Inside& inside) {
          nn::multiply(
              matrix_of(inside(product.a), product.rows, product.inner, product.a_is_transposed),
              matrix_of(inside(product.b), product.inner, product.columns, product.b_is_transposed),
              inside(product.result), product.adds ? nn::Result::kAdd : nn::Result::kOverwrite);
        });
  };
}

void add_rows_and_values(ModelCalls& calls) {
  calls.fill_rows = [](const On& on, float* matrix, const float* row, std::size_t rows,
                       std::size_t columns) noexcept {
    return add_launch(on, {array_of(matrix, rows * columns), array_of(row, columns)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().fill_rows(queue, inside(matrix), inside(row), rows,
                                                      columns);
                      });
  };
  calls.add_rows = [](const On& on, float* sums, float* work, const float* matrix, std::size_t rows,
                      std::size_t columns, bool adds) noexcept {
    return add_launch(on,
                      {array_of(sums, columns), array_of(work, cuda::row_sums(columns)),
                       array_of(matrix, rows * columns)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().add_rows(queue, inside(sums), inside(work),
                                                     inside(matrix), rows, columns, adds);
                      });
  };
  calls.activate = [](const On& on, Activation activation, float* values,
                      std::size_t count) noexcept {
    return add_launch(on, {array_of(values, count)}, [=](const Queue& queue, const Inside& inside) {
      kernels_of_models().activate(queue, activation, inside(values), count);
    });
  };
  calls.differentiate = [](const On& on, Activation activation, float* gradient,
                           const float* output, std::size_t count) noexcept {
    return add_launch(on, {array_of(gradient, count), array_of(output, count)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().differentiate(queue, activation, inside(gradient),
                                                          inside(output), count);
                      });
  };
  calls.multiply_each = [](const On& on, float* values, const float* factors,
                           std::size_t count) noexcept {
    return add_launch(on, {array_of(values, count), array_of(factors, count)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().multiply_each(queue, inside(values), inside(factors),
                                                          count);
                      });
  };
  calls.widen_pixels = [](const On& on, float* values, const std::uint8_t* pixels,
                          std::size_t count) noexcept {
    return add_launch(on, {array_of(values, count), array_of(pixels, count)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().widen_pixels(queue, inside(values), inside(pixels),
                                                         count);
                      });
  };
  calls.draw_factors = [](const On& on, float* factors, const std::uint64_t* identities,
                          std::size_t samples, std::size_t units,
                          const cuda::Dropout& dropout) noexcept {
    return add_launch(on, {array_of(factors, samples * units), array_of(identities, samples)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().draw_factors(queue, inside(factors), inside(identities),
                                                         samples, units, dropout);
                      });
  };
}

void add_images(ModelCalls& calls) {
  static constexpr auto kPixels = [](const Images& images) {
    return images.count * images.rows * images.columns * images.channels;
  };
  static constexpr auto kSquares = [](const Images& images) {
    return images.count * (images.rows / images.window) * (images.columns / images.window) *
           images.channels;
  };
  calls.max_pool = [](const On& on, float* output, const float* input,
                      const Images& images) noexcept {
    return add_launch(on, {array_of(output, kSquares(images)), array_of(input, kPixels(images))},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().max_pool(queue, inside(output), inside(input), images);
                      });
  };
  calls.max_pool_gradient = [](const On& on, float* input_gradient, const float* input,
                               const float* output_gradient, const Images& images) noexcept {
    return add_launch(on,
                      {array_of(input_gradient, kPixels(images)), array_of(input, kPixels(images)),
                       array_of(output_gradient, kSquares(images))},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().max_pool_gradient(queue, inside(input_gradient),
                                                              inside(input),
                                                              inside(output_gradient), images);
                      });
  };
  calls.unfold = [](const On& on, float* windows, const float* images,
                    const Images& shape) noexcept {
    const std::size_t count = kPixels(shape) * shape.window * shape.window;
    return add_launch(on, {array_of(windows, count), array_of(images, kPixels(shape))},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().unfold(queue, inside(windows), inside(images), shape);
                      });
  };
  calls.turn_filters = [](const On& on, float* turned, const float* weights, std::size_t pixels,
                          std::size_t channels, std::size_t filters) noexcept {
    const std::size_t count = pixels * channels * filters;
    return add_launch(on, {array_of(turned, count), array_of(weights, count)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().turn_filters(queue, inside(turned), inside(weights),
                                                         pixels, channels, filters);
                      });
  };
}

void add_loss_and_updates(ModelCalls& calls) {
  calls.softmax_cross_entropy = [](const On& on, double* totals, float* gradient,
                                   const float* logits, const std::uint8_t* labels,
                                   std::size_t samples, std::size_t classes, bool adds) noexcept {
    return add_launch(on,
                      {array_of(totals, 2), array_of(gradient, samples * classes),
                       array_of(logits, samples * classes), array_of(labels, samples)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels_of_models().softmax_cross_entropy(
                            queue, inside(totals), inside(gradient), inside(logits), inside(labels),
                            samples, classes, adds);
                      });
  };
  calls.sgd = [](const On& on, float* values, float* velocity, const float* gradient,
                 std::size_t count, const cuda::SgdStep& step) noexcept {
    return add_launch(
        on, {array_of(values, count), array_of(velocity, count), array_of(gradient, count)},
        [=](const Queue& queue, const Inside& inside) {
          kernels::cuda::launches().float32.sgd(
              queue, inside(values), inside(velocity), inside(gradient), count,
              {step.learning_rate, step.momentum, step.weight_decay, step.gradient_scale});
        });
  };
  calls.adam = [](const On& on, float* values, float* mean, float* mean_square,
                  const float* gradient, std::size_t count, const cuda::AdamStep& step) noexcept {
    return add_launch(on,
                      {array_of(values, count), array_of(mean, count), array_of(mean_square, count),
                       array_of(gradient, count)},
                      [=](const Queue& queue, const Inside& inside) {
                        kernels::cuda::launches().float32.adam(
                            queue, inside(values), inside(mean), inside(mean_square),
                            inside(gradient), count,
                            {step.beta1, step.beta2, step.weight_decay, step.rate, step.correction,
                             step.epsilon, step.gradient_scale});
                      });
  };
  calls.squared_norm = [](const On& on, double* result, double* work, const float* values,
                          std::size_t count) noexcept {
    return add_launch(
        on, {array_of(result, 1), array_of(work, cuda::norm_sums(count)), array_of(values, count)},
        [=](const Queue& queue, const Inside& inside) {
          kernels::cuda::launches()
              .of(DataType::kFloat32)
              .squared_norm(queue, inside(result), inside(work),
                            reinterpret_cast<const std::byte*>(inside(values)), count);
        });
  };
}

}  // namespace

void add_models(cuda::Calls& calls) {
  add_products(calls.models);
  add_rows_and_values(calls.models);
  add_images(calls.models);
  add_loss_and_updates(calls.models);
}

}  // namespace rota::testing

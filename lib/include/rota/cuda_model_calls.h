// Has the part of the table of CUDA's functions by which models are trained on a device: the
// products, layers, loss and optimizers of float32.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/cuda_stream.h>

namespace rota::cuda {

// A matrix product: result = a · b, or result += a · b. The result has `rows` rows and `columns`
// columns; a has `inner` columns. All matrices are row-major, without gaps.
struct Product {
  const float* a = nullptr;
  const float* b = nullptr;
  float* result = nullptr;  // Overlaps neither factor.
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t inner = 0;
  bool a_is_transposed = false;  // What is stored is the transposed matrix.
  bool b_is_transposed = false;
  bool adds = false;
};

enum class Activation : std::uint8_t { kRelu, kSigmoid };

// Images of rows × columns × channels, channels last, that are divided into squares, or around
// whose pixels are windows.
struct Images {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 0;
  std::size_t window = 0;  // The side of a square or of a window.
};

// Which units are dropped, see DropoutDraw of rota.
struct Dropout {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;
  float kept = 1;
};

struct SgdStep {
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
  float gradient_scale = 1;
};

struct AdamStep {
  float beta1 = 0;
  float beta2 = 0;
  float weight_decay = 0;
  float rate = 0;        // learning_rate / (1 - beta1^step)
  float correction = 0;  // 1 / (1 - beta2^step)
  float epsilon = 0;
  float gradient_scale = 1;
};

// The rules of Calls hold here too. Arrays are of the device, and aligned for their type. Unless a
// comment says otherwise, each function gives the bits of rota's layers on the host.
struct ModelCalls {
  // Makes what multiply() needs on one stream. Products on different streams need different ones.
  // Returns kNoProducts if there is no library for products.
  int (*make_products)(const On& on, Handle& products) noexcept = nullptr;
  int (*destroy_products)(const On& on, Handle products) noexcept = nullptr;
  // Computes in float32 throughout, never in TF32. The same shapes give the same bits in each call
  // on GPUs of one model.
  int (*multiply)(const On& on, Handle products, const Product& product) noexcept = nullptr;

  // Sets every row of `matrix` to `row`.
  int (*fill_rows)(const On& on, float* matrix, const float* row, std::size_t rows,
                   std::size_t columns) noexcept = nullptr;
  // sums[j] = matrix[0][j] + matrix[1][j] + …, or sums[j] += that. Adds in an order that depends on
  // `rows` alone, and is not the host's. The function uses `work`, row_sums(columns) elements.
  int (*add_rows)(const On& on, float* sums, float* work, const float* matrix, std::size_t rows,
                  std::size_t columns, bool adds) noexcept = nullptr;

  // These two change `values` or `gradient` in place. The bits of kSigmoid are not the host's.
  int (*activate)(const On& on, Activation activation, float* values,
                  std::size_t count) noexcept = nullptr;
  int (*differentiate)(const On& on, Activation activation, float* gradient, const float* output,
                       std::size_t count) noexcept = nullptr;
  // values[i] *= factors[i]
  int (*multiply_each)(const On& on, float* values, const float* factors,
                       std::size_t count) noexcept = nullptr;
  // values[i] = pixels[i] / 255
  int (*widen_pixels)(const On& on, float* values, const std::uint8_t* pixels,
                      std::size_t count) noexcept = nullptr;

  // Max pooling by squares. The gradients of pixels that belong to no whole square are not written.
  int (*max_pool)(const On& on, float* output, const float* input,
                  const Images& images) noexcept = nullptr;
  int (*max_pool_gradient)(const On& on, float* input_gradient, const float* input,
                           const float* output_gradient, const Images& images) noexcept = nullptr;

  // Writes a matrix with a row for each pixel of the images: the window around it, by rows, columns
  // and channels. Outside of an image there are zeros.
  int (*unfold)(const On& on, float* windows, const float* images,
                const Images& shape) noexcept = nullptr;
  // Writes filters of pixels × channels × filters, turned by 180 degrees, as pixels × filters ×
  // channels.
  int (*turn_filters)(const On& on, float* turned, const float* weights, std::size_t pixels,
                      std::size_t channels, std::size_t filters) noexcept = nullptr;

  // Writes the factor of each of `units` units of each sample.
  int (*draw_factors)(const On& on, float* factors, const std::uint64_t* identities,
                      std::size_t samples, std::size_t units,
                      const Dropout& dropout) noexcept = nullptr;

  // Sets totals[0] to the sum of the samples' cross-entropies and totals[1] to the number of
  // samples whose label has the greatest logit; or adds both to `totals`. If `gradient` is not
  // null, it becomes the gradient of the sum. Exponentials and the order of additions are not the
  // host's; both are computed in double.
  int (*softmax_cross_entropy)(const On& on, double* totals, float* gradient, const float* logits,
                               const std::uint8_t* labels, std::size_t samples, std::size_t classes,
                               bool adds) noexcept = nullptr;

  // Update parameters, as kernels::Updates does.
  int (*sgd)(const On& on, float* values, float* velocity, const float* gradient, std::size_t count,
             const SgdStep& step) noexcept = nullptr;
  int (*adam)(const On& on, float* values, float* mean, float* mean_square, const float* gradient,
              std::size_t count, const AdamStep& step) noexcept = nullptr;
  // Sets *result to the sum of the squares of `values`, in double, with the bits of the host's sum.
  // The function uses `work`, norm_sums(count) elements.
  int (*squared_norm)(const On& on, double* result, double* work, const float* values,
                      std::size_t count) noexcept = nullptr;
};

// No error code of CUDA.
inline constexpr int kNoProducts = 10'001;

// add_rows() adds up at most this many groups of rows, and then the groups.
inline constexpr std::size_t kRowGroups = 64;
constexpr std::size_t row_sums(std::size_t columns) noexcept { return kRowGroups * columns; }

// squared_norm() adds up so many elements, and then the sums.
inline constexpr std::size_t kNormBlock = 4096;
constexpr std::size_t norm_sums(std::size_t count) noexcept {
  return (count + kNormBlock - 1) / kNormBlock;
}

}  // namespace rota::cuda

// A feed-forward classifier whose parameters and gradients live in memory lent by the caller.
// Written for data-parallel training: gradients land where collectives can reduce them in place,
// and each is announced as soon as it is final, while earlier layers are still being computed.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rota/export.h>

namespace rota {

enum class Initializer : std::uint8_t {
  kHe,              // N(0, 2 / inputs), biases 0: for ReLU.
  kGlorot,          // N(0, 2 / (inputs + outputs)), biases 0: for sigmoid and the last layer.
  kStandardNormal,  // N(0, 1), biases too: what tutorials once used.
};

// One layer, as a value. Made by the functions below.
struct Layer {
  enum class Kind : std::uint8_t { kDense, kConvolution, kMaxPool, kRelu, kSigmoid, kDropout };
  Kind kind = Kind::kRelu;
  std::size_t outputs = 0;  // kDense: units; kConvolution: filters.
  std::size_t window = 0;   // kConvolution: side of the filter, odd; kMaxPool: side and stride.
  double rate = 0;          // kDropout: share of units that are dropped while training.
  Initializer initializer = Initializer::kHe;
};

ROTA_EXPORT Layer dense(std::size_t units, Initializer initializer = Initializer::kHe);
// Square filters with stride 1 over an image padded with zeros, so that its size stays.
ROTA_EXPORT Layer convolution(std::size_t filters, std::size_t window,
                              Initializer initializer = Initializer::kHe);
// The size is divided by `window`; a remainder is cut off.
ROTA_EXPORT Layer max_pool(std::size_t window);
ROTA_EXPORT Layer relu();
ROTA_EXPORT Layer sigmoid();
// A unit is dropped as a function of (seed, step, sample, unit) alone, so that the same samples
// lose the same units however they are dealt out to ranks. What stays is scaled by 1 / (1 - rate).
ROTA_EXPORT Layer dropout(double rate);

struct ImageShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 1;
  std::size_t count() const noexcept { return rows * columns * channels; }
};

struct ROTA_EXPORT ParameterInfo {
  std::string name;                // "2.convolution.weights": the layer's position and what it is.
  std::vector<std::size_t> shape;  // Row-major.
  std::size_t count() const noexcept;
};

// Some samples, lent for one call.
template <class T>
struct Batch {
  std::span<const T> inputs;  // samples × ImageShape::count(), row-major, channels last.
  std::span<const std::uint8_t> labels;    // One a sample, below the number of classes.
  std::span<const std::uint64_t> samples;  // Their identities in the data set; for dropout.
  std::uint64_t seed = 0;                  // For dropout.
  std::uint64_t step = 0;                  // For dropout.
};

// Sums over samples, so that ranks may add theirs up.
struct Score {
  double loss = 0;  // Softmax cross-entropy, natural logarithm.
  std::size_t correct = 0;
  std::size_t samples = 0;

  // All but the samples, the loss first: how a score travels.
  std::array<double, 2> sums() const noexcept { return {loss, static_cast<double>(correct)}; }
  static Score from_sums(const std::array<double, 2>& sums, std::size_t samples) noexcept {
    return {sums[0], static_cast<std::size_t>(sums[1]), samples};
  }
};

// What becomes of the gradients of the call before.
enum class Gradients : bool { kOverwrite, kAdd };

// T is float or double.
template <class T>
class ROTA_EXPORT Model {
 public:
  using Element = T;
  using BatchType = Batch<T>;
  using ScoreType = Score;

  // The last layer's outputs are the classes' logits.
  // Throws Error kInvalidArgument when the layers do not fit together.
  Model(ImageShape input, const std::vector<Layer>& layers);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  std::size_t classes() const noexcept;
  ImageShape input_shape() const noexcept;

  // All parameters, first layer first.
  std::span<const ParameterInfo> parameters() const noexcept;

  // Says where parameter `index` and its gradient live. Both hold parameters()[index].count()
  // values, 64-byte aligned, lent for the life of the Model. Required for every parameter before
  // the calls below.
  void bind(std::size_t index, std::span<T> values, std::span<T> gradient);

  // Draws the parameters anew: a function of `seed` and the shapes alone.
  void initialize(std::uint64_t seed);

  // The forward pass of a training step: returns the score, and touches no gradient. `batch` is
  // lent until backward(). After the first call with a batch size nothing is allocated. Throws
  // Error kInvalidArgument for a batch that does not fit the model.
  Score forward(const Batch<T>& batch);

  // The backward pass of the latest forward(), and of nothing else: no other call comes between.
  // Overwrites every gradient with its sum (not its mean) over the batch, or adds that to it.
  // Calls gradient_ready(index) once for each as soon as it is final, last layer first; it may be
  // empty. An empty batch gives, or adds, zeros.
  void backward(const std::function<void(std::size_t)>& gradient_ready,
                Gradients gradients = Gradients::kOverwrite);

  // Both, one after the other. Where it throws, no gradient has been touched.
  Score train(const Batch<T>& batch, const std::function<void(std::size_t)>& gradient_ready,
              Gradients gradients = Gradients::kOverwrite);

  // Forward only, without dropout.
  Score evaluate(const Batch<T>& batch);

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rota

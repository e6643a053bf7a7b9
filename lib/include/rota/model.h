// Defines a feed-forward classifier. Its parameters and gradients are in the caller's memory, so
// collectives can reduce gradients in place. The model announces each gradient as soon as the
// gradient is final, while the model still computes earlier layers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rota/cuda_stream.h>
#include <rota/device_span.h>
#include <rota/export.h>
#include <rota/memory_kind.h>

namespace rota {

enum class Initializer : std::uint8_t {
  kHe,              // N(0, 2 / inputs), biases 0: for ReLU.
  kGlorot,          // N(0, 2 / (inputs + outputs)), biases 0: for sigmoid and the last layer.
  kStandardNormal,  // N(0, 1), biases too: as in old tutorials.
};

// One layer, as a value. The functions below make layers.
struct Layer {
  enum class Kind : std::uint8_t { kDense, kConvolution, kMaxPool, kRelu, kSigmoid, kDropout };
  Kind kind = Kind::kRelu;
  std::size_t outputs = 0;  // kDense: units; kConvolution: filters.
  std::size_t window = 0;   // kConvolution: side of the filter, odd; kMaxPool: side and stride.
  double rate = 0;          // kDropout: fraction of units dropped in training.
  Initializer initializer = Initializer::kHe;
};

ROTA_EXPORT Layer dense(std::size_t units, Initializer initializer = Initializer::kHe);
// Makes a layer of square filters with stride 1. The image is padded with zeros, so that its size
// stays the same.
ROTA_EXPORT Layer convolution(std::size_t filters, std::size_t window,
                              Initializer initializer = Initializer::kHe);
// Makes a layer that divides rows and columns by `window`; a remainder is cut off.
ROTA_EXPORT Layer max_pool(std::size_t window);
ROTA_EXPORT Layer relu();
ROTA_EXPORT Layer sigmoid();
// Makes a layer that drops units in training. Whether a unit is dropped depends on (seed, step,
// layer, sample, unit) alone. So the same samples lose the same units, whichever ranks train on
// them. The rate is rounded to a multiple of 1/65536. Kept units are scaled by 1 / (1 - rate).
ROTA_EXPORT Layer dropout(double rate);

struct ImageShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 1;
  std::size_t count() const noexcept { return rows * columns * channels; }
};

struct ROTA_EXPORT ParameterInfo {
  std::string name;                // "2.convolution.weights": layer position, kind, name.
  std::vector<std::size_t> shape;  // Row-major.
  std::size_t count() const noexcept;
};

// Some samples, borrowed for one call.
template <class T>
struct Batch {
  std::span<const T> inputs;  // samples × ImageShape::count(), row-major, channels last.
  std::span<const std::uint8_t> labels;    // One for each sample, below the number of classes.
  std::span<const std::uint64_t> samples;  // Positions in the data set, for dropout.
  std::uint64_t seed = 0;                  // For dropout.
  std::uint64_t step = 0;                  // For dropout.
  // In place of inputs, for a model on a device: bytes, which become pixel / 255 there.
  std::span<const std::uint8_t> pixels = {};
};

// Sums over samples, so that the scores of ranks can be added.
struct Score {
  double loss = 0;  // Softmax cross-entropy, natural logarithm.
  std::size_t correct = 0;
  std::size_t samples = 0;

  // Returns all members except `samples`, the loss first. A score travels between ranks in this
  // form.
  std::array<double, 2> sums() const noexcept { return {loss, static_cast<double>(correct)}; }
  static Score from_sums(const std::array<double, 2>& sums, std::size_t samples) noexcept {
    return {sums[0], static_cast<std::size_t>(sums[1]), samples};
  }
};

// What backward() does with the gradients of the previous call.
enum class Gradients : bool { kOverwrite, kAdd };

// T is float or double.
template <class T>
class ROTA_EXPORT Model {
 public:
  using Element = T;
  using BatchType = Batch<T>;
  using ScoreType = Score;

  // The outputs of the last layer are the logits of the classes. The model computes on the host, or
  // on the device that `memory` names. On a device, T is float. Throws Error kInvalidArgument if
  // the layers do not fit together, or if there is no such device; kNotFound if cuBLAS is missing.
  Model(ImageShape input, const std::vector<Layer>& layers, MemoryKind memory = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  std::size_t classes() const noexcept;
  ImageShape input_shape() const noexcept;
  std::span<const Layer> layers() const noexcept;
  // Returns the shape of the input and all layers with their numbers, such as "6 × 6 × 1, dense 8,
  // dropout 0.5, dense 4". A Replica compares this text between ranks.
  std::string settings() const;
  MemoryKind memory() const noexcept;
  // Returns the stream on which a model on a device puts all its work.
  cuda::On stream() const noexcept;

  // Returns the parameters of all layers, those of the first layer first.
  std::span<const ParameterInfo> parameters() const noexcept;

  // Tells the model where parameter `index` and its gradient are in memory. Both spans have
  // parameters()[index].count() values, are 64-byte aligned, and are borrowed for the life of the
  // Model. Must be called for every parameter before the calls below. Throws Error kInvalidArgument
  // for a wrong index, count or alignment.
  void bind(std::size_t index, std::span<T> values, std::span<T> gradient);
  // Does the same for a model on a device. Each backward pass records `event`, which is borrowed
  // too, as soon as the gradient is final. 0: there is no event.
  void bind(std::size_t index, DeviceSpan<T> values, DeviceSpan<T> gradient,
            cuda::Handle event = 0);

  // Draws all parameters anew. They depend on `seed` and the shapes alone.
  void initialize(std::uint64_t seed);

  // Runs the forward pass of a training step. Returns the score, and touches no gradient. `batch`
  // is borrowed until backward() returns. Allocates nothing after the first call with this batch
  // size. Throws Error kInvalidArgument for a batch that does not fit the model.
  // On a device, nothing waits: the score has the number of samples, and sums of 0. late_score()
  // has the sums.
  Score forward(const Batch<T>& batch);

  // Waits for the scores of all forward passes since the last call, on a device, and returns their
  // sum. It is there before their backward passes have ended. On the host, returns an empty score.
  Score late_score();

  // Runs the backward pass of the latest forward(); no other call is allowed between the two.
  // Overwrites every gradient with its sum (not its mean) over the batch, or adds that sum to the
  // gradient. Calls gradient_ready(index) once for each gradient as soon as the gradient is final.
  // The gradients of the last layer come first. `gradient_ready` may be empty. An empty batch
  // gives, or adds, zeros. On a device, a gradient is final once the work is done that is on the
  // stream at the time of the call of gradient_ready(). If parameters are bound to events, that is
  // the whole pass: the pass may be one launch of a CUDA graph, which records the events.
  void backward(const std::function<void(std::size_t)>& gradient_ready,
                Gradients gradients = Gradients::kOverwrite);

  // Calls forward(), then backward(). If forward() throws, no gradient is touched.
  Score train(const Batch<T>& batch, const std::function<void(std::size_t)>& gradient_ready,
              Gradients gradients = Gradients::kOverwrite);

  // Runs the forward pass alone, without dropout, and returns the score. Throws as forward() does.
  Score evaluate(const Batch<T>& batch);

  // Runs the forward pass alone, without dropout, and returns the logits: classes() values for each
  // sample, row-major. The largest value of a sample belongs to the most likely class. Reads only
  // the inputs (or pixels) of the batch, so the batch needs no labels. On a device, waits for the
  // result. Throws Error kInvalidArgument if the batch has a part of a sample; also as forward().
  std::vector<T> predict(const Batch<T>& batch);

 private:
  class ROTA_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rota

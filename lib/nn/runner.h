// Runs the passes of a model where the model computes: on the host, or on a device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <rota/cuda_stream.h>
#include <rota/memory_kind.h>

#include "nn/module.h"

namespace rota::nn {

// The arguments of all calls are checked already. A batch has samples.
template <class T>
class Runner {
 public:
  virtual ~Runner() = default;

  virtual const Module<T>& add(const Layer& layer, std::size_t position, ImageShape input) = 0;
  // Both are addresses of the memory where the model computes. `event`, if it is not 0, is one of a
  // device: the runner records it when the gradient is final.
  virtual void bind(std::size_t parameter, T* values, T* gradient, cuda::Handle event) noexcept = 0;
  // Draws the values of a parameter.
  virtual void initialize(T* values, std::size_t count, double deviation, std::uint64_t seed,
                          std::size_t parameter) = 0;
  virtual void clear(T* gradient, std::size_t count) = 0;
  // Records the event of a gradient to which the pass adds nothing.
  virtual void mark(std::size_t /*parameter*/) {}

  // Returns why this runner cannot take the batch, or null.
  virtual const char* why_not(const Batch<T>& batch) const noexcept = 0;
  // May leave the sums of the score to late_score().
  virtual Score forward(const Pass& pass, const Batch<T>& batch) = 0;
  virtual Score late_score() { return {}; }
  // Of the latest forward(), whose `pass` may have changed in add_gradients.
  virtual void backward(const Pass& pass,
                        const std::function<void(std::size_t)>& gradient_ready) = 0;
  // Returns the whole score.
  virtual Score evaluate(const Batch<T>& batch) = 0;
  // Writes the logits of all samples to memory of the host. Reads no labels.
  virtual void predict(const Batch<T>& batch, std::size_t samples, T* logits) = 0;

  virtual cuda::On stream() const noexcept { return {}; }
};

// Evaluates or predicts this many samples at a time, so that memory does not grow with the batch.
inline constexpr std::size_t kEvaluatedTogether = 100;

// `input` is the shape of a sample. Throws Error kInvalidArgument for a device if T is double; also
// what DeviceWork throws.
template <class T>
std::unique_ptr<Runner<T>> make_runner(MemoryKind where, ImageShape input);

}  // namespace rota::nn

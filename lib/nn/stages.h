// The modules of a model in their order, with the memory of their outputs and gradients.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "nn/module.h"

namespace rota::nn {

// Computes with `Math`, see host_math.h.
template <class Math>
class Stages {
 public:
  using T = typename Math::Element;

  explicit Stages(const Math& math) : math_(math) {}

  // Adds the module for `layer` at the end. Throws Error kInvalidArgument as make_module() does.
  const Module<T>& add(const Layer& layer, std::size_t position, ImageShape input);
  void bind(std::size_t parameter, T* values, T* gradient) noexcept;

  // Returns whether passes of so many samples have memory already.
  bool has_room(std::size_t samples) const noexcept { return samples <= capacity_; }
  // No pass may be under way.
  void reserve(std::size_t samples);

  // Must be called before forward() in training.
  void prepare(const Pass& pass);
  // Returns the outputs of the last module. `input` is borrowed until backward() returns.
  const T* forward(const Pass& pass, const T* input);
  // The memory of the gradient of these outputs, which the caller fills before backward().
  T* output_gradient() const noexcept { return gradients_[0].data(); }
  void backward(const Pass& pass, const T* input,
                const std::function<void(std::size_t)>& gradient_ready);

 private:
  // A module and the place of its output.
  struct Stage {
    std::unique_ptr<Module<T>> module;
    std::size_t features = 0;
    std::size_t first_parameter = 0;
    std::size_t parameter_count = 0;
    bool in_place = false;         // The output overwrites the output of the previous stage.
    typename Math::Memory memory;  // Unused if in_place.
    T* output = nullptr;
  };

  [[no_unique_address]] Math math_;
  std::vector<Stage> stages_;  // One for each layer.
  std::size_t parameter_count_ = 0;
  std::size_t capacity_ = 0;            // In samples.
  typename Math::Memory gradients_[2];  // Of a stage's output and input, alternating.
};

}  // namespace rota::nn

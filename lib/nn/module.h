// The interface of all layers of a Model: values flow forward through modules, gradients backward.
// Values are samples × features, row-major. The features of an image are rows × columns × channels.
#pragma once
#include <rota/model.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rota::nn {

// The facts about one call of train() or evaluate(), besides the values.
struct Pass {
  std::size_t samples = 0;
  bool training = false;
  bool add_gradients = false;                 // Adds to the gradients; false: overwrites them.
  std::span<const std::uint64_t> identities;  // One for each sample, if a layer is dropout.
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

struct Parameter {
  const char* name = "";
  std::vector<std::size_t> shape;
  double deviation = 0;  // The standard deviation of the initial values.
};

// The memory that a module's backward pass uses. `input_gradient` may be `output_gradient` if the
// module works in place.
template <class T>
struct Backward {
  const T* input;
  const T* output;
  const T* output_gradient;
  T* input_gradient;
};

// Memory of values and gradients is borrowed for one call. Memory of parameters is borrowed for the
// module's life.
template <class T>
class Module {
 public:
  virtual ~Module() = default;

  virtual ImageShape output_shape() const noexcept = 0;
  virtual std::vector<Parameter> parameters() const { return {}; }
  virtual void bind(std::size_t /*index*/, T* /*values*/, T* /*gradient*/) noexcept {}

  // Returns whether forward() may overwrite its input with its output.
  virtual bool works_in_place() const noexcept { return false; }
  // Returns whether input_gradient() reads `output`. If so, the next module must not overwrite this
  // output.
  virtual bool rereads_output() const noexcept { return false; }

  // Makes room for passes of up to `samples` samples, so that the calls below allocate nothing.
  virtual void reserve(std::size_t /*samples*/) {}
  // Called before forward() of the same pass. Does all that depends on the step and on which
  // samples a batch has, such as drawing random numbers: on a device, the calls below may be
  // captured once, and repeated for later batches of as many samples.
  virtual void prepare(const Pass& /*pass*/) {}
  virtual void forward(const Pass& pass, const T* input, T* output) = 0;
  // Overwrites the gradients of the parameters, or adds to them if `pass` says so. Called before
  // input_gradient() of the same pass, so that these gradients can be announced early.
  virtual void parameter_gradients(const Pass& /*pass*/, const Backward<T>& /*backward*/) {}
  virtual void input_gradient(const Pass& pass, const Backward<T>& backward) = 0;
};

// Returns the name of the kind, such as "dense" or "max_pool", for names of parameters and for
// errors.
std::string kind_name(Layer::Kind kind);

// Returns the kind and all numbers that change what the layer computes, such as "dropout 0.5". The
// initializer is not one of them, because it only draws the first parameters.
std::string describe(const Layer& layer);

}  // namespace rota::nn

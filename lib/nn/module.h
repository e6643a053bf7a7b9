// What the layers of a Model have in common: values flow forward through modules, gradients back.
// Values are samples × features, row-major; an image's features are rows × columns × channels.
#pragma once
#include <rota/model.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rota::nn {

// What there is to know of one call of train() or evaluate() beside the values.
struct Pass {
  std::size_t samples = 0;
  bool training = false;
  bool add_gradients = false;  // To those of the pass before, in place of overwriting them.
  std::span<const std::uint64_t> identities;  // One a sample, if the Model has a dropout layer.
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

struct Parameter {
  const char* name = "";
  std::vector<std::size_t> shape;
  double deviation = 0;  // The standard deviation of the values it starts with.
};

// Where a module's backward pass finds what it needs. `input_gradient` may be `output_gradient` if
// the module works in place.
template <class T>
struct Backward {
  const T* input;
  const T* output;
  const T* output_gradient;
  T* input_gradient;
};

// The memory of values and gradients is lent for a call; that of parameters, for good.
template <class T>
class Module {
 public:
  virtual ~Module() = default;

  virtual ImageShape output_shape() const noexcept = 0;
  virtual std::vector<Parameter> parameters() const { return {}; }
  virtual void bind(std::size_t /*index*/, T* /*values*/, T* /*gradient*/) noexcept {}

  // Whether forward() may overwrite its input with its output.
  virtual bool works_in_place() const noexcept { return false; }
  // Whether input_gradient() reads `output`, so that the next module may not overwrite it.
  virtual bool rereads_output() const noexcept { return false; }

  // Makes room for passes of up to `samples` samples. The calls below allocate nothing.
  virtual void reserve(std::size_t /*samples*/) {}
  virtual void forward(const Pass& pass, const T* input, T* output) = 0;
  // Overwrites the gradients of the parameters, or adds to them where the pass says so. Comes
  // before input_gradient() of the same pass, so that they can be announced before the rest is
  // computed.
  virtual void parameter_gradients(const Pass& /*pass*/, const Backward<T>& /*backward*/) {}
  virtual void input_gradient(const Pass& pass, const Backward<T>& backward) = 0;
};

// "dense", "max_pool": as names of parameters and errors say it.
std::string kind_name(Layer::Kind kind);

// The module for `layer`, the one at `position` counted from 0, on images of shape `input`.
// Throws Error kInvalidArgument if it does not fit there.
template <class T>
std::unique_ptr<Module<T>> make_module(const Layer& layer, std::size_t position, ImageShape input);

}  // namespace rota::nn

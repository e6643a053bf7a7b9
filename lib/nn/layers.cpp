// The public functions that describe layers, and the functions that check layers and make modules.
#include <rota/error.h>
#include <rota/model.h>

#include <string>

#include "base/number_text.h"
#include "nn/activations.h"
#include "nn/convolution.h"
#include "nn/dense.h"
#include "nn/device_math.h"
#include "nn/dropout.h"
#include "nn/host_math.h"
#include "nn/make_module.h"
#include "nn/max_pool.h"
#include "nn/tiled_convolution.h"

namespace rota {

Layer dense(std::size_t units, Initializer initializer) {
  return {.kind = Layer::Kind::kDense, .outputs = units, .initializer = initializer};
}

Layer convolution(std::size_t filters, std::size_t window, Initializer initializer) {
  return {.kind = Layer::Kind::kConvolution,
          .outputs = filters,
          .window = window,
          .initializer = initializer};
}

Layer max_pool(std::size_t window) { return {.kind = Layer::Kind::kMaxPool, .window = window}; }
Layer relu() { return {.kind = Layer::Kind::kRelu}; }
Layer sigmoid() { return {.kind = Layer::Kind::kSigmoid}; }
Layer dropout(double rate) { return {.kind = Layer::Kind::kDropout, .rate = rate}; }

namespace nn {
namespace {

std::string extent(std::size_t rows, std::size_t columns) {
  return std::to_string(rows) + " × " + std::to_string(columns);
}

// Returns what is wrong with `layer` on an image of this shape, or an empty text if nothing is
// wrong.
std::string fault_of(const Layer& layer, ImageShape input) {
  switch (layer.kind) {
    case Layer::Kind::kDense:
      return layer.outputs == 0 ? "it has no units" : "";
    case Layer::Kind::kConvolution:
      if (layer.outputs == 0) return "it has no filters";
      return layer.window % 2 == 0 ? "the window must be odd, to have a middle" : "";
    case Layer::Kind::kMaxPool:
      if (layer.window == 0) return "the window is empty";
      if (input.rows >= layer.window && input.columns >= layer.window) return "";
      return "the image is " + extent(input.rows, input.columns) + ", smaller than the window";
    case Layer::Kind::kDropout:
      return layer.rate >= 0 && layer.rate < 1 ? "" : "the rate must be at least 0 and below 1";
    case Layer::Kind::kRelu:
    case Layer::Kind::kSigmoid:
      return "";
  }
  return "its kind is unknown";
}

}  // namespace

std::string kind_name(Layer::Kind kind) {
  switch (kind) {
    case Layer::Kind::kDense:
      return "dense";
    case Layer::Kind::kConvolution:
      return "convolution";
    case Layer::Kind::kMaxPool:
      return "max_pool";
    case Layer::Kind::kRelu:
      return "relu";
    case Layer::Kind::kSigmoid:
      return "sigmoid";
    case Layer::Kind::kDropout:
      return "dropout";
  }
  return "unknown";
}

std::string describe(const Layer& layer) {
  std::string text = kind_name(layer.kind);
  if (layer.kind == Layer::Kind::kDense) text += " " + std::to_string(layer.outputs);
  if (layer.kind == Layer::Kind::kConvolution) {
    text += " " + std::to_string(layer.outputs) + " of " + extent(layer.window, layer.window);
  }
  if (layer.kind == Layer::Kind::kMaxPool) text += " " + std::to_string(layer.window);
  if (layer.kind == Layer::Kind::kDropout) text += " " + base::shortest_text(layer.rate);
  return text;
}

template <class Math>
std::unique_ptr<Module<typename Math::Element>> make_module(const Math& math, const Layer& layer,
                                                            std::size_t position,
                                                            ImageShape input) {
  const std::string fault = fault_of(layer, input);
  if (!fault.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer " + std::to_string(position) + " (" + describe(layer) + "): " + fault);
  }
  switch (layer.kind) {
    case Layer::Kind::kDense:
      return std::make_unique<Dense<Math>>(math, input.count(), layer);
    case Layer::Kind::kConvolution:
      if constexpr (Math::kIsHost) {
        using Tiled = TiledConvolution<typename Math::Element>;
        if (Tiled::suits(input, layer)) return std::make_unique<Tiled>(input, layer);
      }
      return std::make_unique<Convolution<Math>>(math, input, layer);
    case Layer::Kind::kMaxPool:
      return std::make_unique<MaxPool<Math>>(math, input, layer);
    case Layer::Kind::kRelu:
      return std::make_unique<Relu<Math>>(math, input);
    case Layer::Kind::kSigmoid:
      return std::make_unique<Sigmoid<Math>>(math, input);
    case Layer::Kind::kDropout:
      return std::make_unique<Dropout<Math>>(math, input, layer, position);
  }
  return nullptr;
}

template std::unique_ptr<Module<float>> make_module(const HostMath<float>&, const Layer&,
                                                    std::size_t, ImageShape);
template std::unique_ptr<Module<double>> make_module(const HostMath<double>&, const Layer&,
                                                     std::size_t, ImageShape);
template std::unique_ptr<Module<float>> make_module(const DeviceMath&, const Layer&, std::size_t,
                                                    ImageShape);

}  // namespace nn
}  // namespace rota

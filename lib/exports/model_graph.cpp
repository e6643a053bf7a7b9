// Makes the ONNX graph of a rota::Model. In rota's images, the channels are the last dimension, but
// ONNX's convolutions and pools want the channels first. So the graph transposes the images before
// the first of these layers. The dense layer behind them gets its weights in the order of the
// transposed values.
#include <rota/error.h>
#include <rota/onnx.h>

#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/hex.h"
#include "nn/module.h"

namespace rota {
namespace {

// In which order the values of a sample arrive at a node.
enum class Order : std::uint8_t {
  kChannelsLast,   // rows × columns × channels, as in rota.
  kChannelsFirst,  // channels × rows × columns.
  kFlat,           // In one dimension, in the order of kChannelsLast.
};

std::int64_t extent_of(std::size_t count) { return static_cast<std::int64_t>(count); }

// Adds the layers of a model to a graph, first layer first.
class GraphMaker {
 public:
  GraphMaker(ImageShape input, const OnnxOptions& options) : shape_(input), graph_("rota") {
    const std::vector<OnnxExtent> shape = {"batch", extent_of(input.rows), extent_of(input.columns),
                                           extent_of(input.channels)};
    graph_.add_input("input", options.takes_bytes ? OnnxType::kUint8 : OnnxType::kFloat, shape);
    if (!options.takes_bytes) return;
    const float divisor = 255;
    add_constant("pixel_scale", {}, {&divisor, 1});
    add("input.floats", {"Cast", {}, {}, {{"to", extent_of(static_cast<int>(OnnxType::kFloat))}}});
    add("input.scaled", {"Div", {"pixel_scale"}});
  }

  // `weights` and `biases` are empty for a layer without parameters. Their names begin with `name`.
  void add_layer(const Layer& layer, const std::string& name, std::vector<float> weights,
                 std::span<const float> biases) {
    switch (layer.kind) {
      case Layer::Kind::kDense:
        return add_dense(layer, name, std::move(weights), biases);
      case Layer::Kind::kConvolution:
        return add_convolution(layer, name, weights, biases);
      case Layer::Kind::kMaxPool:
        return add_max_pool(layer, name);
      case Layer::Kind::kRelu:
        return add(name, {"Relu"});
      case Layer::Kind::kSigmoid:
        return add(name, {"Sigmoid"});
      case Layer::Kind::kDropout:
        return;  // Drops nothing outside of training.
    }
  }

  OnnxGraph finish(bool softmax) {
    if (order_ == Order::kChannelsFirst) move_channels("classes.image", Order::kChannelsLast);
    flatten("classes");
    if (softmax) add("probabilities", {"Softmax", {}, {}, {{"axis", std::int64_t{1}}}});
    const std::string output = softmax ? "probabilities" : "logits";
    nodes_.back().outputs = {output};
    for (OnnxNode& node : nodes_) graph_.add_node(std::move(node));
    graph_.add_output(output, OnnxType::kFloat, {"batch", extent_of(shape_.count())});
    return std::move(graph_);
  }

 private:
  void add_constant(const std::string& name, std::vector<std::int64_t> shape,
                    std::span<const float> values) {
    graph_.add_initializer(name, std::move(shape), values);
  }

  // The node reads the latest value, and then `node.inputs`.
  void add(const std::string& name, OnnxNode node) {
    node.inputs.insert(node.inputs.begin(), latest_);
    node.outputs = {name};
    nodes_.push_back(std::move(node));
    latest_ = name;
  }

  void move_channels(const std::string& name, Order to) {
    const std::vector<std::int64_t> order = to == Order::kChannelsFirst
                                                ? std::vector<std::int64_t>{0, 3, 1, 2}
                                                : std::vector<std::int64_t>{0, 2, 3, 1};
    add(name, {"Transpose", {}, {}, {{"perm", order}}});
    order_ = to;
  }

  void put_channels_first(const std::string& name) {
    if (order_ == Order::kFlat) {  // Behind a dense layer, an image has one pixel.
      const std::vector<std::int64_t> shape = {0, extent_of(shape_.channels), 1, 1};
      graph_.add_initializer(name + ".shape", {4}, std::span(shape));
      add(name + ".image", {"Reshape", {name + ".shape"}});
      order_ = Order::kChannelsFirst;
    }
    if (order_ == Order::kChannelsLast) move_channels(name + ".image", Order::kChannelsFirst);
  }

  // Makes each sample one-dimensional, and moves no value.
  void flatten(const std::string& name) {
    if (order_ == Order::kFlat) return;
    add(name + ".flat", {"Flatten", {}, {}, {{"axis", std::int64_t{1}}}});
    order_ = Order::kFlat;
  }

  // The rows of `weights` belong to the values of a sample with channels last. The result has them
  // in the order of channels first.
  std::vector<float> with_channels_first(std::span<const float> weights, std::size_t units) const {
    std::vector<float> moved;
    moved.reserve(weights.size());
    const std::size_t pixels = shape_.rows * shape_.columns;
    for (std::size_t channel = 0; channel < shape_.channels; ++channel) {
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const auto row = weights.subspan((pixel * shape_.channels + channel) * units, units);
        moved.insert(moved.end(), row.begin(), row.end());
      }
    }
    return moved;
  }

  void add_dense(const Layer& layer, const std::string& name, std::vector<float> weights,
                 std::span<const float> biases) {
    if (order_ == Order::kChannelsFirst) weights = with_channels_first(weights, layer.outputs);
    flatten(name);
    const std::int64_t inputs = extent_of(shape_.count());
    const std::int64_t units = extent_of(layer.outputs);
    add_constant(name + ".weights", {inputs, units}, weights);
    add_constant(name + ".biases", {units}, biases);
    add(name, {"Gemm", {name + ".weights", name + ".biases"}});
    shape_ = {1, 1, layer.outputs};
  }

  // rota has weights as window × window × channels × filters, ONNX as filters × channels × window ×
  // window.
  void add_convolution(const Layer& layer, const std::string& name, std::span<const float> weights,
                       std::span<const float> biases) {
    put_channels_first(name);
    std::vector<float> moved;
    moved.reserve(weights.size());
    const std::size_t pixels = layer.window * layer.window;
    for (std::size_t filter = 0; filter < layer.outputs; ++filter) {
      for (std::size_t channel = 0; channel < shape_.channels; ++channel) {
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
          moved.push_back(weights[(pixel * shape_.channels + channel) * layer.outputs + filter]);
        }
      }
    }
    const std::int64_t window = extent_of(layer.window);
    const std::int64_t filters = extent_of(layer.outputs);
    add_constant(name + ".weights", {filters, extent_of(shape_.channels), window, window}, moved);
    add_constant(name + ".biases", {filters}, biases);
    add(name, {"Conv",
               {name + ".weights", name + ".biases"},
               {},
               {{"kernel_shape", std::vector{window, window}},
                {"pads", std::vector<std::int64_t>(4, window / 2)}}});
    shape_.channels = layer.outputs;
  }

  void add_max_pool(const Layer& layer, const std::string& name) {
    put_channels_first(name);
    const std::vector<std::int64_t> sides(2, extent_of(layer.window));
    add(name, {"MaxPool", {}, {}, {{"kernel_shape", sides}, {"strides", sides}}});
    shape_ = {shape_.rows / layer.window, shape_.columns / layer.window, shape_.channels};
  }

  ImageShape shape_;  // Of a sample in `latest_`.
  OnnxGraph graph_;
  std::vector<OnnxNode> nodes_;
  std::string latest_ = "input";
  Order order_ = Order::kChannelsLast;
};

template <class T>
void check_values(const Model<T>& model, std::span<const std::span<const T>> values) {
  const auto parameters = model.parameters();
  if (values.size() != parameters.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the model has " + std::to_string(parameters.size()) +
                                                 " parameters, but got the values of " +
                                                 std::to_string(values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].size() == parameters[i].count()) continue;
    throw Error(ErrorCode::kInvalidArgument, "parameter " + parameters[i].name + " has " +
                                                 std::to_string(parameters[i].count()) +
                                                 " values, but got " +
                                                 std::to_string(values[i].size()));
  }
}

template <class T>
std::vector<float> to_floats(std::span<const T> values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const T value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

}  // namespace

template <class T>
OnnxGraph onnx_graph(const Model<T>& model, std::span<const std::span<const T>> values,
                     const OnnxOptions& options) {
  check_values(model, values);
  GraphMaker maker(model.input_shape(), options);
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    const Layer& layer = model.layers()[i];
    const std::string name = std::to_string(i) + "." + nn::kind_name(layer.kind);
    std::vector<float> weights;
    std::vector<float> biases;
    if (layer.kind == Layer::Kind::kDense || layer.kind == Layer::Kind::kConvolution) {
      weights = to_floats(values[parameter]);
      biases = to_floats(values[parameter + 1]);
      parameter += 2;
    }
    maker.add_layer(layer, name, std::move(weights), biases);
  }
  OnnxGraph graph = maker.finish(options.softmax);
  graph.add_metadata("step", std::to_string(options.step));
  if (!options.run.empty()) graph.add_metadata("run", options.run);
  if (!options.data_digest.empty()) graph.add_metadata("data_digest", options.data_digest);
  std::uint64_t hash = base::kFnvStart;
  for (const std::span<const T> each : values) hash = base::fnv1a(std::as_bytes(each), hash);
  graph.add_metadata("weights_hash", base::to_hex(hash));
  return graph;
}

template OnnxGraph onnx_graph(const Model<float>&, std::span<const std::span<const float>>,
                              const OnnxOptions&);
template OnnxGraph onnx_graph(const Model<double>&, std::span<const std::span<const double>>,
                              const OnnxOptions&);

}  // namespace rota

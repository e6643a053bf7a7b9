// Models in the format ONNX, which onnxruntime, Triton and other programs can run. The graph of a
// rota::Model is made for you. For a model of your own, build the graph node by node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <rota/export.h>
#include <rota/model.h>
#include <rota/replica.h>

namespace rota {

// The values are those of ONNX.
enum class OnnxType : std::uint8_t { kFloat = 1, kUint8 = 2, kInt64 = 7 };

// An extent, or the name of an extent that differs between calls: "batch".
using OnnxExtent = std::variant<std::int64_t, std::string>;

// An input or an output of a graph.
struct OnnxValue {
  std::string name;
  OnnxType type = OnnxType::kFloat;
  std::vector<OnnxExtent> shape;
};

// A constant in a graph, such as the weights of a layer.
struct OnnxInitializer {
  std::string name;
  OnnxType type = OnnxType::kFloat;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // The elements, row-major.
};

struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};

struct OnnxNode {
  std::string op;                    // "Gemm": an operator of opset 17.
  std::vector<std::string> inputs;   // Empty strings for optional inputs that are left out.
  std::vector<std::string> outputs;  // The first is also the name of the node.
  std::vector<OnnxAttribute> attributes;
};

// A graph of operators of ONNX's opset 17. Each call names what earlier calls have added, so a
// graph has no cycle and no gap. Calls throw Error kInvalidArgument, and add nothing, for a name
// that is empty, taken, or unknown, for a text that is not UTF-8, and for values that do not fit
// their shape. Whether a node's inputs fit its operator is not checked: onnx.checker and
// onnxruntime check that.
class ROTA_EXPORT OnnxGraph {
 public:
  explicit OnnxGraph(std::string name);

  void add_input(std::string name, OnnxType type, std::vector<OnnxExtent> shape);
  // Copies `values`, which are row-major.
  void add_initializer(std::string name, std::vector<std::int64_t> shape,
                       std::span<const float> values);
  void add_initializer(std::string name, std::vector<std::int64_t> shape,
                       std::span<const std::int64_t> values);
  void add_node(OnnxNode node);
  // `name` is the output of a node.
  void add_output(std::string name, OnnxType type, std::vector<OnnxExtent> shape);
  // Adds a fact about the model, for programs that load it.
  void add_metadata(std::string key, std::string value);

  const std::string& name() const noexcept { return name_; }
  std::span<const OnnxValue> inputs() const noexcept { return inputs_; }
  std::span<const OnnxInitializer> initializers() const noexcept { return initializers_; }
  std::span<const OnnxNode> nodes() const noexcept { return nodes_; }
  std::span<const OnnxValue> outputs() const noexcept { return outputs_; }
  std::span<const std::pair<std::string, std::string>> metadata() const noexcept {
    return metadata_;
  }

 private:
  void check_free(std::string_view name, std::string_view what) const;
  void add_constant(OnnxInitializer initializer, std::size_t count);

  std::string name_;
  std::vector<OnnxValue> inputs_;
  std::vector<OnnxInitializer> initializers_;
  std::vector<OnnxNode> nodes_;
  std::vector<OnnxValue> outputs_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::set<std::string, std::less<>> names_;  // Of inputs, initializers, and outputs of nodes.
};

struct OnnxOptions {
  // The input has pixels from 0 to 255, of type uint8, and the graph divides them by 255. false:
  // the input has floats, as BatchBuffer gathers them.
  bool takes_bytes = false;
  // The output is "probabilities", which sum up to 1 for each sample. false: the output is
  // "logits".
  bool softmax = false;
  // Facts for the metadata of the file. Empty texts are left out.
  std::uint64_t step = 0;
  std::string run;          // See BeginReport::run.
  std::string data_digest;  // See SampleSource::digest.
};

// Returns the graph that classifies as model.evaluate() does. `values` has the values of each
// parameter, and is read only during the call. The input "input" has the shape batch × rows ×
// columns × channels, and the output has the shape batch × classes; "batch" is free. Dropout is
// left out. Doubles are rounded to floats. The metadata has "step", "run", "data_digest" and
// "weights_hash", which is Replica::weights_hash() in hexadecimal digits. Throws Error
// kInvalidArgument if `values` do not fit the model.
template <class T>
ROTA_EXPORT OnnxGraph onnx_graph(const Model<T>& model, std::span<const std::span<const T>> values,
                                 const OnnxOptions& options = {});

extern template OnnxGraph onnx_graph(const Model<float>&, std::span<const std::span<const float>>,
                                     const OnnxOptions&);
extern template OnnxGraph onnx_graph(const Model<double>&, std::span<const std::span<const double>>,
                                     const OnnxOptions&);

// Returns this graph for the model of a replica, between steps. Not collective: one rank suffices.
template <class T>
OnnxGraph onnx_graph(const Replica<T>& replica, const OnnxOptions& options = {}) {
  std::vector<std::span<const T>> values;
  for (std::size_t i = 0; i < replica.model().parameters().size(); ++i) {
    values.push_back(replica.values(i));
  }
  return onnx_graph<T>(replica.model(), values, options);
}

// Returns the contents of an ONNX file with this graph: IR version 8, opset 17. Throws Error
// kInvalidArgument if the graph has no output, or if the file would have 2 GiB or more, which
// readers of ONNX refuse.
ROTA_EXPORT std::string to_bytes(const OnnxGraph& graph);

// Writes such a file. A file at `path` is replaced at once, when the new one is on the disk: a
// reader never sees half a model. Throws as to_bytes() does, and Error kCannotWrite; then a file
// that was at `path` is still there.
ROTA_EXPORT void write_onnx(const OnnxGraph& graph, const std::filesystem::path& path);

template <class T>
void write_onnx(const Model<T>& model, std::span<const std::span<const T>> values,
                const std::filesystem::path& path, const OnnxOptions& options = {}) {
  write_onnx(onnx_graph<T>(model, values, options), path);
}

template <class T>
void write_onnx(const Replica<T>& replica, const std::filesystem::path& path,
                const OnnxOptions& options = {}) {
  write_onnx(onnx_graph(replica, options), path);
}

}  // namespace rota

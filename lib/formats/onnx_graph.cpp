// Checks each part of an ONNX graph while the graph is built, so that a mistake is found at the
// call that makes it.
#include <rota/error.h>
#include <rota/onnx.h>

#include <algorithm>
#include <utility>

#include "formats/utf8.h"

namespace rota {
namespace {

[[noreturn]] void refuse_graph(const std::string& graph, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "ONNX graph " + graph + ": " + why);
}

// A reader refuses a file of which one text is not UTF-8.
void check_text(const std::string& graph, std::string_view what, std::string_view text) {
  if (formats::is_utf8(text)) return;
  refuse_graph(formats::to_utf8(graph),
               std::string(what) + " " + formats::to_utf8(text) + " is not UTF-8");
}

void check_shape(const std::string& graph, const std::vector<OnnxExtent>& shape) {
  for (const OnnxExtent& extent : shape) {
    const auto* name = std::get_if<std::string>(&extent);
    if (name != nullptr) check_text(graph, "the extent", *name);
  }
}

std::size_t count_in_shape(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

template <class T>
std::vector<std::byte> bytes_of_values(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

OnnxGraph::OnnxGraph(std::string name) : name_(std::move(name)) {
  if (name_.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "an ONNX graph needs a name, and got an empty one");
  }
  check_text(name_, "the name", name_);
}

void OnnxGraph::check_free(std::string_view name, std::string_view what) const {
  if (name.empty()) refuse_graph(name_, std::string(what) + " needs a name, and got an empty one");
  check_text(name_, std::string(what) + " cannot be named so: the name", name);
  if (names_.contains(name)) {
    refuse_graph(name_, std::string(what) + " cannot be named " + std::string(name) +
                            ", because another value has this name: choose another");
  }
}

void OnnxGraph::add_input(std::string name, OnnxType type, std::vector<OnnxExtent> shape) {
  check_free(name, "an input");
  check_shape(name_, shape);
  names_.insert(name);
  inputs_.push_back({std::move(name), type, std::move(shape)});
}

void OnnxGraph::add_initializer(std::string name, std::vector<std::int64_t> shape,
                                std::span<const float> values) {
  add_constant({std::move(name), OnnxType::kFloat, std::move(shape), bytes_of_values(values)},
               values.size());
}

void OnnxGraph::add_initializer(std::string name, std::vector<std::int64_t> shape,
                                std::span<const std::int64_t> values) {
  add_constant({std::move(name), OnnxType::kInt64, std::move(shape), bytes_of_values(values)},
               values.size());
}

void OnnxGraph::add_constant(OnnxInitializer initializer, std::size_t count) {
  check_free(initializer.name, "an initializer");
  for (const std::int64_t extent : initializer.shape) {
    if (extent >= 0) continue;
    refuse_graph(name_, "initializer " + initializer.name + " has the extent " +
                            std::to_string(extent) + "; an extent is at least 0");
  }
  if (count != count_in_shape(initializer.shape)) {
    refuse_graph(name_, "initializer " + initializer.name + " got " + std::to_string(count) +
                            " values, but its shape has " +
                            std::to_string(count_in_shape(initializer.shape)));
  }
  names_.insert(initializer.name);
  initializers_.push_back(std::move(initializer));
}

void OnnxGraph::add_node(OnnxNode node) {
  if (node.op.empty()) refuse_graph(name_, "a node needs an operator, such as Gemm");
  check_text(name_, "the operator", node.op);
  const std::string what = "a node " + node.op;
  if (node.outputs.empty()) refuse_graph(name_, what + " needs an output");
  for (const std::string& input : node.inputs) {
    if (input.empty() || names_.contains(input)) continue;
    refuse_graph(name_, what + " reads " + input +
                            ", which no earlier call has added: add inputs, initializers and "
                            "nodes before the nodes that read them");
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    check_free(node.outputs[i], "an output of " + what);
    if (std::ranges::count(node.outputs, node.outputs[i]) > 1) {
      refuse_graph(name_, what + " has two outputs named " + node.outputs[i]);
    }
  }
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.name.empty()) refuse_graph(name_, "an attribute of " + what + " has no name");
    check_text(name_, "the attribute", attribute.name);
  }
  names_.insert(node.outputs.begin(), node.outputs.end());
  nodes_.push_back(std::move(node));
}

void OnnxGraph::add_output(std::string name, OnnxType type, std::vector<OnnxExtent> shape) {
  const bool is_made = std::ranges::any_of(nodes_, [&](const OnnxNode& node) {
    return std::ranges::find(node.outputs, name) != node.outputs.end();
  });
  if (!is_made) {
    refuse_graph(name_, "output '" + name + "' is no output of a node: add the node before");
  }
  if (std::ranges::find(outputs_, name, &OnnxValue::name) != outputs_.end()) {
    refuse_graph(name_, "output " + name + " was added before");
  }
  check_shape(name_, shape);
  outputs_.push_back({std::move(name), type, std::move(shape)});
}

void OnnxGraph::add_metadata(std::string key, std::string value) {
  if (key.empty()) refuse_graph(name_, "a fact in the metadata needs a key");
  check_text(name_, "the key", key);
  check_text(name_, "the fact " + key, value);
  const bool is_taken =
      std::ranges::any_of(metadata_, [&](const auto& fact) { return fact.first == key; });
  if (is_taken) refuse_graph(name_, "the metadata has " + key + " already");
  metadata_.emplace_back(std::move(key), std::move(value));
}

}  // namespace rota

// Encodes a graph as a GraphDef, the form in which TensorBoard shows graphs.
#include <map>

#include "formats/events.h"
#include "formats/protobuf.h"

namespace rota::formats {
namespace {

enum class GraphDefField : FieldNumber { kNode = 1 };
enum class NodeDefField : FieldNumber { kName = 1, kOp = 2, kInput = 3, kAttribute = 5 };
enum class AttributeEntryField : FieldNumber { kKey = 1, kValue = 2 };
enum class AttributeValueField : FieldNumber {
  kList = 1,
  kString = 2,
  kInt = 3,
  kFloat = 4,
  kType = 6,
};
enum class AttributeListField : FieldNumber { kInt = 3, kShape = 7 };
enum class ShapeDefField : FieldNumber { kDimension = 2 };
enum class DimensionField : FieldNumber { kSize = 1 };

// Returns TensorFlow's number for a type.
std::int32_t type_in_graph(OnnxType type) noexcept {
  switch (type) {
    case OnnxType::kFloat:
      return 1;
    case OnnxType::kUint8:
      return 4;
    case OnnxType::kInt64:
      return 9;
  }
  return 0;
}

// Adds an entry to the map of a node's attributes. `add` fills the value.
template <class Add>
void add_entry(Message<NodeDefField>& node, const std::string& key, const Add& add) {
  Message<AttributeEntryField> entry(node, NodeDefField::kAttribute);
  entry.add_string(AttributeEntryField::kKey, key);
  Message<AttributeValueField> value(entry, AttributeEntryField::kValue);
  add(value);
}

// `shape` has -1 for an extent that is free.
void add_type_and_shape(Message<NodeDefField>& node, OnnxType type,
                        const std::vector<std::int64_t>& shape) {
  add_entry(node, "dtype", [&](Message<AttributeValueField>& value) {
    value.add_enum(AttributeValueField::kType, type_in_graph(type));
  });
  add_entry(node, "_output_shapes", [&](Message<AttributeValueField>& value) {
    Message<AttributeListField> list(value, AttributeValueField::kList);
    Message<ShapeDefField> message(list, AttributeListField::kShape);
    for (const std::int64_t extent : shape) {
      Message<DimensionField>(message, ShapeDefField::kDimension)
          .add_int64(DimensionField::kSize, extent);
    }
  });
}

void add_attribute(Message<NodeDefField>& node, const OnnxAttribute& attribute) {
  add_entry(node, attribute.name, [&](Message<AttributeValueField>& value) {
    if (const auto* number = std::get_if<std::int64_t>(&attribute.value)) {
      value.add_int64(AttributeValueField::kInt, *number);
    } else if (const auto* real = std::get_if<float>(&attribute.value)) {
      value.add_float(AttributeValueField::kFloat, *real);
    } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      value.add_bytes(AttributeValueField::kString, *text);
    } else {
      const auto& all = std::get<std::vector<std::int64_t>>(attribute.value);
      Message<AttributeListField>(value, AttributeValueField::kList)
          .add_packed_int64(AttributeListField::kInt, all.begin(), all.end());
    }
  });
}

std::vector<std::int64_t> numbers_of(const std::vector<OnnxExtent>& shape) {
  std::vector<std::int64_t> numbers;
  for (const OnnxExtent& extent : shape) {
    const auto* number = std::get_if<std::int64_t>(&extent);
    numbers.push_back(number == nullptr ? -1 : *number);
  }
  return numbers;
}

}  // namespace

std::string encode_graph_definition(const OnnxGraph& graph) {
  std::string bytes;
  Message<GraphDefField> message(bytes);
  for (const OnnxValue& input : graph.inputs()) {
    Message<NodeDefField> node(message, GraphDefField::kNode);
    node.add_string(NodeDefField::kName, input.name);
    node.add_string(NodeDefField::kOp, "Placeholder");
    add_type_and_shape(node, input.type, numbers_of(input.shape));
  }
  for (const OnnxInitializer& initializer : graph.initializers()) {
    Message<NodeDefField> node(message, GraphDefField::kNode);
    node.add_string(NodeDefField::kName, initializer.name);
    node.add_string(NodeDefField::kOp, "Const");
    add_type_and_shape(node, initializer.type, initializer.shape);
  }
  std::map<std::string, std::string> reference;  // How other nodes name this output of a node.
  for (const OnnxNode& each : graph.nodes()) {
    Message<NodeDefField> node(message, GraphDefField::kNode);
    node.add_string(NodeDefField::kName, each.outputs.front());
    node.add_string(NodeDefField::kOp, each.op);
    for (const std::string& input : each.inputs) {
      const auto found = reference.find(input);
      if (!input.empty()) {
        node.add_string(NodeDefField::kInput, found == reference.end() ? input : found->second);
      }
    }
    for (const OnnxAttribute& attribute : each.attributes) add_attribute(node, attribute);
    for (std::size_t i = 1; i < each.outputs.size(); ++i) {
      reference[each.outputs[i]] = each.outputs.front() + ":" + std::to_string(i);
    }
  }
  return bytes;
}

}  // namespace rota::formats

// Encodes a graph as an ONNX file: a protocol buffer of the type ModelProto of onnx.proto.
#include <rota/error.h>
#include <rota/onnx.h>

#include <bit>
#include <limits>

#include "formats/protobuf.h"

namespace rota {
namespace {

constexpr int kWrittenIrVersion = 8;
constexpr int kWrittenOpset = 17;
static_assert(std::endian::native == std::endian::little, "the bytes of values are as ONNX wants");
constexpr std::size_t kMostBytes = std::numeric_limits<std::int32_t>::max();

// The fields of onnx.proto that a graph needs, with their numbers.
enum class ModelField : formats::FieldNumber {
  kIrVersion = 1,
  kProducer = 2,
  kGraph = 7,
  kOpset = 8,
  kMetadata = 14,
};
enum class OpsetField : formats::FieldNumber { kVersion = 2 };
enum class FactField : formats::FieldNumber { kKey = 1, kValue = 2 };
enum class GraphField : formats::FieldNumber {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
};
enum class NodeField : formats::FieldNumber {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOp = 4,
  kAttribute = 5,
};
enum class AttributeField : formats::FieldNumber {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kInts = 8,
  kType = 20,
};
enum class AttributeType : std::int32_t { kFloat = 1, kInt = 2, kString = 3, kInts = 7 };
enum class InitializerField : formats::FieldNumber {
  kShape = 1,
  kType = 2,
  kName = 8,
  kBytes = 9,
};
enum class ValueField : formats::FieldNumber { kName = 1, kType = 2 };
enum class TypeField : formats::FieldNumber { kTensor = 1 };
enum class TensorTypeField : formats::FieldNumber { kElement = 1, kShape = 2 };
enum class ShapeField : formats::FieldNumber { kExtent = 1 };
enum class ExtentField : formats::FieldNumber { kNumber = 1, kName = 2 };

using formats::Message;

void encode_value(Message<ValueField> message, const OnnxValue& value) {
  message.add_string(ValueField::kName, value.name);
  Message<TypeField> type(message, ValueField::kType);
  Message<TensorTypeField> tensor(type, TypeField::kTensor);
  tensor.add_int32(TensorTypeField::kElement, static_cast<std::int32_t>(value.type));
  Message<ShapeField> shape(tensor, TensorTypeField::kShape);
  for (const OnnxExtent& extent : value.shape) {
    Message<ExtentField> field(shape, ShapeField::kExtent);
    if (const auto* number = std::get_if<std::int64_t>(&extent)) {
      field.add_int64(ExtentField::kNumber, *number);
    } else {
      field.add_string(ExtentField::kName, std::get<std::string>(extent));
    }
  }
}

void encode_initializer(Message<InitializerField> message, const OnnxInitializer& initializer) {
  message.add_packed_int64(InitializerField::kShape, initializer.shape.begin(),
                           initializer.shape.end());
  message.add_int32(InitializerField::kType, static_cast<std::int32_t>(initializer.type));
  message.add_string(InitializerField::kName, initializer.name);
  message.add_bytes(InitializerField::kBytes,
                    reinterpret_cast<const char*>(initializer.bytes.data()),
                    initializer.bytes.size());
}

void encode_attribute(Message<AttributeField> message, const OnnxAttribute& attribute) {
  message.add_string(AttributeField::kName, attribute.name);
  AttributeType type = AttributeType::kInt;
  if (const auto* number = std::get_if<std::int64_t>(&attribute.value)) {
    message.add_int64(AttributeField::kInt, *number);
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    message.add_float(AttributeField::kFloat, *real);
    type = AttributeType::kFloat;
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    message.add_bytes(AttributeField::kString, *text);
    type = AttributeType::kString;
  } else {
    for (const std::int64_t each : std::get<std::vector<std::int64_t>>(attribute.value)) {
      message.add_int64(AttributeField::kInts, each);
    }
    type = AttributeType::kInts;
  }
  message.add_enum(AttributeField::kType, static_cast<std::int32_t>(type));
}

void encode_node(Message<NodeField> message, const OnnxNode& node) {
  for (const std::string& input : node.inputs) message.add_string(NodeField::kInput, input);
  for (const std::string& output : node.outputs) message.add_string(NodeField::kOutput, output);
  message.add_string(NodeField::kName, node.outputs.front());
  message.add_string(NodeField::kOp, node.op);
  for (const OnnxAttribute& attribute : node.attributes) {
    encode_attribute({message, NodeField::kAttribute}, attribute);
  }
}

void encode_graph(Message<GraphField> message, const OnnxGraph& graph) {
  for (const OnnxNode& node : graph.nodes()) encode_node({message, GraphField::kNode}, node);
  message.add_string(GraphField::kName, graph.name());
  for (const OnnxInitializer& initializer : graph.initializers()) {
    encode_initializer({message, GraphField::kInitializer}, initializer);
  }
  for (const OnnxValue& input : graph.inputs()) encode_value({message, GraphField::kInput}, input);
  for (const OnnxValue& output : graph.outputs()) {
    encode_value({message, GraphField::kOutput}, output);
  }
}

// Most bytes are in the initializers. The names and nodes get a generous share of 1 MiB.
void check_encodable(const OnnxGraph& graph) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "ONNX graph " + graph.name() + ": " + why);
  };
  if (graph.outputs().empty()) refuse("it has no output: call add_output()");
  std::size_t bytes = std::size_t{1} << 20;
  for (const OnnxInitializer& initializer : graph.initializers()) bytes += initializer.bytes.size();
  if (bytes > kMostBytes) {
    refuse("its values have " + std::to_string(bytes) +
           " bytes; a file of ONNX has less than 2 GiB, so this model must be divided");
  }
}

}  // namespace

std::string to_bytes(const OnnxGraph& graph) {
  check_encodable(graph);
  std::string bytes;
  Message<ModelField> model(bytes);
  model.add_int64(ModelField::kIrVersion, kWrittenIrVersion);
  model.add_string(ModelField::kProducer, "rota");
  encode_graph({model, ModelField::kGraph}, graph);
  Message<OpsetField>(model, ModelField::kOpset).add_int64(OpsetField::kVersion, kWrittenOpset);
  for (const auto& [key, value] : graph.metadata()) {
    Message<FactField> fact(model, ModelField::kMetadata);
    fact.add_string(FactField::kKey, key);
    fact.add_string(FactField::kValue, value);
  }
  return bytes;
}

}  // namespace rota

// Encodes events. TensorBoard has an older and a newer form of scalars, histograms and images. The
// older form is written here, because every reader of event files understands it.
#include "formats/events.h"

#include <algorithm>

#include "formats/histogram.h"
#include "formats/png.h"
#include "formats/protobuf.h"

namespace rota::formats {
namespace {

enum class EventField : FieldNumber {
  kWallTime = 1,
  kStep = 2,
  kFileVersion = 3,
  kGraph = 4,
  kSummary = 5,
  kSessionLog = 7,
};
enum class SessionLogField : FieldNumber { kStatus = 1 };
enum class SummaryField : FieldNumber { kValue = 1 };
enum class SummaryValueField : FieldNumber {
  kTag = 1,
  kScalar = 2,
  kImage = 4,
  kHistogram = 5,
  kTensor = 8,
  kMetadata = 9,
};
enum class HistogramField : FieldNumber {
  kLeast = 1,
  kGreatest = 2,
  kCount = 3,
  kSum = 4,
  kSumOfSquares = 5,
  kLimits = 6,
  kCounts = 7,
};
enum class ImageField : FieldNumber { kRows = 1, kColumns = 2, kChannels = 3, kPng = 4 };
enum class MetadataField : FieldNumber { kPlugin = 1, kDataClass = 4 };
enum class PluginField : FieldNumber { kName = 1, kContent = 2 };
enum class TensorField : FieldNumber { kType = 1, kShape = 2, kFloat = 5, kString = 8 };
enum class TensorShapeField : FieldNumber { kUnused = 2 };

constexpr std::int32_t kSessionStarts = 1;
constexpr std::int32_t kDataClassTensor = 2;
constexpr std::int32_t kTensorOfFloats = 1;
constexpr std::int32_t kTensorOfStrings = 7;

using Value = Message<SummaryValueField>;

void add_plugin(Value& value, const char* plugin, const std::string& content) {
  Message<MetadataField> metadata(value, SummaryValueField::kMetadata);
  {
    Message<PluginField> data(metadata, MetadataField::kPlugin);
    data.add_string(PluginField::kName, plugin);
    data.add_bytes(PluginField::kContent, content);
  }
  metadata.add_enum(MetadataField::kDataClass, kDataClassTensor);
}

// A tensor without dimensions has one element.
Message<TensorField> add_tensor(Value& value, std::int32_t type) {
  Message<TensorField> tensor(value, SummaryValueField::kTensor);
  tensor.add_enum(TensorField::kType, type);
  { const Message<TensorShapeField> shape(tensor, TensorField::kShape); }
  return tensor;
}

void add_content(Value& value, const ScalarSummary& scalar) {
  value.add_float(SummaryValueField::kScalar, scalar.value);
}

void add_content(Value& value, const Histogram& histogram) {
  Message<HistogramField> message(value, SummaryValueField::kHistogram);
  message.add_double(HistogramField::kLeast, histogram.least);
  message.add_double(HistogramField::kGreatest, histogram.greatest);
  message.add_double(HistogramField::kCount, histogram.count);
  message.add_double(HistogramField::kSum, histogram.sum);
  message.add_double(HistogramField::kSumOfSquares, histogram.sum_of_squares);
  message.add_packed_double(HistogramField::kLimits, histogram.limits.begin(),
                            histogram.limits.end());
  message.add_packed_double(HistogramField::kCounts, histogram.counts.begin(),
                            histogram.counts.end());
}

void add_content(Value& value, const ImageSummary& image) {
  Message<ImageField> message(value, SummaryValueField::kImage);
  message.add_int32(ImageField::kRows, static_cast<std::int32_t>(image.shape.rows));
  message.add_int32(ImageField::kColumns, static_cast<std::int32_t>(image.shape.columns));
  message.add_int32(ImageField::kChannels, static_cast<std::int32_t>(image.shape.channels));
  message.add_bytes(ImageField::kPng, encode_png(image.shape, image.pixels));
}

void add_content(Value& value, const TextSummary& text) {
  add_tensor(value, kTensorOfStrings).add_bytes(TensorField::kString, text.text);
  add_plugin(value, "text", {});
}

void add_content(Value& value, const HyperparameterSummary& summary) {
  add_tensor(value, kTensorOfFloats).add_float(TensorField::kFloat, 0);
  add_plugin(value, "hparams", summary.message);
}

Message<EventField> begin_event(std::string& bytes, const Event& event) {
  Message<EventField> message(bytes);
  message.add_double(EventField::kWallTime, event.wall_time);
  message.add_int64(EventField::kStep, event.step);
  return message;
}

template <class Content>
std::string encode_summary(const Event& event, const std::string& tag, const Content& content) {
  std::string bytes;
  Message<EventField> message = begin_event(bytes, event);
  Message<SummaryField> summary(message, EventField::kSummary);
  Value value(summary, SummaryField::kValue);
  value.add_string(SummaryValueField::kTag, tag);
  add_content(value, content);
  return bytes;
}

// Encodes the content of an event by its kind.
struct Encoder {
  const Event& event;

  std::vector<std::string> operator()(const FileVersion&) const {
    std::string bytes;
    begin_event(bytes, event).add_string(EventField::kFileVersion, "brain.Event:2");
    return {bytes};
  }
  std::vector<std::string> operator()(const SessionStart&) const {
    std::string bytes;
    Message<EventField> message = begin_event(bytes, event);
    Message<SessionLogField>(message, EventField::kSessionLog)
        .add_enum(SessionLogField::kStatus, kSessionStarts);
    return {bytes};
  }
  std::vector<std::string> operator()(const GraphSummary& graph) const {
    std::string bytes;
    begin_event(bytes, event).add_bytes(EventField::kGraph, graph.definition);
    return {bytes};
  }
  std::vector<std::string> operator()(const HistogramSummary& summary) const {
    const Histogram histogram = std::visit(
        [](const auto& values) { return histogram_of(std::span(values)); }, summary.values);
    std::vector<std::string> all = {encode_summary(event, event.tag, histogram)};
    if (histogram.not_finite > 0) {
      const ScalarSummary count = {static_cast<float>(histogram.not_finite)};
      all.push_back(encode_summary(event, event.tag + "/not_finite", count));
    }
    return all;
  }
  template <class Content>
  std::vector<std::string> operator()(const Content& content) const {
    return {encode_summary(event, event.tag, content)};
  }
};

// The bytes that the content of an event holds outside of the event.
struct Measure {
  std::size_t operator()(const HistogramSummary& summary) const noexcept {
    return std::visit([](const auto& values) { return values.size() * sizeof(values.front()); },
                      summary.values);
  }
  std::size_t operator()(const ImageSummary& image) const noexcept { return image.pixels.size(); }
  std::size_t operator()(const TextSummary& text) const noexcept { return text.text.size(); }
  std::size_t operator()(const HyperparameterSummary& summary) const noexcept {
    return summary.message.size();
  }
  std::size_t operator()(const GraphSummary& graph) const noexcept {
    return graph.definition.size();
  }
  template <class Content>
  std::size_t operator()(const Content&) const noexcept {
    return 0;
  }
};

}  // namespace

std::vector<std::string> encode(const Event& event) {
  return std::visit(Encoder{event}, event.content);
}

std::size_t bytes_of(const Event& event) noexcept {
  return sizeof(Event) + event.tag.size() + std::visit(Measure{}, event.content);
}

}  // namespace rota::formats

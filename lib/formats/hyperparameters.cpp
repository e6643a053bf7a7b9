// Encodes what TensorBoard's plugin "hparams" reads: messages of the type HParamsPluginData.
#include "formats/events.h"
#include "formats/protobuf.h"
#include "formats/utf8.h"

namespace rota::formats {
namespace {

enum class PluginDataField : FieldNumber {
  kExperiment = 2,
  kSessionStart = 3,
  kSessionEnd = 4,
};
enum class ExperimentField : FieldNumber { kCreated = 3, kParameter = 4, kMetric = 5 };
enum class ParameterField : FieldNumber { kName = 1, kType = 4 };
enum class MetricField : FieldNumber { kName = 1 };
enum class MetricNameField : FieldNumber { kTag = 2 };
enum class SessionStartField : FieldNumber { kParameter = 1, kTime = 5 };
enum class EntryField : FieldNumber { kKey = 1, kValue = 2 };
enum class JsonField : FieldNumber { kNumber = 2, kString = 3, kBool = 4 };
enum class SessionEndField : FieldNumber { kStatus = 1, kTime = 2 };

enum class ParameterType : std::int32_t { kString = 1, kBool = 2, kNumber = 3 };
constexpr std::int32_t kSuccess = 1;
constexpr std::int32_t kFailure = 2;

ParameterType type_of(const Hyperparameter& value) noexcept {
  if (std::holds_alternative<bool>(value)) return ParameterType::kBool;
  return std::holds_alternative<std::string>(value) ? ParameterType::kString
                                                    : ParameterType::kNumber;
}

void encode_json(Message<JsonField> message, const Hyperparameter& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    message.add_bool(JsonField::kBool, *flag);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    message.add_double(JsonField::kNumber, static_cast<double>(*integer));
  } else if (const auto* number = std::get_if<double>(&value)) {
    message.add_double(JsonField::kNumber, *number);
  } else {
    message.add_string(JsonField::kString, to_utf8(std::get<std::string>(value)));
  }
}

}  // namespace

std::string encode_experiment(const Hyperparameters& values, std::span<const std::string> metrics,
                              double wall_time) {
  std::string bytes;
  Message<PluginDataField> data(bytes);
  Message<ExperimentField> experiment(data, PluginDataField::kExperiment);
  experiment.add_double(ExperimentField::kCreated, wall_time);
  for (const auto& [name, value] : values) {
    Message<ParameterField> parameter(experiment, ExperimentField::kParameter);
    parameter.add_string(ParameterField::kName, name);
    parameter.add_enum(ParameterField::kType, static_cast<std::int32_t>(type_of(value)));
  }
  for (const std::string& tag : metrics) {
    Message<MetricField> metric(experiment, ExperimentField::kMetric);
    Message<MetricNameField>(metric, MetricField::kName).add_string(MetricNameField::kTag, tag);
  }
  return bytes;
}

std::string encode_session_start(const Hyperparameters& values, double wall_time) {
  std::string bytes;
  Message<PluginDataField> data(bytes);
  Message<SessionStartField> start(data, PluginDataField::kSessionStart);
  for (const auto& [name, value] : values) {
    Message<EntryField> entry(start, SessionStartField::kParameter);
    entry.add_string(EntryField::kKey, name);
    encode_json({entry, EntryField::kValue}, value);
  }
  start.add_double(SessionStartField::kTime, wall_time);
  return bytes;
}

std::string encode_session_end(bool success, double wall_time) {
  std::string bytes;
  Message<PluginDataField> data(bytes);
  Message<SessionEndField> end(data, PluginDataField::kSessionEnd);
  end.add_enum(SessionEndField::kStatus, success ? kSuccess : kFailure);
  end.add_double(SessionEndField::kTime, wall_time);
  return bytes;
}

}  // namespace rota::formats

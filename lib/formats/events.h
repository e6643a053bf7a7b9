// The records of TensorBoard's event files: protocol buffers of the type Event of event.proto. An
// Event holds a summary until the writing thread encodes the summary.
#pragma once
#include <rota/model.h>
#include <rota/onnx.h>
#include <rota/summaries.h>

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace rota::formats {

struct FileVersion {};   // The first record of a file.
struct SessionStart {};  // Readers forget what earlier files have at this step and later.

struct ScalarSummary {
  float value = 0;
};
struct HistogramSummary {
  std::variant<std::vector<float>, std::vector<double>> values;
};
// An image for encode_png().
struct ImageSummary {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
};
struct TextSummary {
  std::string text;
};
// A message for the plugin "hparams", encoded by one of the functions below.
struct HyperparameterSummary {
  std::string message;
};
// Encoded by encode_graph_definition().
struct GraphSummary {
  std::string definition;
};

struct Event {
  double wall_time = 0;  // Seconds since 1970.
  std::int64_t step = 0;
  std::string tag;
  std::variant<FileVersion, SessionStart, ScalarSummary, HistogramSummary, ImageSummary,
               TextSummary, HyperparameterSummary, GraphSummary>
      content;
};

// Returns the data of one record. If a histogram has values that are not finite, returns a second
// record: a scalar with the tag "TAG/not_finite", the number of these values.
std::vector<std::string> encode(const Event& event);

// Returns about how many bytes of memory `event` takes.
std::size_t bytes_of(const Event& event) noexcept;

// Encodes the names and types of the hyperparameters, and the tags of the scalars that TensorBoard
// compares.
std::string encode_experiment(const Hyperparameters& values, std::span<const std::string> metrics,
                              double wall_time);
std::string encode_session_start(const Hyperparameters& values, double wall_time);
std::string encode_session_end(bool success, double wall_time);

// Encodes a GraphDef with a node for each input, initializer and node of `graph`.
std::string encode_graph_definition(const OnnxGraph& graph);

}  // namespace rota::formats

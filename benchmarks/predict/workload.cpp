// Reads workloads line by line.
#include "predict/workload.h"

#include <charconv>
#include <stdexcept>

#include "base/number_text.h"
#include "predict/lines.h"

namespace rota::bench {
namespace {

constexpr std::string_view kForm = "rota-workload";
constexpr std::string_view kGradientShape = "gradient NAME BYTES SECONDS";
// A larger number is a mistake, and sums of such numbers would wrap.
constexpr std::size_t kMostBytes = std::size_t{1} << (sizeof(std::size_t) > 4 ? 50 : 30);

// Returns whether a line of a file can have the name.
bool is_word(std::string_view name) {
  return !name.empty() && name.find_first_of(" \t\r\n#") == std::string_view::npos;
}

std::size_t count_from(const TextLine& line, const std::string& name, const std::string& text) {
  std::size_t bytes = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, bytes);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  const std::string what = line.where + ": gradient " + name + " has " + text + " bytes; ";
  if (!is_number || bytes > kMostBytes) {
    throw std::invalid_argument(what + "that is not a whole number of at most " +
                                std::to_string(kMostBytes));
  }
  if (bytes == 0) throw std::invalid_argument(what + "it must have values");
  if (bytes % sizeof(float) == 0) return bytes / sizeof(float);
  throw std::invalid_argument(what + "a float32 has 4 bytes, so that must be a multiple of 4");
}

Workload::Gradient gradient_from(const TextLine& line) {
  require_words(line, 4, kGradientShape);
  const std::string& name = line.words[1];
  return {.name = name,
          .count = count_from(line, name, line.words[2]),
          .seconds = positive_in(line.where, "the seconds of gradient " + name, line.words[3])};
}

void take(Workload& workload, const TextLine& line) {
  const std::string& key = line.words.front();
  if (key == "gradient") return workload.gradients.push_back(gradient_from(line));
  if (key == "name") {
    require_words(line, 2, "name NAME");
    workload.name = line.words[1];
  } else if (key == "forward") {
    require_words(line, 2, "forward SECONDS");
    workload.forward_seconds = positive_in(line.where, "the forward pass", line.words[1]);
  } else if (key == "update") {
    require_words(line, 2, "update SECONDS");
    workload.update_seconds = at_least_zero_in(line.where, "the update", line.words[1]);
  } else {
    throw std::invalid_argument(line.where + ": '" + key +
                                "' is not known; there are name, forward, update and gradient");
  }
}

}  // namespace

Workload parse_workload(const std::string& name, std::string_view text) {
  const std::vector<TextLine> lines = lines_of_file(name, text, kForm);
  require_once(lines, "gradient");
  Workload workload{.name = name};
  for (const TextLine& line : lines) take(workload, line);
  if (workload.forward_seconds <= 0) {
    throw std::invalid_argument(name + " has no line 'forward SECONDS'");
  }
  if (workload.gradients.empty()) {
    throw std::invalid_argument(name + " has no line '" + std::string(kGradientShape) + "'");
  }
  return workload;
}

std::string to_text(const Workload& workload) {
  std::string text(kForm);
  text += " 1\n";
  if (is_word(workload.name)) text += "name " + workload.name + "\n";
  text += "forward " + base::shortest_text(workload.forward_seconds) + "\nupdate " +
          base::shortest_text(workload.update_seconds) + "\n";
  for (const Workload::Gradient& gradient : workload.gradients) {
    text += "gradient " + gradient.name + " " + std::to_string(gradient.count * sizeof(float)) +
            " " + base::shortest_text(gradient.seconds) + "\n";
  }
  return text;
}

std::size_t gradient_bytes_of(const Workload& workload) {
  std::size_t bytes = 0;
  for (const Workload::Gradient& gradient : workload.gradients) {
    bytes += gradient.count * sizeof(float);
  }
  return bytes;
}

double alone_seconds_of(const Workload& workload) {
  double seconds = workload.forward_seconds + workload.update_seconds;
  for (const Workload::Gradient& gradient : workload.gradients) seconds += gradient.seconds;
  return seconds;
}

}  // namespace rota::bench

// Reads and writes calibrations line by line.
#include "predict/calibration.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/number_text.h"
#include "predict/lines.h"

namespace rota::bench {
namespace {

constexpr std::string_view kCalibrationForm = "rota-calibration";

// Returns all words after the first one, with one space between them.
std::string rest_of(const TextLine& line) {
  std::string rest;
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    rest += (i > 1 ? " " : "") + line.words[i];
  }
  if (rest.empty()) throw std::invalid_argument(line.where + ": '" + line.words[0] + "' is empty");
  return rest;
}

Link link_from(const TextLine& line) {
  const std::string& key = line.words[0];
  require_words(line, 4, key + " LATENCY BUSY SECONDS_PER_BYTE");
  return {.latency_seconds = positive_in(line.where, "the latency", line.words[1]),
          .busy_seconds = at_least_zero_in(line.where, "the busy time", line.words[2]),
          .seconds_per_byte = positive_in(line.where, "the time of a byte", line.words[3])};
}

void take_codec(Calibration& calibration, const TextLine& line) {
  require_words(line, 4, "codec NAME ENCODE DECODE");
  const auto codec = codec_named(line.words[1]);
  if (!codec) throw std::invalid_argument(line.where + ": no codec is '" + line.words[1] + "'");
  const CodecCosts costs{
      .encode_seconds_per_byte = positive_in(line.where, "the time to encode", line.words[2]),
      .decode_seconds_per_byte = positive_in(line.where, "the time to decode", line.words[3])};
  if (calibration.codecs.emplace(*codec, costs).second) return;
  throw std::invalid_argument(line.where + ": 'codec " + line.words[1] + "' is there twice");
}

void take_line(Calibration& calibration, const TextLine& line) {
  const std::string& key = line.words[0];
  if (key == "machine") {
    calibration.machine = rest_of(line);
  } else if (key == "transport") {
    calibration.transport = rest_of(line);
  } else if (key == "within-host") {
    calibration.costs.within_host = link_from(line);
  } else if (key == "between-hosts") {
    calibration.costs.between_hosts = link_from(line);
  } else if (key == "additions") {
    require_words(line, 2, "additions SECONDS_PER_BYTE");
    calibration.costs.reduce_seconds_per_byte =
        positive_in(line.where, "the time to add a byte", line.words[1]);
  } else if (key == "codec") {
    take_codec(calibration, line);
  } else {
    throw std::invalid_argument(line.where + ": '" + key +
                                "' is not known; there are machine, transport, within-host, "
                                "between-hosts, additions and codec");
  }
}

std::string line_of_link(const std::string& key, const Link& link) {
  if (link.seconds_per_byte <= 0) return "";
  return key + " " + base::shortest_text(link.latency_seconds) + " " +
         base::shortest_text(link.busy_seconds) + " " + base::shortest_text(link.seconds_per_byte) +
         "\n";
}

}  // namespace

Calibration parse_calibration(const std::string& name, std::string_view text) {
  const std::vector<TextLine> lines = lines_of_file(name, text, kCalibrationForm);
  require_once(lines, "codec");
  Calibration calibration;
  std::set<std::string> seen;
  for (const TextLine& line : lines) {
    take_line(calibration, line);
    seen.insert(line.words[0]);
  }
  for (const char* key : {"machine", "transport", "additions"}) {
    if (!seen.contains(key)) throw std::invalid_argument(name + " has no line '" + key + "'");
  }
  return calibration;
}

std::string to_text(const Calibration& calibration) {
  const WorldModel& costs = calibration.costs;
  std::string text(kCalibrationForm);
  text += " 1\nmachine " + calibration.machine + "\ntransport " + calibration.transport + "\n" +
          line_of_link("within-host", costs.within_host) +
          line_of_link("between-hosts", costs.between_hosts) + "additions " +
          base::shortest_text(costs.reduce_seconds_per_byte) + "\n";
  for (const auto& [codec, seconds] : calibration.codecs) {
    text += "codec " + std::string(to_string(codec)) + " " +
            base::shortest_text(seconds.encode_seconds_per_byte) + " " +
            base::shortest_text(seconds.decode_seconds_per_byte) + "\n";
  }
  return text;
}

void require_same(const std::string& name, const Calibration& calibration,
                  const std::string& machine, const std::string& transport) {
  if (calibration.machine != machine) {
    throw std::invalid_argument(name + " was measured on '" + calibration.machine +
                                "', and this prediction is for '" + machine +
                                "': measure there, or name the other machine with --machine");
  }
  if (calibration.transport == transport) return;
  throw std::invalid_argument(name + " was measured over " + calibration.transport +
                              ", and this prediction is for " + transport +
                              ": measure over that transport, or name the other one with "
                              "--transport");
}

std::string this_machine() {
  std::string model = "unknown CPU";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(std::min(line.find(": ") + 2, line.size()));
    break;
  }
  std::string words;  // With one space between them, as a file gives them back.
  for (const char c : model) {
    if (c == '#' || (c == ' ' && (words.empty() || words.back() == ' '))) continue;
    words += c;
  }
  return words + ", " + std::to_string(std::thread::hardware_concurrency()) + " CPUs";
}

}  // namespace rota::bench

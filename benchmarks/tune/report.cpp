// Formats the results as lines of text.
#include "tune/report.h"

#include <array>
#include <cstdio>
#include <sstream>

#include "collectives/sizes.h"

namespace rota::bench {
namespace {

constexpr std::size_t kMaxText = 200;

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, kMaxText> text{};
  std::snprintf(text.data(), text.size(), pattern, arguments...);
  return text.data();
}

std::string line_of(const char* level, const Link& link) {
  if (link.seconds_per_byte <= 0) return {};
  return format("%-14s latency %.1f us, of which each end is busy for %.1f; %.3f GB/s each way\n",
                level, link.latency_seconds * 1e6, link.busy_seconds * 1e6,
                1e-9 / link.seconds_per_byte);
}

std::string measured(const Candidate& candidate) {
  if (!candidate.measured) return format("%22s", "not run");
  return format("%10.1f (from %8.1f)", candidate.measured->median_seconds * 1e6,
                candidate.measured->least_seconds * 1e6);
}

std::string commented(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += "# " + line + "\n";
  return result;
}

}  // namespace

std::string to_text(const Topology& topology, const WorldModel& model) {
  return to_text(topology) + "\n" + line_of("within a host", model.within_host) +
         line_of("between hosts", model.between_hosts) +
         format("%-14s %.3f GB/s\n", "additions", 1e-9 / model.reduce_seconds_per_byte);
}

std::string to_text(const Size& size, double margin) {
  std::string text;
  const auto winner = winner_of(size, margin);
  for (const Candidate& candidate : size.candidates) {
    const std::string name(to_string(candidate.algorithm));
    const bool is_default = candidate.algorithm == size.by_default;
    text += format("%9s  %-16s  predicted %10.1f us  measured %s us%s%s\n",
                   to_words(size.bytes).c_str(), name.c_str(), candidate.predicted_seconds * 1e6,
                   measured(candidate).c_str(), is_default ? "  default" : "",
                   candidate.algorithm == winner ? "  <-" : "");
  }
  return text + format("%9s  the default takes %.2f times as long as the fastest plan\n", "",
                       default_by_fastest(size));
}

std::string tuned_text(const TunedTable& table, const WorldModel& model,
                       const std::vector<Size>& sizes, double margin) {
  std::string text = to_text(table);
  text +=
      "\n# Written by rota-bench tune. Use it with rotarun --tuned FILE, or ROTA_TUNED=FILE.\n" +
      commented(to_text(table.topology, model));
  for (const Size& size : sizes) text += commented(to_text(size, margin));
  return text;
}

}  // namespace rota::bench

// The curves that TensorBoard shows of the event files in a folder, with each of its two loaders.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exports/read_events.h"

namespace rota::testing {

using Curve = std::vector<std::pair<std::int64_t, float>>;

inline std::vector<ReadEvent> events_in(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  std::vector<ReadEvent> events;
  for (const auto& file : files) {
    for (ReadEvent& event : read_events(file)) events.push_back(std::move(event));
  }
  return events;
}

inline void drop_from(Curve& points, std::int64_t step) {
  std::erase_if(points, [&](const auto& point) { return point.first >= step; });
}

// Returns the points with this tag that the loader in Python shows: it drops points of a file if a
// later file starts at their step or before.
inline Curve curve(const std::filesystem::path& folder, const std::string& tag) {
  Curve points;
  for (const ReadEvent& event : events_in(folder)) {
    if (event.is_start) {
      drop_from(points, event.step);
    } else if (event.tag == tag) {
      points.emplace_back(event.step, event.scalar);
    }
  }
  return points;
}

// Returns the points with this tag that the fast loader shows, which is the default: it knows no
// starts, and drops points if a point with their step or a smaller one comes after them.
inline Curve curve_of_fast_loader(const std::filesystem::path& folder, const std::string& tag) {
  Curve points;
  for (const ReadEvent& event : events_in(folder)) {
    if (event.tag != tag) continue;
    drop_from(points, event.step);
    points.emplace_back(event.step, event.scalar);
  }
  return points;
}

inline std::vector<std::int64_t> steps_of(const Curve& curve) {
  std::vector<std::int64_t> steps;
  for (const auto& [step, value] : curve) steps.push_back(step);
  return steps;
}

}  // namespace rota::testing

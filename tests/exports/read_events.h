// What an event file has, for tests. Reads it with protozero.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/records.h"

namespace rota::testing {

struct ReadEvent {
  std::int64_t step = 0;
  std::string version;
  bool is_start = false;
  std::string tag;
  float scalar = 0;
};

inline void read_summary(ReadEvent& event, protozero::pbf_reader summary) {
  while (summary.next(1)) {
    protozero::pbf_reader value = summary.get_message();
    while (value.next()) {
      if (value.tag() == 1) {
        event.tag = value.get_string();
      } else if (value.tag() == 2) {
        event.scalar = value.get_float();
      } else {
        value.skip();
      }
    }
  }
}

inline ReadEvent read_event(std::string_view bytes) {
  ReadEvent event;
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.tag() == 2) {
      event.step = message.get_int64();
    } else if (message.tag() == 3) {
      event.version = message.get_string();
    } else if (message.tag() == 5) {
      read_summary(event, message.get_message());
    } else if (message.tag() == 7) {
      protozero::pbf_reader log = message.get_message();
      event.is_start = log.next(1) && log.get_enum() == 1;
    } else {
      message.skip();
    }
  }
  return event;
}

inline std::vector<ReadEvent> read_events(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto all = std::as_bytes(std::span(bytes));
  std::vector<ReadEvent> events;
  for (std::uint64_t at = 0; at < all.size();) {
    const formats::Record record = formats::record_at(all, at);
    if (record.fault != formats::Record::Fault::kNone) {
      ADD_FAILURE() << formats::to_text(record, events.size(), at);
      break;
    }
    events.push_back(
        read_event({reinterpret_cast<const char*>(record.data.data()), record.data.size()}));
    at = record.end;
  }
  return events;
}

}  // namespace rota::testing

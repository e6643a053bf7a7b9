// What an event file has, for tests.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "exports/read_event.h"
#include "formats/records.h"

namespace rota::testing {

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

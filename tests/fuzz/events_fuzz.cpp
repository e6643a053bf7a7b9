// Fuzzes the tests' reader of event files, and lets it judge what rota writes. The first byte
// chooses whether the rest is the data of a record, or what an event has.
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include "exports/read_event.h"
#include "formats/events.h"
#include "formats/records.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;

void read_data(std::string_view data) {
  try {
    testing::read_event(data);
  } catch (const protozero::exception&) {
    return;  // The reader has refused the data.
  }
}

// The event has a scalar: its step, its value and its tag.
void write_and_read(std::string_view contents) {
  formats::Event event;
  formats::ScalarSummary scalar;
  constexpr std::size_t kNumberBytes = sizeof event.step + sizeof scalar.value;
  if (contents.size() < kNumberBytes) return;
  std::memcpy(&event.step, contents.data(), sizeof event.step);
  std::memcpy(&scalar.value, contents.data() + sizeof event.step, sizeof scalar.value);
  event.tag = contents.substr(kNumberBytes);
  event.content = scalar;
  std::string file;
  for (const std::string& data : formats::encode(event)) formats::append_record(file, data);
  const formats::Record record = formats::record_at(std::as_bytes(std::span(file)), 0);
  fuzz::require(record.fault == formats::Record::Fault::kNone && record.end == file.size(),
                "a scalar is one record");
  const testing::ReadEvent read =
      testing::read_event({reinterpret_cast<const char*>(record.data.data()), record.data.size()});
  fuzz::require(read.step == event.step && read.tag == event.tag,
                "a step and a tag are read as they were written");
  fuzz::require(
      std::bit_cast<std::uint32_t>(read.scalar) == std::bit_cast<std::uint32_t>(scalar.value),
      "a value is read with its bits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  if (count == 0) return 0;
  const std::string_view rest = fuzz::text_of(data, count).substr(1);
  if (data[0] == 'w') {
    write_and_read(rest);
  } else {
    read_data(rest);
  }
  return 0;
}

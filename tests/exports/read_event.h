// What a record of an event file says, for tests and for the fuzzer of this reader. Reads it with
// protozero, independently of the code that writes it: the numbers are those of event.proto and
// summary.proto. Fields of another wire type than expected are skipped, as unknown fields are.
#pragma once
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

namespace rota::testing {

struct ReadEvent {
  std::int64_t step = 0;
  std::string version;
  bool is_start = false;
  std::string graph;  // A GraphDef.
  std::string tag;
  float scalar = 0;
  double wall_time = 0;
};

inline bool is_field(const protozero::pbf_reader& message, protozero::pbf_tag_type number,
                     protozero::pbf_wire_type type) {
  return message.tag() == number && message.has_wire_type(type);
}

inline void read_summary(ReadEvent& event, protozero::pbf_reader summary) {
  using Type = protozero::pbf_wire_type;
  while (summary.next(1, Type::length_delimited)) {
    protozero::pbf_reader value = summary.get_message();
    while (value.next()) {
      if (is_field(value, 1, Type::length_delimited)) {
        event.tag = value.get_string();
      } else if (is_field(value, 2, Type::fixed32)) {
        event.scalar = value.get_float();
      } else {
        value.skip();
      }
    }
  }
}

// Throws protozero::exception if the bytes are no message.
inline ReadEvent read_event(std::string_view bytes) {
  using Type = protozero::pbf_wire_type;
  ReadEvent event;
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    if (is_field(message, 1, Type::fixed64)) {
      event.wall_time = message.get_double();
    } else if (is_field(message, 2, Type::varint)) {
      event.step = message.get_int64();
    } else if (is_field(message, 3, Type::length_delimited)) {
      event.version = message.get_string();
    } else if (is_field(message, 4, Type::length_delimited)) {
      event.graph = message.get_string();
    } else if (is_field(message, 5, Type::length_delimited)) {
      read_summary(event, message.get_message());
    } else if (is_field(message, 7, Type::length_delimited)) {
      protozero::pbf_reader log = message.get_message();
      event.is_start = log.next(1, Type::varint) && log.get_enum() == 1;
    } else {
      message.skip();
    }
  }
  return event;
}

}  // namespace rota::testing

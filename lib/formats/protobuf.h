// Names for protozero's writer of protocol buffers. A message is an object, which adds its fields
// to the bytes of the message around it. `Field` is an enum of the message's fields, whose values
// are the numbers in the .proto file.
#pragma once
#include <protozero/pbf_builder.hpp>

namespace rota::formats {

using FieldNumber = protozero::pbf_tag_type;

template <class Field>
using Message = protozero::pbf_builder<Field>;

}  // namespace rota::formats

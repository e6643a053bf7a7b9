// Follows the parser through the levels of a safetensors header.
#include "formats/header_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <rota/error.h>

#include "formats/tensor_types.h"

namespace rota::formats {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::size_t kMostShown = 64;

}  // namespace

std::string shown_name(std::string_view name) {
  using nlohmann::json;
  const json part = std::string(name.substr(0, kMostShown));
  return part.dump(-1, ' ', true, json::error_handler_t::replace) +
         (name.size() > kMostShown ? "…" : "");
}

void HeaderReader::refuse(const std::string& why) const {
  throw Error(ErrorCode::kBadData, file_ + ": " + why);
}

void HeaderReader::refuse_value(const char* found) const {
  if (places_.empty()) refuse("its header is " + std::string(found) + ", expected an object");
  switch (places_.back()) {
    case Place::kMetadata:
      refuse("its header has " + std::string(found) + " as the value of " + shown_name(key_) +
             " in the metadata, expected a string");
    case Place::kHeader:
      refuse("its header has " + std::string(found) + " as the value of " +
             shown_name(entry_.name) + ", expected an object");
    default:
      break;
  }
  const char* const expected = field_ == Field::kType    ? "dtype, expected a string"
                               : field_ == Field::kShape ? "shape, expected a list of counts"
                                                         : "data_offsets, expected two counts";
  refuse("tensor " + shown_name(entry_.name) + " has " + found + " in its " + expected);
}

void HeaderReader::open(Place place) {
  if (places_.size() >= kDeepestHeader) {
    refuse("its header is nested more than " + std::to_string(kDeepestHeader) + " levels deep");
  }
  places_.push_back(place);
}

bool HeaderReader::is_ignored() const noexcept {
  if (places_.empty()) return false;
  const Place place = places_.back();
  return place == Place::kIgnored || (place == Place::kEntry && field_ == Field::kUnknown);
}

bool HeaderReader::other_value(const char* found) {
  if (!is_ignored()) refuse_value(found);
  return true;
}

bool HeaderReader::null() { return other_value("null"); }
bool HeaderReader::boolean(bool) { return other_value("true or false"); }
bool HeaderReader::number_integer(number_integer_t) { return other_value("a negative number"); }
bool HeaderReader::number_float(number_float_t, const string_t&) {
  return other_value("a number that is not a count");
}
bool HeaderReader::binary(binary_t&) { return other_value("binary data"); }

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  const Place place = places_.empty() ? Place::kHeader : places_.back();
  if (place != Place::kShape && place != Place::kOffsets) return other_value("a number");
  if (value > std::numeric_limits<std::size_t>::max()) refuse_value("a number that is too large");
  (place == Place::kShape ? entry_.shape : offsets_).push_back(static_cast<std::size_t>(value));
  return true;
}

bool HeaderReader::string(string_t& value) {
  if (is_ignored()) return true;
  if (!places_.empty() && places_.back() == Place::kMetadata) {
    header_.metadata[key_] = std::move(value);
    return true;
  }
  if (places_.empty() || places_.back() != Place::kEntry || field_ != Field::kType) {
    refuse_value("a string");
  }
  const auto* const type = std::ranges::find(kTensorTypes, value, &TensorType::name);
  if (type == std::end(kTensorTypes)) {
    refuse("tensor " + shown_name(entry_.name) + " has the dtype " + shown_name(value) +
           ", which this version of rota does not know");
  }
  entry_.type_name = type->name;
  entry_.type = type->type;
  return true;
}

bool HeaderReader::start_object(std::size_t) {
  if (places_.empty()) {
    open(Place::kHeader);
  } else if (places_.back() == Place::kHeader) {
    open(entry_.name == kMetadataKey ? Place::kMetadata : Place::kEntry);
  } else {
    if (!is_ignored()) refuse_value("an object");
    open(Place::kIgnored);
  }
  return true;
}

bool HeaderReader::key(string_t& value) {
  switch (places_.back()) {
    case Place::kHeader:
      begin_entry(std::move(value));
      break;
    case Place::kMetadata:
      if (header_.metadata.contains(value)) {
        refuse("its header has " + shown_name(value) + " twice in the metadata");
      }
      key_ = std::move(value);
      break;
    case Place::kEntry:
      begin_field(value);
      break;
    default:
      break;
  }
  return true;
}

void HeaderReader::begin_entry(std::string name) {
  if (name == kMetadataKey && std::exchange(has_metadata_, true)) {
    refuse("its header has " + std::string(kMetadataKey) + " twice");
  }
  entry_ = {};
  entry_.name = std::move(name);
  offsets_.clear();
  seen_.clear();
}

void HeaderReader::begin_field(const std::string& name) {
  field_ = name == "dtype"          ? Field::kType
           : name == "shape"        ? Field::kShape
           : name == "data_offsets" ? Field::kOffsets
                                    : Field::kUnknown;
  if (field_ == Field::kUnknown) return;
  if (std::ranges::count(seen_, field_) > 0) {
    refuse("tensor " + shown_name(entry_.name) + " has " + name + " twice");
  }
  seen_.push_back(field_);
}

bool HeaderReader::end_object() {
  if (places_.back() == Place::kEntry) end_entry();
  places_.pop_back();
  return true;
}

void HeaderReader::end_entry() {
  for (const auto& [field, name] : {std::pair(Field::kType, "dtype"),
                                    {Field::kShape, "shape"},
                                    {Field::kOffsets, "data_offsets"}}) {
    if (std::ranges::count(seen_, field) == 0) {
      refuse("tensor " + shown_name(entry_.name) + " has no " + name);
    }
  }
  if (offsets_.size() != 2) {
    refuse("tensor " + shown_name(entry_.name) + " has " + std::to_string(offsets_.size()) +
           " numbers in its data_offsets, expected two");
  }
  entry_.begin = offsets_[0];
  entry_.end = offsets_[1];
  header_.tensors.push_back(std::move(entry_));
}

bool HeaderReader::start_array(std::size_t) {
  const bool is_of_entry = !places_.empty() && places_.back() == Place::kEntry;
  if (is_of_entry && field_ == Field::kShape) {
    open(Place::kShape);
  } else if (is_of_entry && field_ == Field::kOffsets) {
    open(Place::kOffsets);
  } else {
    if (!is_ignored()) refuse_value("a list");
    open(Place::kIgnored);
  }
  return true;
}

bool HeaderReader::end_array() {
  places_.pop_back();
  return true;
}

bool HeaderReader::parse_error(std::size_t position, const std::string&,
                               const nlohmann::detail::exception&) {
  refuse("its header is not JSON: byte " + std::to_string(position) + " of the header is wrong");
}

}  // namespace rota::formats

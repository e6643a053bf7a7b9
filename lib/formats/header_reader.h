// Reads the JSON of a safetensors header while it is parsed, so that a large header is never kept
// as a tree. Without this file, a header of 100 MB would take several times as much memory.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"

namespace rota::formats {

class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string file) : file_(std::move(file)) {}

  // Returns the header so far, in the order of the text.
  SafetensorsHeader take() { return std::move(header_); }

  // Each function throws Error kBadData if the header must not have what the parser has found.
  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override;
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& text) override;
  bool string(string_t& value) override;
  bool binary(binary_t& value) override;
  bool start_object(std::size_t count) override;
  bool key(string_t& value) override;
  bool end_object() override;
  bool start_array(std::size_t count) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override;

 private:
  enum class Place { kHeader, kMetadata, kEntry, kShape, kOffsets, kIgnored };
  enum class Field { kType, kShape, kOffsets, kUnknown };

  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_value(const char* found) const;
  void open(Place place);
  // Called for a value that is neither a string, a count, an object nor an array.
  bool other_value(const char* found);
  bool is_ignored() const noexcept;
  void begin_entry(std::string name);
  void begin_field(const std::string& name);
  void end_entry();

  std::string file_;
  SafetensorsHeader header_;
  bool has_metadata_ = false;
  std::vector<Place> places_;  // The objects and arrays that are open.
  std::string key_;            // The last key of the metadata.
  TensorEntry entry_;
  Field field_ = Field::kUnknown;
  std::vector<Field> seen_;  // The fields of entry_ that rota knows.
  std::vector<std::size_t> offsets_;
};

}  // namespace rota::formats

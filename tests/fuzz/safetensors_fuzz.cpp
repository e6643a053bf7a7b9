// Fuzzes the header of safetensors files: any file. A header that is accepted must describe the
// file from its first byte to its last, and must survive being written.
#include "formats/safetensors.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;

void check(const formats::ParsedHeader& parsed, std::size_t file_bytes) {
  std::size_t end = 0;
  for (const formats::TensorEntry& tensor : parsed.header.tensors) {
    fuzz::require(tensor.begin == end && tensor.end >= tensor.begin, "tensors have no holes");
    end = tensor.end;
    const auto count = formats::element_count(tensor.shape);
    fuzz::require(count.has_value(), "the elements can be counted");
    const bool is_of_rota = tensor.type != DataType::kByte;
    fuzz::require(!is_of_rota || *count * bytes_of(tensor.type) == tensor.end - tensor.begin,
                  "a tensor has the bytes of its shape");
  }
  fuzz::require(parsed.data_begin + end == file_bytes, "the file has nothing else");
}

// lay_out() may change the order of the tensors. The header that is then written must be read back
// unchanged.
void check_writing(formats::SafetensorsHeader header) {
  for (formats::TensorEntry& tensor : header.tensors) {
    if (tensor.type == DataType::kByte) return;  // Cannot be written.
  }
  formats::lay_out(header);
  const std::string text = formats::encode_header(header);
  const auto bytes = std::as_bytes(std::span(text));
  const auto again = formats::parse_header(bytes, text.size() + header.data_bytes(), "again");
  fuzz::require(again.header == header, "a header is read as it was written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  const auto bytes = std::as_bytes(std::span(data, count));
  try {
    const formats::ParsedHeader parsed = formats::parse_header(bytes, count, "file");
    check(parsed, count);
    check_writing(parsed.header);
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::kBadData, "a refusal says that the data is bad");
    const std::string_view text = error.what();
    fuzz::require(
        text.find_first_of(std::string_view("\n\0", 2)) == text.npos && text.size() < 1000,
        "a refusal is one line");
  }
  return 0;
}

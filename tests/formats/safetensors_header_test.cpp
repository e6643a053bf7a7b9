// The header of a safetensors file: what is written is read back, and bad headers are refused with
// a sentence that says which tensor is wrong and how. Method: each bad header differs from a good
// one in one place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/error.h>

#include <limits>

#include "formats/safetensors.h"

namespace rota::formats {
namespace {

using ::testing::HasSubstr;

TensorEntry tensor(std::string name, DataType type, std::vector<std::size_t> shape) {
  TensorEntry entry;
  entry.name = std::move(name);
  entry.type = type;
  entry.shape = std::move(shape);
  return entry;
}

SafetensorsHeader every_type() {
  SafetensorsHeader header;
  header.metadata = {{"format", "rota"}, {"ß \"quoted\"\n", "\u4e16"}};
  header.tensors = {
      tensor("half", DataType::kFloat16, {3}),      tensor("brain", DataType::kBfloat16, {1, 3}),
      tensor("single", DataType::kFloat32, {2, 2}), tensor("double", DataType::kFloat64, {}),
      tensor("small", DataType::kInt8, {5}),        tensor("octet", DataType::kUint8, {0, 7}),
      tensor("whole", DataType::kInt32, {1}),       tensor("", DataType::kInt64, {2})};
  lay_out(header);
  return header;
}

ParsedHeader parsed(const std::string& text, std::uint64_t file_bytes) {
  return parse_header(std::as_bytes(std::span(text)), file_bytes, "file");
}

std::string with_length(const std::string& json) {
  std::string text;
  const std::uint64_t length = json.size();
  for (int i = 0; i < 8; ++i) text += static_cast<char>((length >> (8 * i)) & 0xff);
  return text + json;
}

// Returns what parse_header() says about a file with this header, and with `data_bytes` bytes after
// it.
std::string verdict(const std::string& json, std::size_t data_bytes) {
  const std::string text = with_length(json);
  try {
    parsed(text, text.size() + data_bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    return error.what();
  }
  return "accepted";
}

std::string encoding_verdict(SafetensorsHeader header) {
  try {
    lay_out(header);
    encode_header(header);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(SafetensorsHeader, IsReadAsItWasWritten) {
  const SafetensorsHeader header = every_type();
  const std::string text = encode_header(header);
  EXPECT_EQ(text.size() % kDataAlignment, 0U);
  const ParsedHeader read = parsed(text, text.size() + header.data_bytes());
  EXPECT_EQ(read.data_begin, text.size());
  EXPECT_EQ(read.header, header);
}

TEST(SafetensorsHeader, WithoutTensorsIsAWholeFile) {
  const std::string text = encode_header({});
  EXPECT_EQ(parsed(text, text.size()).header, SafetensorsHeader{});
  EXPECT_EQ(verdict("{}", 0), "accepted");
}

TEST(SafetensorsHeader, PlacesEachTensorAtAMultipleOfItsElements) {
  const SafetensorsHeader header = every_type();
  std::size_t end = 0;
  for (const TensorEntry& entry : header.tensors) {
    EXPECT_EQ(entry.begin, end);
    EXPECT_EQ(entry.begin % bytes_of(entry.type), 0U) << entry.name;
    EXPECT_EQ(entry.end - entry.begin, *element_count(entry.shape) * bytes_of(entry.type));
    end = entry.end;
  }
}

TEST(SafetensorsHeader, GivesTypesThatRotaLacksAsBytes) {
  const std::string json = R"({"b":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
                           R"("u":{"dtype":"U16","shape":[2],"data_offsets":[3,7]},)"
                           R"("f":{"dtype":"F4","shape":[2,3],"data_offsets":[7,10]}})";
  const std::string text = with_length(json);
  const auto tensors = parsed(text, text.size() + 10).header.tensors;
  ASSERT_EQ(tensors.size(), 3U);
  for (const TensorEntry& entry : tensors) EXPECT_EQ(entry.type, DataType::kByte);
  EXPECT_EQ(tensors[2].type_name, "F4");
}

TEST(SafetensorsHeader, IgnoresFieldsThatItDoesNotKnow) {
  EXPECT_EQ(verdict(R"({"a":{"dtype":"U8","x":[1.5,-1,{"y":null}],"shape":[],"data_offsets":[0,1],)"
                    R"("z":true}}  )",
                    1),
            "accepted");
}

struct Refused {
  const char* json;
  const char* why;  // A part of the message.
};

// A 32-bit program refuses larger numbers than it can hold before it compares them.
constexpr bool kHas64Bits = sizeof(std::size_t) == 8;
constexpr const char* kShapeTooLarge = kHas64Bits ? "has a shape whose bytes cannot be counted"
                                                  : "has a number that is too large in its shape";

// The good header that the bad ones differ from has 12 bytes of data.
constexpr Refused kRefused[] = {
    {R"([])", "is not JSON that begins with '{'"},
    {R"( {})", "is not JSON that begins with '{'"},
    {"\xef\xbb\xbf{}", "is not JSON that begins with '{'"},
    {"", "is not JSON that begins with '{'"},
    {R"({"a":)", "is not JSON: byte 6 of the header is wrong"},
    {R"({} {})", "is not JSON: byte 4 of the header is wrong"},
    {"{\"\xff\":1}", "is not JSON: byte 3"},
    {R"({"a":1})", R"(a number as the value of "a", expected an object)"},
    {R"({"a":[]})", R"(a list as the value of "a", expected an object)"},
    {R"({"a":"F32"})", R"(a string as the value of "a", expected an object)"},
    {R"({"a":{}})", R"(tensor "a" has no dtype)"},
    {R"({"a":{"dtype":"F32","data_offsets":[0,12]}})", R"(tensor "a" has no shape)"},
    {R"({"a":{"dtype":"F32","shape":[3]}})", R"(tensor "a" has no data_offsets)"},
    {R"({"a":{"dtype":"F33","shape":[3],"data_offsets":[0,12]}})", R"(the dtype "F33", which)"},
    {R"({"a":{"dtype":{"F32":null},"shape":[3],"data_offsets":[0,12]}})",
     "has an object in its dtype, expected a string"},
    {R"({"a":{"dtype":"F32","shape":3,"data_offsets":[0,12]}})", "has a number in its shape"},
    {R"({"a":{"dtype":"F32","shape":[-3],"data_offsets":[0,12]}})",
     "has a negative number in its shape, expected a list of counts"},
    {R"({"a":{"dtype":"F32","shape":[3.0],"data_offsets":[0,12]}})",
     "has a number that is not a count in its shape"},
    {R"({"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,12]}})",
     "has a number that is not a count in its shape"},
    {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12,12]}})",
     "has 3 numbers in its data_offsets, expected two"},
    {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,"12"]}})",
     "has a string in its data_offsets, expected two counts"},
    {R"({"a":{"dtype":"F32","shape":[3],"dtype":"F32","data_offsets":[0,12]}})", "dtype twice"},
    {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
     R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})",
     R"(tensor "a" twice)"},
    {R"({"__metadata__":{"k":1}})",
     R"(a number as the value of "k" in the metadata, expected a string)"},
    {R"({"__metadata__":null})", R"(null as the value of "__metadata__", expected an object)"},
    {R"({"__metadata__":{"k":"1","k":"2"}})", R"("k" twice in the metadata)"},
    {R"({"__metadata__":{},"__metadata__":{}})", "__metadata__ twice"},
    {R"({"a":{"x":[[[[[[[[]]]]]]]]}})", "nested more than 8 levels deep"},
    {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[4,16]}})",
     R"(tensor "a" begins at byte 4 of the data, expected 0)"},
    {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
     R"(tensor "b" begins at byte 8 of the data, expected 4)"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
     R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
     R"(tensor "b" begins at byte 4 of the data, expected 8)"},
    {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615]}})",
     kHas64Bits ? R"(tensor "a" has 18446744073709551615 bytes, but its shape needs 4)"
                : R"(tensor "a" has a number that is too large in its data_offsets)"},
    {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
     R"(tensor "a" has 8 bytes, but its shape needs 12)"},
    {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}})",
     kShapeTooLarge},
    {R"({"a":{"dtype":"F32","shape":[2305843009213693952],"data_offsets":[0,0]}})", kShapeTooLarge},
    {R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})",
     "has a shape whose bytes cannot be counted"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
     "has 12 bytes of tensors, but its header announces 8"},
    {R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})",
     "has 12 bytes of tensors, but its header announces 16"},
};

TEST(SafetensorsHeader, IsRefusedForEachWayToBeWrong) {
  const char* const good = R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})";
  ASSERT_EQ(verdict(good, 12), "accepted");
  for (const Refused& refused : kRefused) {
    const std::string said = verdict(refused.json, 12);
    EXPECT_THAT(said, HasSubstr(refused.why)) << refused.json;
    EXPECT_THAT(said, ::testing::StartsWith("file: ")) << refused.json;
  }
}

TEST(SafetensorsHeader, IsRefusedWithAZeroByteAfterIt) {
  EXPECT_THAT(verdict(std::string("{}\0 ", 4), 0), HasSubstr("is not JSON that begins with '{'"));
}

TEST(SafetensorsHeader, IsRefusedIfTheTensorBeforeEndsBeforeItBegins) {
  EXPECT_THAT(verdict(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                      R"("b":{"dtype":"F32","shape":[3],"data_offsets":[12,0]}})",
                      12),
              HasSubstr(R"(tensor "b" ends at byte 0 of the data, before its begin at 12)"));
}

TEST(SafetensorsHeader, IsRefusedIfTheFileIsTooShortForIt) {
  const std::string text = with_length("{}");
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_THROW(parsed(text.substr(0, bytes), bytes), Error) << bytes;
  }
  EXPECT_NO_THROW(parsed(text, text.size()));
}

// The length is checked before anything is read or allocated: the bytes after it do not exist.
TEST(SafetensorsHeader, IsRefusedIfItsLengthIsTooLarge) {
  const auto refusal = [](std::uint64_t length) {
    std::string text;
    for (int i = 0; i < 8; ++i) text += static_cast<char>((length >> (8 * i)) & 0xff);
    try {
      parsed(text, ~std::uint64_t{0});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refusal(kMaxHeaderBytes + 1), HasSubstr("expected 100000000 at most"));
  EXPECT_THAT(refusal(~std::uint64_t{0}), HasSubstr("expected 100000000 at most"));
}

TEST(SafetensorsHeader, ShowsANameOnOneShortLine) {
  const std::string name = "a\\n" + std::string(100, 'x');
  const std::string said = verdict("{\"" + name + "\":1}", 0);
  EXPECT_EQ(said.find('\n'), std::string::npos);
  EXPECT_THAT(said, HasSubstr("xxx\"…"));
  EXPECT_LT(said.size(), 160U);
}

TEST(SafetensorsHeader, IsNotWrittenWithANameThatNobodyCouldRead) {
  const auto of_name = [](const std::string& name) {
    SafetensorsHeader header;
    header.tensors = {tensor(name, DataType::kFloat32, {1}), tensor("b", DataType::kFloat32, {1})};
    return encoding_verdict(std::move(header));
  };
  EXPECT_EQ(of_name("a"), "accepted");
  EXPECT_THAT(of_name("\xff"), HasSubstr("is not UTF-8"));
  EXPECT_THAT(of_name("b"), HasSubstr("two tensors have the name \"b\""));
  EXPECT_THAT(of_name("__metadata__"), HasSubstr("no tensor may have the name"));
}

TEST(SafetensorsHeader, IsNotWrittenForBytesOrForMoreThanCanBeCounted) {
  constexpr std::size_t kHalf = std::numeric_limits<std::size_t>::max() / 2;
  SafetensorsHeader header;
  header.tensors = {tensor("raw", DataType::kByte, {1})};
  EXPECT_THAT(encoding_verdict(header), HasSubstr("tensor \"raw\" has elements of type byte"));
  header.tensors = {tensor("a", DataType::kFloat32, {kHalf, kHalf})};
  EXPECT_THAT(encoding_verdict(header), HasSubstr("is too large to be counted"));
}

TEST(SafetensorsHeader, NamesEveryTypeButByte) {
  EXPECT_EQ(type_name_of(DataType::kByte), "");
  for (int type = 1; type <= static_cast<int>(DataType::kInt64); ++type) {
    EXPECT_NE(type_name_of(static_cast<DataType>(type)), "") << type;
  }
}

}  // namespace
}  // namespace rota::formats

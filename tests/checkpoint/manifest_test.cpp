// A manifest comes back as it was written, and a damaged or malicious one is refused in words that
// name the place.
#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <rota/error.h>

#include "checkpoint/sample_manifest.h"
#include "testing/error_of.h"

namespace rota::checkpoint {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// Returns what parse_manifest() says about `text`, without the name at the beginning.
std::string refusal_of(const std::string& text) {
  const auto error = error_of([&] { parse_manifest("x/manifest.json", text); });
  if (!error) return "accepted";
  EXPECT_EQ(error->code(), ErrorCode::kBadData);
  const std::string what = error->what();
  EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  EXPECT_TRUE(what.starts_with("x/manifest.json: ")) << what;
  return what.substr(std::string("x/manifest.json: ").size());
}

// Returns the text of the sample without its sum, with the first `from` replaced by `to`.
std::string body_with(const std::string& from = "", const std::string& to = "") {
  std::string text = encode(sample_manifest());
  text.resize(text.size() - seal("").size());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal_with(const std::string& from, const std::string& to) {
  return refusal_of(seal(body_with(from, to)));
}

TEST(Manifest, ComesBackAsItWasWritten) {
  EXPECT_EQ(parse_manifest("x", encode(sample_manifest())), sample_manifest());
  EXPECT_EQ(parse_manifest("x", encode(Manifest{})), Manifest{});
}

// The docs and people's programs rely on this text.
TEST(Manifest, HasOneLineForEachEntry) {
  Manifest manifest;
  manifest.step = 7;
  manifest.ranks = manifest.stateful_ranks = {0};
  manifest.facts = {{"seed", "17"}};
  manifest.counters = {{"optimizer/step", 7}};
  manifest.tensors = {{"model/w", DataType::kFloat32, {2, 3}}};
  manifest.files = {{"parameters-00000-of-00001.safetensors", 9, {0xab}}};
  EXPECT_EQ(encode(manifest), R"({
"format": 1,
"run": "00000000000000000000000000000000",
"start": 1,
"view": 1,
"world_size": 1,
"step": 7,
"ranks": [0],
"stateful_ranks": [0],
"facts": [
{"name":"seed","text":"17"}],
"counters": [
{"name":"optimizer/step","value":7}],
"tensors": [
{"name":"model/w","shape":[2,3],"type":"float32"}],
"files": [
{"bytes":9,"crc32c":["000000ab"],"name":"parameters-00000-of-00001.safetensors"}],
"crc32c": "abcb5d69"}
)");
}

TEST(Manifest, IsRefusedIfOneBitIsFlipped) {
  std::string text = encode(sample_manifest());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
      EXPECT_THAT(refusal_of(text), HasSubstr("damaged or cut off")) << "byte " << i;
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
    }
  }
}

TEST(Manifest, IsRefusedIfItIsCutOffOrLonger) {
  const std::string text = encode(sample_manifest());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(refusal_of(text.substr(0, length)), HasSubstr("damaged or cut off"));
  }
  EXPECT_THAT(refusal_of(text + "\n"), HasSubstr("damaged or cut off"));
  EXPECT_THAT(refusal_of(text + text), HasSubstr("damaged or cut off"));
}

TEST(Manifest, ShowsBothSums) {
  std::string text = encode(sample_manifest());
  const std::string sum = text.substr(text.size() - 11, 8);
  text.replace(text.size() - 11, 8, "00000000");
  EXPECT_THAT(refusal_of(text), HasSubstr("bytes is " + sum + ", but"));
  EXPECT_THAT(refusal_of(text), HasSubstr("the sum at its end is \"00000000\""));
}

TEST(Manifest, OfALaterFormatIsNotCalledDamaged) {
  EXPECT_EQ(refusal_with("\"format\": 1", "\"format\": 2"),
            "was written by a newer rota, in format 2, and this rota reads formats up to 1: use "
            "the newer rota");
  EXPECT_THAT(refusal_of(seal("{\"format\": 3, \"new\": [],\n")), HasSubstr("newer rota"));
}

TEST(Manifest, IsRefusedIfItIsNotJson) {
  EXPECT_THAT(refusal_of(seal("{")), HasSubstr("no format"));
  EXPECT_THAT(refusal_of(seal("[")), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal_of(seal("{\"a\": \"\xff\",\n")), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal_of(seal("{\"format\": 1e999,\n")), HasSubstr("is not JSON"));
}

TEST(Manifest, IsRefusedIfItIsNestedDeeply) {
  const std::string deep(10'000, '[');
  EXPECT_THAT(refusal_of(seal("{\"format\": " + deep)), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal_with("\"facts\": [", "\"facts\": [" + deep), HasSubstr("nested too deeply"));
}

TEST(Manifest, IsRefusedIfItIsHuge) {
  EXPECT_THAT(refusal_of(std::string(kMaxManifestBytes + 1, ' ')), HasSubstr("more than a manif"));
  Manifest large;
  large.facts = {{"text", std::string(kMaxManifestBytes, 'x')}};
  const auto error = error_of([&] { encode(large); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
}

TEST(Manifest, CannotHaveNamesThatAreNotText) {
  Manifest manifest;
  manifest.facts = {{"name", "\xff"}};
  const auto error = error_of([&] { encode(manifest); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
}

struct Spoilt {
  const char* from;
  const char* to;
  const char* words;  // What the refusal says.
};

TEST(Manifest, NamesTheMemberThatIsWrong) {
  constexpr Spoilt kSpoilt[] = {
      {"\"step\": 12000", "\"step\": -1", "step is -1: a whole number from 0 on is needed"},
      {"\"step\": 12000", "\"step\": 1.5", "step is 1.5"},
      {"\"step\": 12000", "\"step\": \"1\"", "step is \"1\""},
      {"\"step\": 12000", "\"step\": 18446744073709551616", "step is 1.8446744073709552e+19"},
      {"\"step\": 12000", "\"stop\": 12000", "the manifest has no step"},
      {"\"step\": 12000", "\"step\": 1, \"step\": 2", "has the member \"step\" twice"},
      {"\"step\": 12000", "\"step\": 1, \"more\": 2", "a member that its format does not have"},
      {"\"start\": 3", "\"start\": 0", "start is 0: a whole number from 1 on"},
      {"\"world_size\": 4", "\"world_size\": 0", "world_size is 0"},
      {"\"world_size\": 4", "\"world_size\": 9223372036854775808", "the most is 1048576"},
      {"\"world_size\": 4", "\"world_size\": 3", "ranks has rank 3 of 3 ranks"},
      {"[0,1,2,3]", "[0,1,2]", "stateful_ranks lacks a rank of ranks"},
      {"[0,2,3]", "[0,2,2]", "a rank of ranks is 2: a whole number from 3 on"},
      {"[0,2,3]", "{}", "ranks is not a list"},
      {"0123456789abcdef0011", "0123456789ABCDEF0011", "run is \"0123456789ABCDEF001122"},
      {"\"text\":\"17\"", "\"text\":17", "facts[0]: text is not a text"},
      {"\"name\":\"model\",", "\"name\":\"seed\",", "facts has the name \"seed\" twice"},
      {"{\"name\":\"seed\",\"text\":\"17\"}", "7", "facts[0] is not a JSON object"},
      {"\"name\":\"largest\"", "\"name\":\"step\"", "counters has the name \"step\" twice"},
      {"[784,10]", "[784,-10]", "tensors[0]: a side of its shape is -10"},
      {"[784,10]", "[9223372036854775808]", "has more bytes than can be counted"},
      {"[784,10]", "7", "tensors[0]: shape is not a list"},
      {"\"float32\"", "\"float8\"", "tensors[0]: \"float8\" is no type"},
      {"model/scalar", "feedback", "tensors has the name \"feedback\" twice"},
      {"rank-00002", "../00002", "\"../00002-of-00004.safetensors\" is not the name of a file"},
      {"rank-00002", "rank-00004", "is not the name of a file"},
      {"rank-00002", "rank-2", "is not the name of a file"},
      {"rank-00002", "rank-\\n0002", "files[1]: \"rank-\\n0002-of-00004.safetensors\" is not"},
      {"rank-00002", "parameters-00000", "files has the name \"parameters-00000-of-00004.safet"},
      {"\"bytes\":1,", "\"bytes\":0,", "files[1]: bytes is 0: a whole number from 1 on"},
      {"\"bytes\":1,", "\"bytes\":9223372036854775808,", "but 1 sums, and not one for each MiB"},
      {"\"bytes\":1,", "\"bytes\":1048577,", "has 1048577 bytes, but 1 sums"},
      {"\"00000000\"", "\"0000000g\"", "files[1]: crc32c has \"0000000g\": 8 hexadecimal"},
      {"\"00000000\"", "0", "files[1]: crc32c has 0: 8 hexadecimal"},
  };
  for (const auto& [from, to, words] : kSpoilt) {
    EXPECT_THAT(refusal_with(from, to), HasSubstr(words)) << "from " << from << " to " << to;
  }
}

}  // namespace
}  // namespace rota::checkpoint

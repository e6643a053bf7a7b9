// Bytes that are no dispatch, or nothing of what dispatches hold, decode to nothing; or they are
// one after all, and then a well-formed one.
// Method: for each encoding an example, which is cut, lengthened and damaged, and bytes by chance.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "launcher/hosts/wire/dispatch.h"
#include "launcher/ranks/news.h"

namespace rota::launcher {
namespace {

using Recoded = std::optional<std::string>;

struct Encoding {
  std::string name;
  std::string example;
  std::function<Recoded(const std::string& bytes)> recode;  // Decoded, and encoded again.
};

std::string as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Decode>
auto recoding(Decode decode) {
  return [decode](const std::string& bytes) {
    const auto decoded = decode(bytes);
    return decoded ? Recoded(encode(*decoded)) : std::nullopt;
  };
}

std::vector<Encoding> all_encodings() {
  const Dispatch dispatch{
      .type = DispatchType::kNews, .rank = 3, .value = -1, .text = std::string("ab\0c", 4)};
  const Hello hello{.version = "1.2.3",
                    .host = "b",
                    .cluster = "2 hosts",
                    .slot_count = 4,
                    .obstacle_code = 127,
                    .obstacle = "no train"};
  const Share share{.world = 2,
                    .ranks = {1, 3},
                    .groups = {0, 1},
                    .world_size = 4,
                    .host_index = 1,
                    .host_count = 2};
  const Seats seats{.addresses = {"10.0.0.1:7701", "10.0.0.1:7702"},
                    .cores = {"0-3", ""},
                    .devices = {"0", ""},
                    .may_spin = true,
                    .free = {.address = "10.0.0.1", .ports = {7703, 7704}}};
  const Beginning beginning{.salt = "salt",
                            .table = "table",
                            .peers = {.first = Endpoint{"10.0.0.1", 7703}, .list = "[]"}};
  const News news{.kind = News::Kind::kRankExited,
                  .world = 2,
                  .rank = 3,
                  .value = 1,
                  .text = "why",
                  .last_words = {"last", ""}};
  return {
      {"Dispatch", as_text(encode(dispatch)),
       [](const std::string& bytes) {
         const auto decoded = decode_dispatch(std::as_bytes(std::span(bytes)));
         return decoded ? Recoded(as_text(encode(*decoded))) : std::nullopt;
       }},
      {"HostTexts", encode(std::vector<HostText>{{1, "one"}, {300, ""}}),
       recoding(decode_host_texts)},
      {"Hello", encode(hello), recoding(decode_hello)},
      {"Share", encode(share), recoding(decode_share)},
      {"Seats", encode(seats), recoding(decode_seats)},
      {"Beginning", encode(beginning), recoding(decode_beginning)},
      {"News", encode(news),
       recoding([](const std::string& bytes) { return decode_news(bytes, 4); })},
  };
}

class BadDispatch : public ::testing::TestWithParam<Encoding> {
 protected:
  // What was decoded is something that can be said, and that is understood as it was meant.
  static void expect_nothing_or_well_formed(const std::string& bytes) {
    const Recoded recoded = GetParam().recode(bytes);
    if (!recoded) return;
    EXPECT_EQ(GetParam().recode(*recoded), recoded);
  }
};

TEST_P(BadDispatch, IsNotTheExample) {
  EXPECT_EQ(GetParam().recode(GetParam().example), GetParam().example);
}

TEST_P(BadDispatch, IsWhatWasCutOff) {
  const std::string& example = GetParam().example;
  for (std::size_t bytes = 0; bytes < example.size(); ++bytes) {
    EXPECT_EQ(GetParam().recode(example.substr(0, bytes)), std::nullopt) << bytes;
  }
}

TEST_P(BadDispatch, IsWhatHasMoreBehindIt) {
  EXPECT_EQ(GetParam().recode(GetParam().example + '\0'), std::nullopt);
  EXPECT_EQ(GetParam().recode(GetParam().example + GetParam().example), std::nullopt);
}

TEST_P(BadDispatch, MayHaveAnyByteWhereAnotherOneWas) {
  for (std::size_t position = 0; position < GetParam().example.size(); ++position) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = GetParam().example;
      damaged[position] = static_cast<char>(byte);
      expect_nothing_or_well_formed(damaged);
    }
  }
}

// As a length or a count it is more than there is memory for.
TEST_P(BadDispatch, MayHaveHugeNumbersAnywhere) {
  const std::string& example = GetParam().example;
  for (std::size_t position = 0; position + 4 <= example.size(); ++position) {
    for (const std::string huge : {"\xff\xff\xff\xff", "\xff\xff\xff\x7f"}) {
      expect_nothing_or_well_formed(std::string(example).replace(position, 4, huge));
    }
  }
}

TEST_P(BadDispatch, MayBeAnyBytes) {
  std::mt19937 random(20240607);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) {
      // Zeros and small numbers make lengths and counts that could be meant.
      const bool is_small = random() % 2 == 0;
      byte = static_cast<char>(random() % (is_small ? 5 : 256));
    }
    expect_nothing_or_well_formed(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadDispatch, ::testing::ValuesIn(all_encodings()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rota::launcher

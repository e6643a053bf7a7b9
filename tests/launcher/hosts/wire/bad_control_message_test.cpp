// Damaged bytes decode to nothing, or to a well-formed control message. Method: each encoding has
// one example, which the tests cut, lengthen and damage. Then they try random bytes.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "launcher/hosts/wire/control_message.h"
#include "launcher/mpi/fence.h"
#include "launcher/ranks/job_event.h"

namespace rota::launcher {
namespace {

using Recoded = std::optional<std::string>;

struct Encoding {
  std::string name;
  std::string example;
  std::function<Recoded(const std::string& bytes)> recode;  // Decodes, and encodes again.
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
  const ControlMessage message{
      .type = ControlMessageType::kEvent, .rank = 3, .value = -1, .text = std::string("ab\0c", 4)};
  const Hello hello{.version = "1.2.3",
                    .host = "b",
                    .cluster = "2 hosts",
                    .slot_count = 4,
                    .obstacle_code = 127,
                    .obstacle = "no train"};
  const HostAssignment assignment{.world = 2,
                                  .ranks = {1, 3},
                                  .groups = {0, 1},
                                  .world_size = 4,
                                  .host_index = 1,
                                  .host_count = 2};
  const HostEndpoints endpoints{.addresses = {"10.0.0.1:7701", "10.0.0.1:7702"},
                                .cores = {"0-3", ""},
                                .devices = {"0", ""},
                                .may_spin = true,
                                .free = {.address = "10.0.0.1", .ports = {7703, 7704}}};
  const StartInfo start_info{.salt = "salt",
                             .table = "table",
                             .peers = {.first = Endpoint{"10.0.0.1", 7703}, .list = "[]"},
                             .mpi = {.kind = MpiKind::kPmi, .world = {{0, 0}, {1, 1}}}};
  const FenceShare share{.key = "1", .members = {0, 1}, .arrived = {1}, .data = "data"};
  const FenceResult result{.key = "1", .data = "data"};
  const JobEvent event{.kind = JobEvent::Kind::kRankExited,
                       .world = 2,
                       .rank = 3,
                       .value = 1,
                       .text = "why",
                       .last_words = {"last", ""}};
  return {
      {"ControlMessage", as_text(encode(message)),
       [](const std::string& bytes) {
         const auto decoded = decode_control_message(std::as_bytes(std::span(bytes)));
         return decoded ? Recoded(as_text(encode(*decoded))) : std::nullopt;
       }},
      {"HostTexts", encode(std::vector<HostText>{{1, "one"}, {300, ""}}),
       recoding(decode_host_texts)},
      {"Hello", encode(hello), recoding(decode_hello)},
      {"HostAssignment", encode(assignment), recoding(decode_assignment)},
      {"HostEndpoints", encode(endpoints), recoding(decode_endpoints)},
      {"StartInfo", encode(start_info), recoding(decode_start_info)},
      {"FenceShare", encode(share), recoding(decode_fence_share)},
      {"FenceResult", encode(result), recoding(decode_fence_result)},
      {"JobEvent", encode(event),
       recoding([](const std::string& bytes) { return decode_job_event(bytes, 4); })},
  };
}

class BadControlMessage : public ::testing::TestWithParam<Encoding> {
 protected:
  // Expects that, if the bytes decode, the result can be encoded, and decodes to the same.
  static void expect_nothing_or_well_formed(const std::string& bytes) {
    const Recoded recoded = GetParam().recode(bytes);
    if (!recoded) return;
    EXPECT_EQ(GetParam().recode(*recoded), recoded);
  }
};

TEST_P(BadControlMessage, IsNotTheExample) {
  EXPECT_EQ(GetParam().recode(GetParam().example), GetParam().example);
}

TEST_P(BadControlMessage, IsWhatWasCutOff) {
  const std::string& example = GetParam().example;
  for (std::size_t bytes = 0; bytes < example.size(); ++bytes) {
    EXPECT_EQ(GetParam().recode(example.substr(0, bytes)), std::nullopt) << bytes;
  }
}

TEST_P(BadControlMessage, IsWhatHasMoreBehindIt) {
  EXPECT_EQ(GetParam().recode(GetParam().example + '\0'), std::nullopt);
  EXPECT_EQ(GetParam().recode(GetParam().example + GetParam().example), std::nullopt);
}

TEST_P(BadControlMessage, MayHaveAnyByteWhereAnotherOneWas) {
  for (std::size_t position = 0; position < GetParam().example.size(); ++position) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = GetParam().example;
      damaged[position] = static_cast<char>(byte);
      expect_nothing_or_well_formed(damaged);
    }
  }
}

// A decoder that used a huge number as a length or a count would need more memory than exists.
TEST_P(BadControlMessage, MayHaveHugeNumbersAnywhere) {
  const std::string& example = GetParam().example;
  for (std::size_t position = 0; position + 4 <= example.size(); ++position) {
    for (const std::string huge : {"\xff\xff\xff\xff", "\xff\xff\xff\x7f"}) {
      expect_nothing_or_well_formed(std::string(example).replace(position, 4, huge));
    }
  }
}

TEST_P(BadControlMessage, MayBeAnyBytes) {
  std::mt19937 random(20240607);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) {
      // Zeros and small numbers make plausible lengths and counts.
      const bool is_small = random() % 2 == 0;
      byte = static_cast<char>(random() % (is_small ? 5 : 256));
    }
    expect_nothing_or_well_formed(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadControlMessage, ::testing::ValuesIn(all_encodings()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rota::launcher

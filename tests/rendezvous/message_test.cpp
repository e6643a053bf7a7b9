// Messages survive the wire, and no damaged message is accepted.
#include "rendezvous/message.h"

#include <gtest/gtest.h>

namespace rota::rendezvous {
namespace {

Message full_message() {
  return {.type = MessageType::kReply,
          .id = 0xdeadbeef,
          .error = ErrorCode::kTimeout,
          .blamed = 3,
          .timeout = std::chrono::nanoseconds(123456789012345),
          .step = 0x123456789abcdef0,
          .key = std::string("k\0y", 3),
          .text = "why it failed"};
}

TEST(Message, SurvivesTheWire) {
  EXPECT_EQ(decode(encode(full_message())), full_message());
  EXPECT_EQ(decode(encode(Message{})), Message{});
}

TEST(Message, IsRefusedWhenCutShortAnywhereOrTooLong) {
  auto bytes = encode(full_message());
  for (std::size_t count = 0; count < bytes.size(); ++count) {
    EXPECT_FALSE(decode(std::span(bytes).first(count))) << count << " bytes";
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes));
}

TEST(Message, IsRefusedWithAVersionTypeOrErrorThatDoesNotExist) {
  for (const std::size_t position : {0U, 1U, 6U}) {
    auto bytes = encode(full_message());
    bytes[position] = std::byte{200};
    EXPECT_FALSE(decode(bytes)) << "byte " << position;
  }
  auto bytes = encode(full_message());
  bytes[1] = std::byte{0};
  EXPECT_FALSE(decode(bytes));
}

// Method: a code that has a name is an ErrorCode.
TEST(Message, CarriesEveryErrorCodeAndNoOther) {
  for (std::uint8_t code = 1; code < 200; ++code) {
    auto bytes = encode(full_message());
    bytes[6] = std::byte{code};
    const bool exists = to_string(static_cast<ErrorCode>(code)) != "unknown";
    EXPECT_EQ(decode(bytes).has_value(), exists) << "code " << int{code};
  }
}

}  // namespace
}  // namespace rota::rendezvous

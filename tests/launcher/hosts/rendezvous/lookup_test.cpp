// Tests looking up many names together, and finding the name of this host among them.
#include "launcher/hosts/rendezvous/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/address.h"
#include "testing/name_server.h"

namespace rota::launcher {
namespace {

using ::testing::IsEmpty;

// Returns the answer for a name with these addresses.
names::Answer answer(const std::vector<std::string>& numbers) {
  names::Answer answer;
  for (const std::string& number : numbers) {
    answer.addresses.push_back(*os::numeric_address({number, "1"}));
  }
  return answer;
}

class LookUp : public ::testing::Test {
 protected:
  static constexpr const char* kEmptyFile = "/dev/null";

  // Registers "host-0" as 10.1.0.0, and so on.
  std::vector<std::string> known_names(int count) {
    std::vector<std::string> known;
    for (int i = 0; i < count; ++i) {
      known.push_back("host-" + std::to_string(i));
      server_.add_address(known.back(), number_of(i));
    }
    return known;
  }
  static std::string number_of(int i) {
    return "10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256);
  }
  std::vector<names::Answer> look_up_here(const std::vector<std::string>& asked) const {
    return look_up(
        asked, {.resolv_conf = kEmptyFile, .hosts = kEmptyFile, .servers = {server_.address()}});
  }

  testing::NameServer server_;
};

// Method: the server answers only when it has got two questions for each name. Code that asks for
// one name after another gets no answer.
TEST_F(LookUp, AsksForAllBeforeTheFirstAnswer) {
  constexpr int kCount = 30;
  const std::vector<std::string> asked = known_names(kCount);
  server_.hold(2 * kCount);
  const std::vector<names::Answer> answers = look_up_here(asked);
  ASSERT_EQ(answers.size(), asked.size());
  for (int i = 0; i < kCount; ++i) {
    const names::Answer& answer = answers[static_cast<std::size_t>(i)];
    ASSERT_EQ(answer.addresses.size(), 1U) << asked[static_cast<std::size_t>(i)] << answer.failure;
    EXPECT_EQ(answer.addresses.front().host(), number_of(i));
  }
}

// Method: the test asks for more names than the look-up asks for at the same time.
TEST_F(LookUp, AnswersInTheirOrderWhereSomeAreUnknown) {
  constexpr std::size_t kUnknown = 100;
  std::vector<std::string> asked = known_names(150);
  asked[kUnknown] = "nobody";
  const std::vector<names::Answer> answers = look_up_here(asked);
  ASSERT_EQ(answers.size(), asked.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == kUnknown) continue;
    ASSERT_EQ(answers[i].addresses.size(), 1U) << asked[i] << answers[i].failure;
    EXPECT_EQ(answers[i].addresses.front().host(), number_of(static_cast<int>(i)));
  }
  EXPECT_THAT(answers[kUnknown].addresses, IsEmpty());
  EXPECT_NE(answers[kUnknown].failure, "");
}

// This test has only loopback addresses. tests/hosts tests how a host is found by other addresses
// of its own.
TEST(FindThisHost, TakesTheOneThatStandsForThisHost) {
  EXPECT_EQ(find_this_host({answer({"203.0.113.1"}), answer({"127.0.0.1"})}), 1U);
  EXPECT_EQ(find_this_host({answer({"203.0.113.1", "127.0.1.1"}), answer({"203.0.113.2"})}), 0U);
  EXPECT_EQ(find_this_host({answer({}), answer({}), answer({"::1"})}), 2U);
}

TEST(FindThisHost, TakesNoneWhereNoneOrSeveralDo) {
  EXPECT_EQ(find_this_host({}), std::nullopt);
  EXPECT_EQ(find_this_host({answer({"203.0.113.1"}), answer({})}), std::nullopt);
  EXPECT_EQ(find_this_host({answer({"127.0.0.1"}), answer({"127.0.1.1"})}), std::nullopt);
}

}  // namespace
}  // namespace rota::launcher

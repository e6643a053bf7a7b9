// Tests lookups in the hosts file.
#include "names/hosts_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rota::names {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kText =
    "127.0.0.1 localhost\n"
    "::1\tlocalhost ip6-localhost\n"
    "10.0.0.1 one.example one # uno\n"
    "10.0.0.2 two One\n"
    "10.0.0.1 one\n"
    "nobody three\n"
    "10.0.0.4\n"
    "#10.0.0.5 five";

std::vector<std::string> found(std::string_view name) {
  std::vector<std::string> texts;
  for (const os::Address& address : addresses_in(kText, name, "7001")) {
    texts.push_back(address.to_text());
  }
  return texts;
}

TEST(HostsFile, HasAllAddressesOfANameEachOnce) {
  EXPECT_THAT(found("one"), ElementsAre("10.0.0.1:7001", "10.0.0.2:7001"));
  EXPECT_THAT(found("localhost"), ElementsAre("127.0.0.1:7001", "[::1]:7001"));
}

TEST(HostsFile, KnowsWholeNamesInAnyCase) {
  EXPECT_THAT(found("ONE.example"), ElementsAre("10.0.0.1:7001"));
  EXPECT_THAT(found("example"), IsEmpty());
  EXPECT_THAT(found("one.exam"), IsEmpty());
  EXPECT_THAT(found("One.Example."), ElementsAre("10.0.0.1:7001"));
}

TEST(HostsFile, PassesOverCommentsAndWhatIsNoNumber) {
  for (const char* name : {"uno", "three", "five", "10.0.0.1", "10.0.0.4", "#", "", "."}) {
    EXPECT_THAT(found(name), IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace rota::names

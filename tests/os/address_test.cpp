// Tests which address a string means, and which strings are not addresses.
#include "os/address.h"

#include <gtest/gtest.h>
#include <net/if.h>

#include <array>
#include <string>

#include <rota/error.h>

#include "os/link_local.h"
#include "testing/error_of.h"

namespace rota::os {
namespace {

std::string reread(const std::string& text) { return parse_address(text).to_text(); }

TEST(Address, IsReadAndWrittenWithItsPort) {
  EXPECT_EQ(reread("10.0.0.1:7001"), "10.0.0.1:7001");
  EXPECT_EQ(reread("10.0.0.1:65535"), "10.0.0.1:65535");
  EXPECT_EQ(parse_address("10.0.0.1:7001").host(), "10.0.0.1");
  EXPECT_EQ(parse_address("10.0.0.1:7001").family(), AF_INET);
}

TEST(Address, OfTheSixthVersionHasBrackets) {
  EXPECT_EQ(reread("[fd00::1]:7001"), "[fd00::1]:7001");
  EXPECT_EQ(reread("[FD00:0:0:0:0:0:0:1]:7001"), "[fd00::1]:7001");
  EXPECT_EQ(parse_address("[fd00::1]:7001").host(), "fd00::1");
  EXPECT_EQ(parse_address("[fd00::1]:7001").family(), AF_INET6);
}

// If an address is valid only on a single link, the address names the link.
TEST(Address, KeepsItsScope) {
  char name[IF_NAMESIZE] = {};
  if (::if_indextoname(1, name) == nullptr) GTEST_SKIP() << "no first interface here";
  const std::string scoped = "[fe80::1%" + std::string(name) + "]";
  EXPECT_EQ(reread(scoped + ":7001"), scoped + ":7001");
  EXPECT_FALSE(parse_address(scoped + ":7001").is_loopback());
}

TEST(Address, OfALinkOfThisHostIsReadAsItIsPrinted) {
  for (const std::string& number : own_link_local_addresses()) {
    EXPECT_EQ(reread("[" + number + "]:7001"), "[" + number + "]:7001");
  }
}

// Every program on the host reads these short forms the same way.
TEST(Address, MayBeShortened) {
  EXPECT_EQ(reread("127.1:7001"), "127.0.0.1:7001");
  EXPECT_EQ(reread("10.0.0.1:00"), "10.0.0.1:0");
  EXPECT_EQ(reread("10.0.0.1:07001"), "10.0.0.1:7001");
}

bool is_loopback(const std::string& text) { return parse_address(text).is_loopback(); }

TEST(Address, TellsWhetherItIsThisHostsOwn) {
  EXPECT_TRUE(is_loopback("127.0.0.1:1"));
  EXPECT_TRUE(is_loopback("127.255.255.254:1"));
  EXPECT_TRUE(is_loopback("[::1]:1"));
  EXPECT_TRUE(is_loopback("[::ffff:127.0.0.1]:1"));
  EXPECT_TRUE(is_loopback("[::ffff:7f00:101]:1"));
  EXPECT_FALSE(is_loopback("[::ffff:10.0.0.1]:1"));
  EXPECT_FALSE(is_loopback("128.0.0.1:1"));
  EXPECT_FALSE(is_loopback("126.255.255.255:1"));
  EXPECT_FALSE(is_loopback("0.0.0.0:1"));
  EXPECT_FALSE(is_loopback("[::]:1"));
  EXPECT_FALSE(is_loopback("[::2]:1"));
  EXPECT_FALSE(is_loopback("[fd00::1]:1"));
}

TEST(Address, TellsWhetherItStandsForAllOfTheHostsOwn) {
  EXPECT_TRUE(parse_address("0.0.0.0:1").is_any());
  EXPECT_TRUE(parse_address("[::]:1").is_any());
  EXPECT_TRUE(parse_address("[::ffff:0.0.0.0]:1").is_any());
  EXPECT_FALSE(parse_address("[::ffff:127.0.0.1]:1").is_any());
  EXPECT_FALSE(parse_address("0.0.0.1:1").is_any());
  EXPECT_FALSE(parse_address("[::1]:1").is_any());
}

TEST(Address, KnowsItsPort) {
  EXPECT_EQ(parse_address("10.0.0.1:7001").port(), 7001);
  EXPECT_EQ(parse_address("[fd00::1]:7001").port(), 7001);
}

TEST(Address, IsTheSameWithAnotherPort) {
  EXPECT_EQ(with_port("10.0.0.1:7001", 0), "10.0.0.1:0");
  EXPECT_EQ(with_port("[fd00::1]:7001", 65535), "[fd00::1]:65535");
  EXPECT_EQ(with_port("localhost:0", 80), "localhost:80");
}

// No address of a link is reached without the name of the link, whatever routes the host has.
TEST(Address, OfThisHostIsOnTheFirstRouteThatExists) {
  const Address without_route = parse_address("[fe80::1]:1");
  const Address with_route = parse_address("127.0.0.1:1");
  EXPECT_EQ(address_toward(std::array{without_route, with_route}), "127.0.0.1");
  EXPECT_EQ(address_toward(std::array{with_route, without_route}), "127.0.0.1");
  EXPECT_THROW(address_toward(std::array{without_route, without_route}), Error);
}

// Method: the address has the scope of an interface that there is not, which is printed by its
// number. The look for its name must not change why there is no route.
TEST(Address, WithoutARouteSaysWhy) {
  sockaddr_in6 storage{};
  storage.sin6_family = AF_INET6;
  storage.sin6_port = htons(1);
  storage.sin6_addr.s6_addr[0] = 0xfe;
  storage.sin6_addr.s6_addr[1] = 0x80;
  storage.sin6_addr.s6_addr[15] = 1;
  storage.sin6_scope_id = 999'999;
  const Address target(reinterpret_cast<const sockaddr*>(&storage), sizeof storage);
  const auto error = testing::error_of([&] { address_toward(std::array{target}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(error->what()).find("No such device or address"), std::string::npos)
      << error->what();
}

// Expects the error that every reading function throws for a string that is not an address.
template <typename Read>
void expect_malformed(const std::string& text, Read read) {
  try {
    read(text);
    ADD_FAILURE() << "'" << text << "' passed for an address";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.what(), "'" + text + "' is not an address and a port, such as 10.0.0.1:7001");
  }
}

TEST(Address, IsRefusedWhereItIsMalformed) {
  for (const char* text :
       {"", ":", "10.0.0.1", ":7001", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:+1",
        "10.0.0.1: 1", "10.0.0.1:7001 ", "10.0.0.1:7x", "10.0.0.1:ssh", "::1:7001", "[::1]",
        "[]:7001", "[::1:7001", "::1]:7001", "[10.0.0.1]:7001", "[localhost]:7001"}) {
    expect_malformed(text, split_address);
    expect_malformed(text, parse_address);
    expect_malformed(text, [](const std::string& any) { with_port(any, 1); });
  }
}

// The form is right, but the host is a name, which only a name server can resolve.
TEST(Address, IsANumberAndNoName) {
  for (const char* text :
       {"localhost:7001", "256.0.0.1:7001", "[fd00::g]:7001", "1.2.3.4.5:7001"}) {
    EXPECT_FALSE(is_numeric(text)) << text;
    EXPECT_FALSE(numeric_address(split_address(text))) << text;
    expect_malformed(text, parse_address);
  }
  EXPECT_TRUE(is_numeric("[fd00::1]:7001"));
  EXPECT_EQ(numeric_address({"fd00::1", "7001"})->to_text(), "[fd00::1]:7001");
}

}  // namespace
}  // namespace rota::os

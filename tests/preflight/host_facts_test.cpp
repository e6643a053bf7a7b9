// Tests which facts a host reports about itself, and that they arrive unchanged.
#include "launcher/preflight/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "preflight/inspection.h"

namespace rota::preflight {
namespace {

using ::testing::HasSubstr;

TEST(HostFacts, ComeOutAsTheyWentIn) {
  HostFacts facts = host_of("a").facts;
  EXPECT_EQ(decode_facts(encode(facts)), facts);
  facts.shared_memory_bytes.reset();
  facts.program_trouble = "cannot run train: No such file or directory";
  facts.address_limit = 1;
  facts.file_size_limit = 2;
  facts.process_limit = 3;
  facts.most_slots = 4;
  EXPECT_EQ(decode_facts(encode(facts)), facts);
  EXPECT_EQ(decode_facts(encode(HostFacts{})), HostFacts{});
}

TEST(HostFacts, AreNoneWhereTheyAreNotWhole) {
  const std::string text = encode(host_of("a").facts);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    ASSERT_FALSE(decode_facts(text.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(decode_facts(text + "x"));
}

TEST(HostFacts, AreThoseOfThisHostAndOfTheProgram) {
  const std::string own = os::own_executable();
  const HostFacts facts = gather(launcher::parse_options({own}), {.slot_count = 7});
  EXPECT_EQ(facts.program, own);
  EXPECT_GT(facts.program_bytes, 0U);
  EXPECT_EQ(facts.program_sha256.size(), 64U);
  EXPECT_EQ(facts.program_trouble, "");
  EXPECT_EQ(facts.slot_count, 7U);
  EXPECT_EQ(facts.architecture, os::architecture());
  EXPECT_EQ(facts.open_files.soft, os::open_file_limits().soft);
  EXPECT_EQ(facts.address_limit, os::address_limit_bytes());
  EXPECT_EQ(facts.file_size_limit, os::file_size_limit_bytes());
  EXPECT_EQ(facts.process_limit, os::process_limit());
}

// The first port is for the rendezvous of the launchers, so it is not counted.
TEST(HostFacts, CountThePortsAtWhichRanksListen) {
  const auto count_of = [](const std::string& ports) {
    return gather(launcher::parse_options({"--ports", ports, "true"}), {}).free_port_count;
  };
  EXPECT_EQ(count_of("64900-64900"), 0U);
  EXPECT_LE(count_of("64900-64903"), 3U);
}

TEST(HostFacts, SayWhyAProgramCannotRun) {
  const HostFacts facts = gather(launcher::parse_options({"there-is-none"}), {});
  EXPECT_EQ(facts.program, "there-is-none");
  EXPECT_EQ(facts.program_sha256, "");
  EXPECT_THAT(facts.program_trouble, HasSubstr("cannot run there-is-none: No such file"));
}

}  // namespace
}  // namespace rota::preflight

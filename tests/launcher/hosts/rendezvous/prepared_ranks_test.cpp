// Preparing the ranks of a host may take seconds. Meanwhile the host shows the other hosts, and the
// outer process of its rotarun, that it is alive: five seconds without a sign of life end the job.
// Method: a socket holds the only port that the rank may have, until the host has shown enough
// life.
#include "launcher/hosts/rendezvous/prepared_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <string>
#include <vector>

#include <rota/error.h>

#include "launcher/ranks/heartbeat.h"
#include "os/listener.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::array kRequests{SIGTERM};
constexpr std::array kNotices{SIGCHLD};

class PreparedRanksTest : public ::testing::Test {
 protected:
  PreparedRanksTest() { make_heartbeat(); }

  HostSetup setup() { return setup(options_); }
  HostSetup setup(const Options& options) {
    return {.options = options,
            .facts = facts_,
            .context = context_,
            .signals = signals_,
            .host_plan = {},
            .key = auth::random_key(),
            .own = {}};
  }

  // Returns the assignment of the second of two hosts, with one rank.
  static HostAssignment assignment() {
    return {.ranks = {1},
            .groups = {0},
            .world_size = 2,
            .transport = "tcp",
            .host_index = 1,
            .host_count = 2};
  }

  // The rank may not have the first of the two ports.
  const testing::OwnPorts ports_;
  const std::string address_ = "127.0.0.1:" + ports_.port(1);
  os::Listener held_ = os::listen_on(os::parse_address(address_));
  const Options options_ =
      parse_options({"--ports", ports_.range(2), "--bind-to", "none", "true"}, {});
  const Facts facts_{.host = "here", .allowed_cpus = {0}};
  RunContext context_;
  os::SignalWatch signals_{kRequests, kNotices};
  std::size_t sign_count_ = 0;
};

TEST_F(PreparedRanksTest, TheHostShowsLifeWhileItWaitsForPorts) {
  const std::uint64_t beats = count_beats();
  const PreparedRanks prepared = prepare_ranks(setup(), assignment(), "127.0.0.1", [this] {
    if (++sign_count_ == 3) held_ = {};
  });
  EXPECT_THAT(prepared.endpoints.addresses, ElementsAre(address_));
  EXPECT_GE(sign_count_, 3U);
  EXPECT_EQ(count_beats() - beats, sign_count_);
}

TEST_F(PreparedRanksTest, TheHostSaysWhichPortsAreTooFew) {
  try {
    prepare_ranks(setup(), assignment(), "127.0.0.1", [] {});
    ADD_FAILURE() << "the rank listens at a port that another process holds";
  } catch (const os::AddressInUse& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("have room for 0 of the 1 ranks of this host"),
                                    EndsWith(": give other ports with --ports (tried for 2 s)")));
  }
}

// Method: this host declares a slot, but has half of the CPUs that the rank should be bound to.
TEST_F(PreparedRanksTest, TheHostSaysThatItHasTooFewCpusToBindTo) {
  const Options options = parse_options({"--cpus-per-rank", "2", "--bind-to", "core", "true"}, {});
  try {
    prepare_ranks(setup(options), assignment(), "127.0.0.1", [] {});
    ADD_FAILURE() << "the rank is bound to more CPUs than there are";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--cpus-per-rank 2: this host has fewer CPUs for ranks"));
  }
}

// Method: no host has this address, which is kept for documents. The port is free.
TEST_F(PreparedRanksTest, TheHostDoesNotWaitForAPortThatItCannotUse) {
  held_ = {};
  try {
    prepare_ranks(setup(), assignment(), "192.0.2.1", [this] { ++sign_count_; });
    ADD_FAILURE() << "the rank listens at the address of no host";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("(last error: bind to 192.0.2.1:" + ports_.port(1)),
                                    EndsWith(": give other ports with --ports")));
  }
  EXPECT_EQ(sign_count_, 1U) << "the host has tried again";
}

}  // namespace
}  // namespace rota::launcher

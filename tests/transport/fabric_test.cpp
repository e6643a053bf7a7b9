// The transport of a group makes the transports of new groups: over memory that ranks already
// share, over TCP, and for threads of one process. In a test, every two ranks of a new group
// exchange a message.
#include "transport/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "auth/key.h"
#include "base/port_range.h"
#include "base/transports.h"
#include "os/listener.h"
#include "testing/error_of.h"
#include "testing/mixed_world.h"
#include "testing/own_ports.h"
#include "testing/tcp_world.h"

namespace rota::transport {
namespace {

using base::Clock;
using Transports = std::vector<std::unique_ptr<Transport>>;

// The sizes of the parts of a message.
using Parts = std::vector<std::size_t>;
const Parts kSmall{256};
const Parts kLarge{Channel::kPartGrain, Channel::kPartGrain, 100};

// Each element of `parent_ranks` stands for a rank of the new group. Its value is a rank of the
// parent group: the rank of the new group is that parent rank itself, or one of its threads.
class FoundedGroup {
 public:
  FoundedGroup(const Transports& parents, const base::Domains& domains,
               const std::vector<std::size_t>& parent_ranks,
               std::optional<base::PortRange> ports = {}) {
    base::Domains new_domains;
    for (const std::size_t parent_rank : parent_ranks) new_domains.push_back(domains[parent_rank]);
    std::vector<GroupShape> shapes(parents.size(),
                                   {.domains = new_domains, .own = {}, .ports = ports});
    for (std::size_t rank = 0; rank < parent_ranks.size(); ++rank)
      shapes[parent_ranks[rank]].own.push_back(rank);

    tickets.resize(parent_ranks.size());
    ranks.resize(parent_ranks.size());
    std::vector<std::unique_ptr<Fabric>> fabrics;
    for (std::size_t parent = 0; parent < parents.size(); ++parent) {
      fabrics.push_back(parents[parent]->group_fabric(shapes[parent]));
      const auto issued = fabrics.back()->issue("127.0.0.1:0");
      for (std::size_t i = 0; i < issued.size(); ++i) tickets[shapes[parent].own[i]] = issued[i];
    }
    CallTerms terms{.addresses = {}, .key = auth::random_key()};
    for (const Ticket& ticket : tickets) {
      terms.addresses.push_back("127.0.0.1:" + std::to_string(ticket.port));
    }
    std::vector<std::jthread> processes;
    for (std::size_t parent = 0; parent < parents.size(); ++parent) {
      processes.emplace_back([&, parent] {
        auto made = fabrics[parent]->connect(tickets, terms, Clock::now() + testing::kVeryLong);
        const auto& own = shapes[parent].own;
        for (std::size_t i = 0; i < own.size(); ++i) ranks[own[i]] = std::move(made[i]);
      });
    }
  }

  // Returns whether a message arrives from each rank at each other rank: in one part, and in
  // several.
  bool is_heard() {
    for (std::size_t from = 0; from < ranks.size(); ++from) {
      for (std::size_t to = 0; to < ranks.size(); ++to) {
        if (from == to) continue;
        if (!passes(from, to, kSmall) || !passes(from, to, kLarge)) return false;
      }
    }
    return true;
  }

  // Returns the name of the transport for all ranks; empty if the ranks do not agree.
  std::string_view name() const {
    const std::string_view first = ranks.front()->name();
    const auto agrees = [&](const auto& rank) { return rank->name() == first; };
    return std::ranges::all_of(ranks, agrees) ? first : std::string_view();
  }

  std::vector<Ticket> tickets;
  Transports ranks;

 private:
  bool passes(std::size_t from, std::size_t to, const Parts& parts) {
    std::vector<std::byte> sent(std::accumulate(parts.begin(), parts.end(), std::size_t{0}));
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = static_cast<std::byte>(16 * from + to + 1 + i / 1000);
    }
    std::vector<std::byte> received(sent.size());
    Channel& out = ranks[from]->channel(to);
    Channel& in = ranks[to]->channel(from);
    std::size_t done = 0;
    std::size_t given = parts.front();
    out.start_send({.bytes = sent.size(), .signature = {1, 2, 3, 4}}, std::span(sent).first(given));
    auto next = parts.begin() + 1;
    for (const auto end = Clock::now() + testing::kVeryLong; Clock::now() < end;) {
      const bool is_sent = out.progress_send() == Progress::kDone;
      if (is_sent && next != parts.end()) {
        out.send_more(std::span(sent).subspan(given, *next));
        given += *next++;
      }
      if (is_sent && done == received.size()) return received == sent;
      if (done == received.size() || !in.incoming()) continue;
      done += in.receive(std::span(received).subspan(done));
      if (done == received.size()) in.finish_receive();
    }
    return false;
  }
};

Transports tcp_transports(std::size_t world_size) {
  Transports transports;
  for (auto& streams : testing::connect_ranks(world_size)) {
    transports.push_back(std::make_unique<tcp::Transport>(std::move(streams)));
  }
  return transports;
}

TEST(FoundedGroup, SharesTheMemoryOfThoseThatFoundIt) {
  const Transports parents = join_threads(3, std::size_t{8} << 20);
  FoundedGroup group(parents, {0, 0, 0}, {2, 0});
  EXPECT_TRUE(group.ranks[0]->shared_memory());
  EXPECT_EQ(group.tickets[0].port, 0U) << "no rank listens";
  EXPECT_EQ(group.name(), "shm");
  EXPECT_TRUE(group.is_heard());
}

// A ticket comes from a peer, so it may say anything.
TEST(FoundedGroup, RefusesATicketThatNamesAMissingArenaOrAPlaceOutsideOfIt) {
  const Transports parents = join_threads(2, std::size_t{8} << 20);
  const auto fabric = parents[0]->group_fabric({.domains = {0, 0}, .own = {0}});
  const auto of_peer = parents[1]->group_fabric({.domains = {0, 0}, .own = {1}});
  const Ticket own = fabric->issue("127.0.0.1:0").front();
  const Ticket sound = of_peer->issue("127.0.0.1:0").front();
  const auto refusal_of = [&](const Ticket& peers) {
    const Ticket tickets[] = {own, peers};
    return testing::error_of([&] { fabric->connect(tickets, {}, Clock::now()); });
  };
  EXPECT_FALSE(refusal_of(sound));
  for (const std::uint64_t arena : {std::uint64_t{2}, ~std::uint64_t{0}, std::uint64_t{1} << 32}) {
    Ticket bad = sound;
    bad.place[0] = arena;
    const auto error = refusal_of(bad);
    ASSERT_TRUE(error) << arena;
    EXPECT_EQ(error->code(), ErrorCode::kMismatch);
    EXPECT_EQ(error->what(), "rank 1 names arena " + std::to_string(arena) + " of 2 shared arenas");
  }
  for (const std::size_t part : {1, 2}) {
    for (const std::uint64_t offset :
         {std::uint64_t{8} << 20, ~std::uint64_t{63}, std::uint64_t{8}}) {
      Ticket bad = sound;
      bad.place[part] = offset;
      const auto error = refusal_of(bad);
      ASSERT_TRUE(error) << part << " at " << offset;
      EXPECT_EQ(error->code(), ErrorCode::kMismatch);
    }
  }
}

TEST(FoundedGroup, IsConnectedOverTcpWhereNoTwoShareMemory) {
  const Transports parents = tcp_transports(3);
  FoundedGroup group(parents, {0, 1, 2}, {2, 0, 1});
  EXPECT_FALSE(group.ranks[0]->shared_memory());
  EXPECT_EQ(group.name(), "tcp");
  EXPECT_TRUE(group.is_heard());
}

// A firewall may let only the ports of the range through.
TEST(FoundedGroup, ListensAtFreePortsOfTheRangeButNotAtItsFirst) {
  const testing::OwnPorts own;
  const auto first = static_cast<std::uint16_t>(std::stoul(own.first()));
  const auto second = static_cast<std::uint16_t>(first + 1);
  const base::PortRange ports{first, static_cast<std::uint16_t>(first + 99)};
  const auto claim = os::claim_port(second);  // As a rotarun does for its ranks.
  ASSERT_TRUE(claim);
  const Transports parents = tcp_transports(3);
  FoundedGroup group(parents, {0, 1, 2}, {2, 0, 1}, ports);
  std::set<std::uint64_t> different;
  for (const Ticket& ticket : group.tickets) {
    EXPECT_GT(ticket.port, second);
    EXPECT_LE(ticket.port, ports.last);
    different.insert(ticket.port);
  }
  EXPECT_EQ(different.size(), 3U);
  EXPECT_TRUE(group.is_heard());
}

// The range has no port but its first.
TEST(FoundedGroup, BetweenHostsIsRefusedIfTheRangeHasNoFreePort) {
  const testing::OwnPorts own;
  const auto first = static_cast<std::uint16_t>(std::stoul(own.first()));
  const Transports parents = tcp_transports(2);
  const auto fabric = parents[0]->group_fabric({.domains = {0, 1},
                                                .own = {0},
                                                .ports = base::PortRange{first, first},
                                                .is_between_hosts = true});
  const auto error = testing::error_of([&] { fabric->issue("127.0.0.1:0"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_THAT(error->what(),
              ::testing::HasSubstr("none of the ports " + own.first() + " to " + own.first() +
                                   " (ROTA_PORTS) of 127.0.0.1, without"));
  EXPECT_THAT(error->what(), ::testing::HasSubstr("set ROTA_PORTS to a wider range"));
}

TEST(FoundedGroup, OfOneHostListensAtOtherPortsIfTheRangeHasNoFreeOne) {
  const testing::OwnPorts own;
  const auto first = static_cast<std::uint16_t>(std::stoul(own.first()));
  const Transports parents = tcp_transports(2);
  FoundedGroup group(parents, {0, 1}, {1, 0}, base::PortRange{first, first});
  for (const Ticket& ticket : group.tickets) {
    EXPECT_NE(ticket.port, 0U);
    EXPECT_NE(ticket.port, first);
  }
  EXPECT_TRUE(group.is_heard());
}

TEST(FoundedGroup, HasBothWaysWhereItsRanksDo) {
  const base::Domains domains = {0, 0, 1};
  const Transports parents = testing::mixed_transports(domains);
  FoundedGroup all(parents, domains, {2, 1, 0});
  EXPECT_FALSE(all.ranks[1]->shared_memory()) << "not all ranks share memory";
  EXPECT_NE(all.tickets[1].port, 0U);
  EXPECT_EQ(all.name(), "shm+tcp") << "the rank that is alone in its domain has this name too";
  EXPECT_TRUE(all.is_heard());

  FoundedGroup local_peers(parents, domains, {1, 0});
  EXPECT_TRUE(local_peers.ranks[0]->shared_memory());
  EXPECT_EQ(local_peers.name(), "shm");
  EXPECT_TRUE(local_peers.is_heard());
}

TEST(FoundedGroup, HasThreadsOfOneProcessShareMemory) {
  const Transports parents = tcp_transports(2);
  FoundedGroup group(parents, {0, 1}, {0, 0, 1});
  EXPECT_TRUE(group.is_heard());

  FoundedGroup threads(parents, {0, 1}, {1, 1, 1});
  EXPECT_TRUE(threads.ranks[0]->shared_memory());
  EXPECT_TRUE(threads.is_heard());
}

// A transport can be made for each name that a rank table allows, and for no other name.
TEST(Makers, AreThereForEachRowOfTheTableOfTransports) {
  std::vector<std::string_view> rows;
  rows.reserve(std::size(base::kTransports));
  for (const base::TransportRow& row : base::kTransports) rows.push_back(row.name);
  std::vector<std::string_view> made;
  for (const Factory& factory : factories()) made.push_back(factory.name);
  EXPECT_THAT(made, ::testing::UnorderedElementsAreArray(rows));
}

TEST(Join, RefusesATransportThatIsNotKnown) {
  try {
    join("pigeon", {.domains = {0, 0}, .own = {0}}, {}, {}, Clock::now());
    FAIL() << "the unknown transport 'pigeon' was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kSystem);
    EXPECT_NE(std::string(error.what()).find("'pigeon'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rota::transport

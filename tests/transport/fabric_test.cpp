// Transports found those of further groups: over the memory that ranks share already, over TCP
// between them, and with threads beside each other. Every pair of new ranks is heard.
#include "transport/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "auth/key.h"
#include "base/transports.h"
#include "testing/mixed_world.h"
#include "testing/tcp_world.h"

namespace rota::transport {
namespace {

using base::Clock;
using Transports = std::vector<std::unique_ptr<Transport>>;

constexpr Header kSmall{.bytes = 256, .signature = {1, 2, 3, 4}};

// Each element of `seats` is a new rank: the old rank that becomes it, or has a thread for it.
class FoundedGroup {
 public:
  FoundedGroup(const Transports& parents, const base::Islands& islands,
               const std::vector<std::size_t>& seats) {
    base::Islands new_islands;
    for (const std::size_t seat : seats) new_islands.push_back(islands[seat]);
    std::vector<Site> sites(parents.size(), {.islands = new_islands, .own = {}});
    for (std::size_t rank = 0; rank < seats.size(); ++rank) sites[seats[rank]].own.push_back(rank);

    tickets.resize(seats.size());
    ranks.resize(seats.size());
    std::vector<std::unique_ptr<Fabric>> fabrics;
    for (std::size_t parent = 0; parent < parents.size(); ++parent) {
      fabrics.push_back(parents[parent]->found(sites[parent]));
      const auto issued = fabrics.back()->issue("127.0.0.1:0");
      for (std::size_t i = 0; i < issued.size(); ++i) tickets[sites[parent].own[i]] = issued[i];
    }
    CallTerms terms{.addresses = {}, .key = auth::random_key()};
    for (const Ticket& ticket : tickets) {
      terms.addresses.push_back("127.0.0.1:" + std::to_string(ticket.port));
    }
    std::vector<std::jthread> processes;
    for (std::size_t parent = 0; parent < parents.size(); ++parent) {
      processes.emplace_back([&, parent] {
        auto made = fabrics[parent]->connect(tickets, terms, Clock::now() + testing::kVeryLong);
        const auto& own = sites[parent].own;
        for (std::size_t i = 0; i < own.size(); ++i) ranks[own[i]] = std::move(made[i]);
      });
    }
  }

  // Whether what each rank sends to each other one arrives.
  bool is_heard() {
    for (std::size_t from = 0; from < ranks.size(); ++from) {
      for (std::size_t to = 0; to < ranks.size(); ++to) {
        if (from != to && !passes(from, to)) return false;
      }
    }
    return true;
  }

  // What all ranks call their transport; empty where they do not agree.
  std::string_view name() const {
    const std::string_view first = ranks.front()->name();
    const auto agrees = [&](const auto& rank) { return rank->name() == first; };
    return std::ranges::all_of(ranks, agrees) ? first : std::string_view();
  }

  std::vector<Ticket> tickets;
  Transports ranks;

 private:
  bool passes(std::size_t from, std::size_t to) {
    const auto mark = static_cast<std::byte>(16 * from + to + 1);
    const std::vector<std::byte> sent(kSmall.bytes, mark);
    std::vector<std::byte> received(kSmall.bytes);
    Channel& out = ranks[from]->channel(to);
    Channel& in = ranks[to]->channel(from);
    std::size_t done = 0;
    out.start_send(kSmall, sent);
    for (const auto end = Clock::now() + testing::kVeryLong; Clock::now() < end;) {
      const bool is_sent = out.progress_send() == Progress::kDone;
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
  EXPECT_EQ(group.tickets[0].port, 0U) << "nobody is called";
  EXPECT_EQ(group.name(), "shm");
  EXPECT_TRUE(group.is_heard());
}

TEST(FoundedGroup, IsConnectedOverTcpWhereNoTwoShareMemory) {
  const Transports parents = tcp_transports(3);
  FoundedGroup group(parents, {0, 1, 2}, {2, 0, 1});
  EXPECT_FALSE(group.ranks[0]->shared_memory());
  EXPECT_EQ(group.name(), "tcp");
  EXPECT_TRUE(group.is_heard());
}

TEST(FoundedGroup, HasBothWaysWhereItsRanksDo) {
  const base::Islands islands = {0, 0, 1};
  const Transports parents = testing::mixed_transports(islands);
  FoundedGroup all(parents, islands, {2, 1, 0});
  EXPECT_FALSE(all.ranks[1]->shared_memory()) << "not with all";
  EXPECT_NE(all.tickets[1].port, 0U);
  EXPECT_EQ(all.name(), "shm+tcp") << "also on the rank that is alone on its island";
  EXPECT_TRUE(all.is_heard());

  FoundedGroup mates(parents, islands, {1, 0});
  EXPECT_TRUE(mates.ranks[0]->shared_memory());
  EXPECT_EQ(mates.name(), "shm");
  EXPECT_TRUE(mates.is_heard());
}

TEST(FoundedGroup, HasThreadsOfOneProcessShareMemory) {
  const Transports parents = tcp_transports(2);
  FoundedGroup group(parents, {0, 1}, {0, 0, 1});
  EXPECT_TRUE(group.is_heard());

  FoundedGroup threads(parents, {0, 1}, {1, 1, 1});
  EXPECT_TRUE(threads.ranks[0]->shared_memory());
  EXPECT_TRUE(threads.is_heard());
}

// What a rank table may name can be made, and what can be made may be named.
TEST(Makers, AreThereForEachRowOfTheTableOfTransports) {
  std::vector<std::string_view> rows;
  for (const base::TransportRow& row : base::kTransports) rows.push_back(row.name);
  std::vector<std::string_view> made;
  for (const Maker& maker : makers()) made.push_back(maker.name);
  EXPECT_THAT(made, ::testing::UnorderedElementsAreArray(rows));
}

TEST(Join, RefusesATransportThatIsNotKnown) {
  try {
    join("pigeon", {.islands = {0, 0}, .own = {0}}, {}, {}, Clock::now());
    FAIL() << "joined";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kSystem);
    EXPECT_NE(std::string(error.what()).find("'pigeon'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rota::transport

// What launchers say to each other comes out as it went in, and what is no such thing is seen.
#include "launcher/hosts/wire/dispatch.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "launcher/ranks/news.h"
#include "rendezvous/job.h"
#include "rendezvous/remote_line.h"

namespace rota::launcher {
namespace {

using rendezvous::kMaxWorldSize;

TEST(Dispatch, ComesOutAsItWentIn) {
  const std::string any_bytes("\0\xff\n", 3);
  for (unsigned type = 1; type <= static_cast<unsigned>(DispatchType::kBeat); ++type) {
    for (const int value : {0, 1, -1, 143, std::numeric_limits<int>::min()}) {
      const Dispatch dispatch{.type = static_cast<DispatchType>(type),
                              .rank = 0xfffffffe,
                              .value = value,
                              .text = any_bytes};
      EXPECT_EQ(decode_dispatch(encode(dispatch)), dispatch) << type << ", " << value;
    }
  }
}

TEST(Dispatch, IsOfAKnownType) {
  std::vector<std::byte> bytes = encode(Dispatch{});
  for (unsigned type = 0; type <= 255; ++type) {
    bytes[0] = static_cast<std::byte>(type);
    const bool is_known = type >= 1 && type <= static_cast<unsigned>(DispatchType::kBeat);
    EXPECT_EQ(decode_dispatch(bytes).has_value(), is_known) << type;
  }
}

TEST(Dispatch, HoldsTheLongestMessageOfARankInAFrame) {
  const Dispatch dispatch{.type = DispatchType::kSaid,
                          .text = std::string(os::kMaxMessageBytes, 'x')};
  EXPECT_LT(encode(dispatch).size(), rendezvous::kMaxFrameBytes);
}

TEST(Hello, ComesOutAsItWentIn) {
  const Hello hello{.version = "1.2.3",
                    .host = "b",
                    .cluster = "2 hosts that meet at a:7700",
                    .slot_count = 64,
                    .local_rank = 3,
                    .local_count = 4,
                    .program = "4711 bytes, 0123456789ab",
                    .obstacle_code = 127,
                    .obstacle = "there is no train"};
  EXPECT_EQ(decode_hello(encode(hello)), hello);
  EXPECT_EQ(decode_hello(encode(Hello{})), Hello{});
}

TEST(HostTexts, ComeOutAsTheyWentIn) {
  const std::vector<HostText> by_host{{3, "three"}, {0, ""}, {70000, std::string("\0\xff", 2)}};
  EXPECT_EQ(decode_host_texts(encode(by_host)), by_host);
  EXPECT_EQ(decode_host_texts(encode(std::vector<HostText>())), std::vector<HostText>());
}

TEST(Hello, HasNoMoreSlotsThanAJobHasRanks) {
  EXPECT_TRUE(decode_hello(encode(Hello{.slot_count = kMaxWorldSize})));
  EXPECT_FALSE(decode_hello(encode(Hello{.slot_count = kMaxWorldSize + 1})));
  EXPECT_FALSE(decode_hello(encode(Hello{.local_rank = kMaxWorldSize + 1})));
  EXPECT_FALSE(decode_hello(encode(Hello{.local_count = kMaxWorldSize + 1})));
}

// Its places are the host's own affair.
TEST(EncodedShare, ComesOutWithoutPlaces) {
  const Share share{.world = 3,
                    .ranks = {1, 4, 7},
                    .groups = {0, 0, 2},
                    .places = {{0}, {1}, {2, 3}},
                    .world_size = 8,
                    .transport = "shm+tcp",
                    .host_index = 1,
                    .host_count = 3,
                    .earlier_count = 2,
                    .other_count = 5,
                    .evaluators = {1, 1, 3}};
  const auto decoded = decode_share(encode(share));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->world, 3U);
  EXPECT_EQ(decoded->ranks, share.ranks);
  EXPECT_EQ(decoded->groups, share.groups);
  EXPECT_EQ(decoded->evaluators, share.evaluators);
  EXPECT_TRUE(decoded->places.empty());
  EXPECT_EQ(decoded->world_size, 8U);
  EXPECT_EQ(decoded->transport, "shm+tcp");
  EXPECT_EQ(decoded->host_index, 1U);
  EXPECT_EQ(decoded->host_count, 3U);
  EXPECT_EQ(decoded->earlier_count, 2U);
  EXPECT_EQ(decoded->other_count, 5U);
  EXPECT_FALSE(decode_share(encode(Share{.earlier_count = 2, .other_count = 1})));
  EXPECT_FALSE(decode_share(encode(Share{.world = 0})));
  EXPECT_FALSE(decode_share(encode(Share{.other_count = kMaxWorldSize + 1})));
}

TEST(EncodedShare, HasTheArenasOfAllRanksOrNone) {
  const Share share{.ranks = {1}, .groups = {0}, .world_size = 3, .arenas = {"a", "b", "c"}};
  const auto decoded = decode_share(encode(share));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->arenas, share.arenas);
  EXPECT_FALSE(decode_share(encode(Share{.world_size = 3, .arenas = {"a", "b"}})));
}

TEST(EncodedShare, MayHaveNoRanks) {
  const auto decoded = decode_share(encode(Share{.ranks = {}, .world_size = 8}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->ranks.empty());
  EXPECT_EQ(decoded->world_size, 8U);
}

TEST(EncodedShare, HasRanksOfItsWorldOnly) {
  struct Case {
    std::vector<std::size_t> ranks;
    std::size_t world_size;
    bool is_good;
  };
  const std::vector<Case> cases = {
      {{0}, 1, true},
      {{7}, 8, true},
      {{8}, 8, false},
      {{0, 8}, 8, false},
      {{0}, 0, false},
      {{kMaxWorldSize - 1}, kMaxWorldSize, true},
      {{0}, kMaxWorldSize + 1, false},
      {{}, kMaxWorldSize + 1, false},
  };
  for (const Case& example : cases) {
    const Share share{.ranks = example.ranks,
                      .groups = std::vector<std::size_t>(example.ranks.size()),
                      .world_size = example.world_size};
    EXPECT_EQ(decode_share(encode(share)).has_value(), example.is_good)
        << example.ranks.size() << " ranks of " << example.world_size;
  }
}

TEST(EncodedShare, HoldsAWholeWorld) {
  Share share{.ranks = {}, .world_size = kMaxWorldSize};
  for (std::size_t rank = 0; rank < kMaxWorldSize; ++rank) share.ranks.push_back(rank);
  share.groups.resize(kMaxWorldSize);
  const auto decoded = decode_share(encode(share));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->ranks, share.ranks);
}

TEST(Seats, ComeOutAsTheyWentIn) {
  const Seats seats{.addresses = {"10.0.0.1:7701", "[fd00::1]:7702"},
                    .cores = {"0-3", ""},
                    .devices = {"0", "3,GPU-5"},
                    .may_spin = true,
                    .free = {.address = "fd00::1", .ports = {7703, 65535, 0}}};
  const auto decoded = decode_seats(encode(seats));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->addresses, seats.addresses);
  EXPECT_EQ(decoded->cores, seats.cores);
  EXPECT_EQ(decoded->devices, seats.devices);
  EXPECT_TRUE(decoded->may_spin);
  EXPECT_EQ(decoded->free.address, "fd00::1");
  EXPECT_EQ(decoded->free.ports, seats.free.ports);
}

TEST(Seats, MayBeNone) {
  const auto decoded = decode_seats(encode(Seats{}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->addresses.empty());
  EXPECT_TRUE(decoded->cores.empty());
  EXPECT_FALSE(decoded->may_spin);
  EXPECT_TRUE(decoded->free.ports.empty());
}

TEST(Beginning, ComesOutAsItWentIn) {
  const Beginning beginning{
      .salt = std::string(32, '\0'),
      .table = "a table",
      .peers = {.first = Endpoint{"10.0.0.1", 7703}, .list = R"(["10.0.0.1:7703"])"}};
  const auto decoded = decode_beginning(encode(beginning));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->salt, beginning.salt);
  EXPECT_EQ(decoded->table, "a table");
  ASSERT_TRUE(decoded->peers.first);
  EXPECT_EQ(decoded->peers.first->host, "10.0.0.1");
  EXPECT_EQ(decoded->peers.first->port, 7703);
  EXPECT_EQ(decoded->peers.list, beginning.peers.list);
}

TEST(Beginning, MayKnowNoPorts) {
  const auto decoded = decode_beginning(encode(Beginning{.salt = "s"}));
  ASSERT_TRUE(decoded);
  EXPECT_FALSE(decoded->peers.first);
  EXPECT_TRUE(decoded->peers.list.empty());
}

TEST(EncodedNews, ComesOutAsItWentIn) {
  for (const News::Kind kind :
       {News::Kind::kRankStarted, News::Kind::kRankStopped, News::Kind::kRankContinued,
        News::Kind::kRankExited, News::Kind::kRankKilled, News::Kind::kNotStarted,
        News::Kind::kSignal, News::Kind::kHostEnded}) {
    const News news{.kind = kind,
                    .world = is_of_job(kind) ? 0U : 3U,
                    .rank = 7,
                    .value = -9,
                    .text = "why",
                    .last_words = {"Traceback:", "", std::string("\0\xff", 2)}};
    EXPECT_EQ(decode_news(encode(news), 8), news) << static_cast<int>(kind);
  }
}

TEST(EncodedNews, IsOfAKindThatTravels) {
  EXPECT_FALSE(decode_news(encode(News{.kind = News::Kind::kRankSpoke, .world = 1}), 1));
  std::string bytes = encode(News{.world = 1});
  for (int kind = static_cast<int>(News::Kind::kHostLost) + 1; kind <= 255; ++kind) {
    bytes[0] = static_cast<char>(kind);
    EXPECT_FALSE(decode_news(bytes, 1)) << kind;
  }
}

TEST(EncodedNews, IsOfARankOfTheWorld) {
  const std::string bytes = encode(News{.world = 1, .rank = 3});
  EXPECT_TRUE(decode_news(bytes, 4));
  EXPECT_FALSE(decode_news(bytes, 3));
  EXPECT_FALSE(decode_news(bytes, 0));
}

// What befalls the job itself is of no world, and all else of one.
TEST(EncodedNews, IsOfOneWorldOrOfTheJob) {
  for (const News::Kind kind :
       {News::Kind::kRankExited, News::Kind::kNotStarted, News::Kind::kEvaluatorStarted}) {
    EXPECT_TRUE(decode_news(encode(News{.kind = kind, .world = 1}), 1));
    EXPECT_FALSE(decode_news(encode(News{.kind = kind}), 1));
  }
  for (const News::Kind kind :
       {News::Kind::kSignal, News::Kind::kHostEnded, News::Kind::kHostLost}) {
    EXPECT_TRUE(decode_news(encode(News{.kind = kind}), 1));
    EXPECT_FALSE(decode_news(encode(News{.kind = kind, .world = 1}), 1));
  }
}

}  // namespace
}  // namespace rota::launcher

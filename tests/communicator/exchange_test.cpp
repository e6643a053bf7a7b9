// All-reduces, reduces, broadcasts and barriers by way of the board: their bits, and what is seen
// where ranks do not do the same. Method: ranks are threads, over the real shared-memory transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "communicator/thread_world.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using testing::on_every_rank;

std::vector<Communicator> world_of(std::size_t world_size, const std::string& plan = "auto") {
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  options.plan = plan;
  return ThreadWorld::make({.world_size = world_size, .communicator = options});
}

template <class T>
std::span<T> values_in(const Block& block, std::size_t count) {
  return {reinterpret_cast<T*>(block.bytes().data()), count};
}

// Numbers whose sums round, so that another order of additions has other bits.
template <class T>
std::vector<T> contribution_of(std::size_t rank, std::size_t count) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(rank * 7919 + count));
  std::uniform_real_distribution<float> range(-3.0F, 3.0F);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(T(range(random)));
  return values;
}

// Each rank has its own factor, and one of them none.
struct OwnFactor {
  Reduction operator()(std::size_t rank) const {
    return Reduction::pre_scaled_sum(rank == 1 ? 1.0 : 0.3 + static_cast<double>(rank));
  }
};
struct Same {
  ReduceOp op;
  Reduction operator()(std::size_t) const { return op; }
};

template <class T, class ReductionOf>
std::vector<T> reduced_by_ring(std::size_t world_size, std::size_t count, ReductionOf reduction) {
  auto world = world_of(world_size, "ring");
  std::vector<T> result;
  on_every_rank(world, [&](Communicator& comm) {
    auto values = contribution_of<T>(comm.rank(), count);
    comm.all_reduce(values, reduction(comm.rank()));
    if (comm.rank() == 0) result = values;
  });
  return result;
}

std::vector<float> summed_along_a_chain(std::size_t world_size, std::size_t count,
                                        std::size_t root) {
  std::vector<float> sum = contribution_of<float>((root + 1) % world_size, count);
  for (std::size_t hop = 2; hop <= world_size; ++hop) {
    const auto term = contribution_of<float>((root + hop) % world_size, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += term[i];
  }
  return sum;
}

// Counts around what travels with a post, a line, a page, a piece, and shares of whole pages.
constexpr std::size_t kCounts[] = {0,  1,    5,     11,    12,    13,    16,
                                   25, 1000, 16384, 16385, 40001, 70003, 150000};

class ExchangeTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  static std::size_t n() { return std::get<0>(GetParam()); }
  static std::size_t count() { return std::get<1>(GetParam()); }

  template <class T, class ReductionOf>
  static void expect_the_rings_bits(ReductionOf reduction) {
    const std::vector<T> expected = reduced_by_ring<T>(n(), count(), reduction);
    auto world = world_of(n());
    on_every_rank(world, [&](Communicator& comm) {
      const auto own = contribution_of<T>(comm.rank(), count());
      const Block block = comm.allocate(std::max<std::size_t>(1, own.size() * sizeof(T)));
      const Block other = comm.allocate(std::max<std::size_t>(1, own.size() * sizeof(T)));
      const std::span<T> values = values_in<T>(block, count());
      const std::span<T> output = values_in<T>(other, count());
      for (int round = 0; round < 3; ++round) {  // As exchanges take turns with two posts.
        std::ranges::copy(own, values.begin());
        comm.all_reduce(std::span<const T>(values), output, reduction(comm.rank()));
        EXPECT_TRUE(std::ranges::equal(values, own)) << "the input was written to";
        comm.all_reduce(values, reduction(comm.rank()));
        EXPECT_TRUE(std::ranges::equal(values, expected)) << "rank " << comm.rank();
        EXPECT_TRUE(std::ranges::equal(output, expected)) << "rank " << comm.rank();
      }
      EXPECT_EQ(comm.staged_bytes(), 0U);
      expect_the_same_of_private_memory<T>(comm, reduction, expected);
    });
  }

  // By stages, of which 150000 numbers need several.
  template <class T, class ReductionOf>
  static void expect_the_same_of_private_memory(Communicator& comm, ReductionOf reduction,
                                                const std::vector<T>& expected) {
    const auto own = contribution_of<T>(comm.rank(), count());
    auto values = own;
    std::vector<T> output(count());
    comm.all_reduce(own, output, reduction(comm.rank()));
    comm.all_reduce(values, reduction(comm.rank()));
    EXPECT_TRUE(std::ranges::equal(values, expected)) << "rank " << comm.rank();
    EXPECT_TRUE(std::ranges::equal(output, expected)) << "rank " << comm.rank();
  }
};

TEST_P(ExchangeTest, HasTheRingsBitsInFloat) {
  expect_the_rings_bits<float>(Same{ReduceOp::kSum});
  expect_the_rings_bits<float>(Same{ReduceOp::kMean});
}
TEST_P(ExchangeTest, HasTheRingsBitsInFloat16) {
  expect_the_rings_bits<Float16>(Same{ReduceOp::kMean});
}
TEST_P(ExchangeTest, HasTheRingsBitsOfAPreScaledSum) { expect_the_rings_bits<float>(OwnFactor{}); }

// For each root, from where peers reach and from elsewhere.
TEST_P(ExchangeTest, ReducesInTheOrderOfAChain) {
  for (std::size_t root = 0; root < n(); ++root) {
    const auto expected = summed_along_a_chain(n(), count(), root);
    auto world = world_of(n());
    on_every_rank(world, [&](Communicator& comm) {
      const bool is_root = comm.rank() == root;
      const auto own = contribution_of<float>(comm.rank(), count());
      const Block block = comm.allocate(std::max<std::size_t>(1, count() * sizeof(float)));
      const std::span<float> shared = values_in<float>(block, count());
      auto other = own;
      for (const std::span<float> values : {shared, std::span(other)}) {
        std::vector<float> output(is_root ? count() : 0);
        std::ranges::copy(own, values.begin());
        comm.reduce(std::span<const float>(values), std::span(output), root, ReduceOp::kSum);
        EXPECT_TRUE(std::ranges::equal(values, own)) << "the input was written to";
        EXPECT_EQ(output, is_root ? expected : output) << "root " << root;
        comm.reduce(values, root, ReduceOp::kSum);
        EXPECT_TRUE(!is_root || std::ranges::equal(values, expected)) << "root " << root;
      }
    });
  }
}

TEST_P(ExchangeTest, BroadcastsWhatTheRootHas) {
  auto world = world_of(n());
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(std::max<std::size_t>(1, count() * sizeof(float)));
    const std::span<float> shared = values_in<float>(block, count());
    std::vector<float> other(count());
    for (std::size_t root = 0; root < n(); ++root) {
      const auto expected = contribution_of<float>(root, count());
      for (const bool mixed : {false, true}) {  // Rank 1 alone has memory of its own.
        const auto values = mixed && comm.rank() == 1 ? std::span(other) : shared;
        std::ranges::copy(contribution_of<float>(comm.rank(), count()), values.begin());
        comm.broadcast(values, root);
        EXPECT_TRUE(std::ranges::equal(values, expected)) << "root " << root;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, ExchangeTest,
                         ::testing::Combine(::testing::Values(2, 3, 5),
                                            ::testing::ValuesIn(kCounts)));

// Whoever has private memory, all go by their stages, and come back to their memory.
TEST(Exchange, IsStagedByAllWhereARanksMemoryIsItsOwn) {
  for (std::size_t who = 0; who < 3; ++who) {
    auto world = world_of(3);
    on_every_rank(world, [&](Communicator& comm) {
      constexpr std::size_t kCount = 30000;
      const Block block = comm.allocate(kCount * sizeof(float));
      std::vector<float> own(kCount);
      const std::span<float> shared = values_in<float>(block, kCount);
      for (const bool mixed : {true, false, true, false}) {
        const std::span<float> values = mixed && comm.rank() == who ? std::span(own) : shared;
        std::ranges::fill(values, static_cast<float>(comm.rank() + 1));
        comm.all_reduce(values, ReduceOp::kSum);
        EXPECT_EQ(std::ranges::count(values, 6.0F), std::ptrdiff_t{kCount});
      }
    });
  }
}

// Of `count` floats: parts of awkward sizes, an empty one among them, in another order than in
// memory.
std::vector<Values> parts_of(std::span<float> values, std::size_t part_count) {
  std::vector<Values> parts;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), part_count + parts.size() % 3);
    parts.insert(parts.begin(), Values(values.last(count)));
    values = values.first(values.size() - count);
    if (parts.size() == 2) parts.emplace_back(values.first(0));
  }
  std::ranges::reverse(parts);
  return parts;
}

// What a group of them should have, in the order of their parts.
std::vector<float> in_order(const std::vector<Values>& parts) {
  std::vector<float> all;
  for (const Values& part : parts) {
    const auto* first = reinterpret_cast<const float*>(part.data());
    all.insert(all.end(), first, first + part.count());
  }
  return all;
}

// Each rank has parts of its own sizes. All of them lie where peers reach them, or one rank's do
// not.
TEST(Exchange, HasTheRingsBitsInTheBuffersOfAGroup) {
  for (const std::size_t n : {2, 3, 5}) {
    for (const std::size_t count : {13, 1000, 40001, 150000}) {
      const auto expected = reduced_by_ring<float>(n, count, OwnFactor{});
      auto world = world_of(n);
      on_every_rank(world, [&](Communicator& comm) {
        const Block block = comm.allocate(count * sizeof(float));
        std::vector<float> own(count);
        for (const bool is_private : {false, true, false}) {
          const bool has_own = is_private && comm.rank() == 1;
          const auto values = has_own ? std::span(own) : values_in<float>(block, count);
          const auto parts = parts_of(values, 500 + 100 * comm.rank());
          for (int round = 0; round < 3; ++round) {
            const auto contribution = contribution_of<float>(comm.rank(), count);
            std::size_t at = 0;
            for (const Values& part : parts) {
              std::memcpy(part.data(), contribution.data() + at, part.bytes());
              at += part.count();
            }
            comm.all_reduce(parts, OwnFactor{}(comm.rank()));
            ASSERT_EQ(in_order(parts), expected) << "rank " << comm.rank() << " of " << n;
          }
        }
        EXPECT_EQ(comm.staged_bytes(), 0U);
      });
    }
  }
}

// Of a rank that calls it a group, and of one whose memory is its own: then all go by stages.
TEST(Exchange, StagesTheBuffersOfAGroup) {
  constexpr std::size_t kCount = 150000;
  const auto expected = reduced_by_ring<float>(3, kCount, Same{ReduceOp::kSum});
  auto world = world_of(3);
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(kCount * sizeof(float));
    std::vector<float> own = contribution_of<float>(comm.rank(), kCount);
    if (comm.rank() == 2) {
      comm.all_reduce(own, ReduceOp::kSum);
      EXPECT_EQ(own, expected);
      return;
    }
    const auto parts = parts_of(values_in<float>(block, kCount), 700);
    std::size_t at = 0;
    for (const Values& part : parts) {
      std::memcpy(part.data(), own.data() + at, part.bytes());
      at += part.count();
    }
    comm.all_reduce(parts, ReduceOp::kSum);
    EXPECT_EQ(in_order(parts), expected);
  });
}

// As it would be if they were copied together: each of them has the sum of what it had.
TEST(Exchange, AddsUpOnceWhatIsInAGroupTwice) {
  auto world = world_of(2);
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(4000);
    const auto values = values_in<float>(block, 1000);
    std::ranges::fill(values, 1.0F);
    comm.all_reduce({values, values}, ReduceOp::kSum);
    EXPECT_EQ(std::ranges::count(values, 2.0F), 1000);
  });
}

// More than may be under way at once, of all sizes, and some by way of stages. They give what they
// give one after the other.
TEST(Exchange, HasManyUnderWayAtOnce) {
  for (const std::size_t n : {2, 3}) {
    auto world = world_of(n);
    on_every_rank(world, [&](Communicator& comm) {
      constexpr std::size_t kMost = 40000;
      constexpr std::size_t kCalls = 50;
      const Block block = comm.allocate(kCalls * kMost * sizeof(float));
      std::vector<std::vector<float>> own(kCalls, std::vector<float>(kMost));
      for (int round = 0; round < 3; ++round) {
        std::vector<std::span<float>> values;
        std::vector<Request> requests;
        for (std::size_t i = 0; i < kCalls; ++i) {
          const std::size_t count = i % 7 == 0 ? 3 : 100 + i * 37 * (i % 5);
          const bool has_own = i % 11 == 3 && comm.rank() == i % n;
          values.push_back(has_own
                               ? std::span(own[i]).first(count)
                               : values_in<float>(block, kMost * kCalls).subspan(i * kMost, count));
          std::ranges::fill(values.back(), static_cast<float>(i * (comm.rank() + 1)));
          requests.push_back(comm.all_reduce_async(values.back(), ReduceOp::kSum));
          if (i % 17 == 0) requests.push_back(comm.barrier_async());
        }
        wait_all(requests);
        for (std::size_t i = 0; i < kCalls; ++i) {
          const auto sum = static_cast<float>(i * n * (n + 1) / 2);
          ASSERT_EQ(std::ranges::count(values[i], sum), std::ssize(values[i])) << i;
        }
      }
    });
  }
}

// What one writes another one reads, so they are not under way together.
TEST(Exchange, KeepsTheOrderOfCallsThatShareMemory) {
  auto world = world_of(2);
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(40000);
    const auto values = values_in<float>(block, 10000);
    for (int round = 0; round < 20; ++round) {
      std::ranges::fill(values, 1.0F);
      std::vector<Request> requests;
      for (const std::size_t count : {10000, 300, 7000, 5, 9999}) {
        requests.push_back(comm.all_reduce_async(values.first(count), ReduceOp::kSum));
      }
      wait_all(requests);
      EXPECT_EQ(values[0], 32.0F);
      EXPECT_EQ(values[5], 16.0F);
      EXPECT_EQ(values[300], 8.0F);
      EXPECT_EQ(values[9998], 4.0F);
      EXPECT_EQ(values[9999], 2.0F);
    }
  });
}

// Rank 0 is in the middle of many, the last of which rank 1 never calls.
TEST(Exchange, EndsWhatIsUnderWayWhereARankFails) {
  auto world = world_of(2);
  on_every_rank(world, [&](Communicator& comm) {
    constexpr std::size_t kCount = 1000;
    const Block block = comm.allocate(8 * kCount * sizeof(float));
    const auto values = values_in<float>(block, 8 * kCount);
    std::vector<Request> requests;
    for (std::size_t i = 0; i < 8 - comm.rank(); ++i) {
      requests.push_back(comm.all_reduce_async(values.subspan(i * kCount, kCount), ReduceOp::kSum));
    }
    if (comm.rank() == 1) {
      requests[3].wait();
      comm.abort("the disk is on fire");
      return;
    }
    try {
      requests.back().wait();
      FAIL() << "heard nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
      EXPECT_NE(std::string(error.what()).find("the disk is on fire"), std::string::npos);
    }
  });
}

// A rank of them is in an exchange, the other in an operation with messages, and no launcher is
// there to compare what they wait in.
TEST(Exchange, SeesAnOperationWithMessages) {
  for (const std::size_t in_exchange : {0, 1}) {
    auto world = world_of(2);
    on_every_rank(world, [&](Communicator& comm) {
      const Block block = comm.allocate(4000);
      const std::span<float> values = values_in<float>(block, 1000);
      std::optional<Error> error;
      try {
        if (comm.rank() == in_exchange) {
          comm.all_reduce(values, ReduceOp::kSum);
        } else {
          comm.all_gather(values);
        }
        comm.barrier();
      } catch (const Error& caught) {
        error = caught;
      }
      ASSERT_TRUE(error) << "rank " << comm.rank();
      EXPECT_EQ(error->code(), ErrorCode::kMismatch) << error->what();
      EXPECT_NE(std::string(error->what()).find("all_reduce"), std::string::npos);
      EXPECT_NE(std::string(error->what()).find("all_gather"), std::string::npos);
    });
  }
}

// Both are in an exchange, each in one of its own.
TEST(Exchange, SeesAnotherCollectiveAndAnotherRoot) {
  for (const bool same_collective : {false, true}) {
    auto world = world_of(2);
    on_every_rank(world, [&](Communicator& comm) {
      const Block block = comm.allocate(4000);
      const std::span<float> values = values_in<float>(block, 1000);
      try {
        if (comm.rank() == 0 && !same_collective) {
          comm.all_reduce(values, ReduceOp::kSum);
        } else {
          comm.broadcast(values, comm.rank());
        }
        FAIL() << "rank " << comm.rank() << " saw nothing";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kMismatch) << error.what();
        EXPECT_NE(std::string(error.what()).find("broadcast"), std::string::npos) << error.what();
      }
    });
  }
}

// Few bytes travel with the post, more do not: they are one operation all the same.
TEST(Exchange, SeesThatCountsDifferAcrossWhatTravelsWithAPost) {
  auto world = world_of(2);
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(comm.rank() == 0 ? 12 : 13);
    try {
      comm.all_reduce(values, ReduceOp::kSum);
      FAIL() << "rank " << comm.rank() << " saw nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMismatch) << error.what();
    }
  });
}

TEST(Exchange, IsThereForEachGroupThatIsSplitOff) {
  auto world = world_of(4);
  on_every_rank(world, [](Communicator& comm) {
    Communicator half = comm.split(comm.rank() % 2);
    const Block block = half.allocate(40000);
    const std::span<float> values = values_in<float>(block, 10000);
    for (int round = 0; round < 5; ++round) {
      std::ranges::fill(values, static_cast<float>(comm.rank()));
      half.all_reduce(values, ReduceOp::kSum);
      EXPECT_EQ(values[9999], comm.rank() % 2 == 0 ? 2.0F : 4.0F);
      float one = 1;
      comm.all_reduce(std::span(&one, 1), ReduceOp::kSum);
      EXPECT_EQ(one, 4.0F);
    }
    EXPECT_EQ(half.staged_bytes(), 0U);
  });
}

}  // namespace
}  // namespace rota

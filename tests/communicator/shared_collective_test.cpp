// All-reduces through shared memory give the ring's bits. All-reduces and barriers notice ranks
// that do not make the same calls. Method: ranks are threads, over the real shared-memory
// transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "communicator/shared_world.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using testing::contribution_of;
using testing::kSharedCounts;
using testing::on_every_rank;
using testing::shared_world;
using testing::values_in;

// Each rank has its own factor; the factor of rank 1 is 1.
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
  auto world = shared_world(world_size, "ring");
  std::vector<T> result;
  on_every_rank(world, [&](Communicator& comm) {
    auto values = contribution_of<T>(comm.rank(), count);
    comm.all_reduce(values, reduction(comm.rank()));
    if (comm.rank() == 0) result = values;
  });
  return result;
}

class SharedCollectiveTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  static std::size_t n() { return std::get<0>(GetParam()); }
  static std::size_t count() { return std::get<1>(GetParam()); }

  template <class T, class ReductionOf>
  static void expect_the_rings_bits(ReductionOf reduction) {
    const std::vector<T> expected = reduced_by_ring<T>(n(), count(), reduction);
    auto world = shared_world(n());
    on_every_rank(world, [&](Communicator& comm) {
      const auto own = contribution_of<T>(comm.rank(), count());
      const Block block = comm.allocate(std::max<std::size_t>(1, own.size() * sizeof(T)));
      const Block other = comm.allocate(std::max<std::size_t>(1, own.size() * sizeof(T)));
      const std::span<T> values = values_in<T>(block, count());
      const std::span<T> output = values_in<T>(other, count());
      for (int round = 0; round < 3; ++round) {  // The rounds use different posts.
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

  // Expects the same results for values in private memory, which go through staging buffers. 150000
  // numbers need several segments.
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

TEST_P(SharedCollectiveTest, HasTheRingsBitsInFloat) {
  expect_the_rings_bits<float>(Same{ReduceOp::kSum});
  expect_the_rings_bits<float>(Same{ReduceOp::kMean});
}
TEST_P(SharedCollectiveTest, HasTheRingsBitsInFloat16) {
  expect_the_rings_bits<Float16>(Same{ReduceOp::kMean});
}
TEST_P(SharedCollectiveTest, HasTheRingsBitsOfAPreScaledSum) {
  expect_the_rings_bits<float>(OwnFactor{});
}

INSTANTIATE_TEST_SUITE_P(Worlds, SharedCollectiveTest,
                         ::testing::Combine(::testing::Values(2, 3, 5),
                                            ::testing::ValuesIn(kSharedCounts)));

// Values travel with posts, through staging buffers, in place, and as a group.
TEST(SharedCollective, KeepsAMeanOfFloat16Finite) {
  for (const std::size_t n : {2, 3, 5}) {
    auto world = shared_world(n);
    on_every_rank(world, [&](Communicator& comm) {
      const auto expect_mean = [&](std::span<Float16> values) {
        std::ranges::fill(values, Float16(60000.0F));
        comm.all_reduce(values, ReduceOp::kMean);
        EXPECT_EQ(std::ranges::count(values, Float16(60000.0F)), std::ssize(values));
      };
      std::vector<Float16> own(1000);
      expect_mean(std::span(own).first(3));
      expect_mean(own);
      const Block block = comm.allocate(70'003 * sizeof(Float16));
      const std::span<Float16> shared = values_in<Float16>(block, 70'003);
      expect_mean(shared);
      comm.all_reduce({shared.first(1000), shared.last(1000)}, ReduceOp::kMean);
      comm.reduce(shared.first(1000), n - 1, ReduceOp::kMean);
      EXPECT_EQ(std::ranges::count(shared.last(1000), Float16(60000.0F)), 1000);
      if (comm.rank() == n - 1) {
        EXPECT_EQ(std::ranges::count(shared.first(1000), Float16(60000.0F)), 1000);
      }
    });
  }
}

// If the values of one rank are in private memory, all ranks use staging buffers in this call. In
// later calls all ranks again use their values in place.
TEST(SharedCollective, IsStagedByAllWhereARanksMemoryIsItsOwn) {
  for (std::size_t who = 0; who < 3; ++who) {
    auto world = shared_world(3);
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

// Splits `count` floats into parts of awkward sizes, one of them empty. The order of the parts
// differs from their order in memory.
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

// Returns the values of a group, in the order of its parts.
std::vector<float> in_order(const std::vector<Values>& parts) {
  std::vector<float> all;
  for (const Values& part : parts) {
    const auto* first = reinterpret_cast<const float*>(part.data());
    all.insert(all.end(), first, first + part.count());
  }
  return all;
}

// Each rank has parts of its own sizes. In some rounds all parts are in shared memory. In the other
// rounds one rank's parts are in private memory.
TEST(SharedCollective, HasTheRingsBitsInTheBuffersOfAGroup) {
  for (const std::size_t n : {2, 3, 5}) {
    for (const std::size_t count : {13, 1000, 40001, 150000}) {
      const auto expected = reduced_by_ring<float>(n, count, OwnFactor{});
      auto world = shared_world(n);
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

// Ranks 0 and 1 call with a group of buffers, and rank 2 has private memory. So all ranks use
// staging buffers.
TEST(SharedCollective, StagesTheBuffersOfAGroup) {
  constexpr std::size_t kCount = 150000;
  const auto expected = reduced_by_ring<float>(3, kCount, Same{ReduceOp::kSum});
  auto world = shared_world(3);
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

// The calls use a large and a small group of buffers in turn. In a call with the small group most
// ranks reduce nothing. A late rank must not read a scatter list that was already overwritten.
TEST(SharedCollective, AlternatesBetweenGroups) {
  auto world = shared_world(5);
  on_every_rank(world, [](Communicator& comm) {
    const Block block = comm.allocate(16384);
    const auto values = values_in<float>(block, 4096);
    const auto large = parts_of(values.first(1500), 300);
    const auto small = parts_of(values.subspan(2048, 250), 100);
    for (int round = 0; round < 200; ++round) {
      for (const auto* group : {&large, &small}) {
        for (const Values& part : *group) {
          std::ranges::fill(std::span(reinterpret_cast<float*>(part.data()), part.count()), 1.0F);
        }
        comm.all_reduce(*group, ReduceOp::kSum);
        const auto sums = in_order(*group);
        ASSERT_EQ(std::ranges::count(sums, 5.0F), std::ssize(sums)) << "round " << round;
      }
    }
  });
}

// The result is the same as if the parts were copied into one buffer: each part has the sum of its
// own values.
TEST(SharedCollective, AddsUpOnceWhatIsInAGroupTwice) {
  auto world = shared_world(2);
  on_every_rank(world, [&](Communicator& comm) {
    const Block block = comm.allocate(4000);
    const auto values = values_in<float>(block, 1000);
    std::ranges::fill(values, 1.0F);
    comm.all_reduce({values, values}, ReduceOp::kSum);
    EXPECT_EQ(std::ranges::count(values, 2.0F), 1000);
  });
}

// The test makes more calls than may be under way together. The calls have all sizes, and some of
// them use staging buffers. The results are the same as if each call waited for the call before.
TEST(SharedCollective, HasManyUnderWayAtOnce) {
  for (const std::size_t n : {2, 3}) {
    auto world = shared_world(n);
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
          const std::size_t sum_of_factors = n * (n + 1) / 2;
          const auto sum = static_cast<float>(i * sum_of_factors);
          ASSERT_EQ(std::ranges::count(values[i], sum), std::ssize(values[i])) << i;
        }
      }
    });
  }
}

// One call reads what another writes, so they do not run together.
TEST(SharedCollective, KeepsTheOrderOfCallsThatShareMemory) {
  auto world = shared_world(2);
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

// Rank 0 starts many calls, and rank 1 never makes the last one. Rank 1 may give up before rank 0
// has started them all. Then a call on rank 0 throws the error that the wait would throw otherwise.
TEST(SharedCollective, EndsWhatIsUnderWayWhereARankFails) {
  auto world = shared_world(2);
  on_every_rank(world, [&](Communicator& comm) {
    constexpr std::size_t kCount = 1000;
    const Block block = comm.allocate(8 * kCount * sizeof(float));
    const auto values = values_in<float>(block, 8 * kCount);
    std::vector<Request> requests;
    const auto call = [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::span<float> own = values.subspan(i * kCount, kCount);
        requests.push_back(comm.all_reduce_async(own, ReduceOp::kSum));
      }
    };
    if (comm.rank() == 1) {
      call(7);
      requests[3].wait();
      comm.abort("the disk is on fire");
      return;
    }
    try {
      call(8);
      requests.back().wait();
      FAIL() << "rank 0 got no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
      EXPECT_NE(std::string(error.what()).find("the disk is on fire"), std::string::npos);
    }
  });
}

// One rank is in an operation through shared memory, and the other rank is in an operation with
// messages. No launcher compares the operations in which the ranks wait.
TEST(SharedCollective, SeesAnOperationWithMessages) {
  for (const std::size_t in_exchange : {0, 1}) {
    auto world = shared_world(2);
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

// Both ranks are in operations through shared memory, but not in the same one.
TEST(SharedCollective, SeesAnotherCollectiveAndAnotherRoot) {
  for (const bool same_collective : {false, true}) {
    auto world = shared_world(2);
    on_every_rank(world, [&](Communicator& comm) {
      const Block block = comm.allocate(4000);
      const std::span<float> values = values_in<float>(block, 1000);
      try {
        if (comm.rank() == 0 && !same_collective) {
          comm.all_reduce(values, ReduceOp::kSum);
        } else {
          comm.broadcast(values, comm.rank());
        }
        FAIL() << "rank " << comm.rank() << " got no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kMismatch) << error.what();
        EXPECT_NE(std::string(error.what()).find("broadcast"), std::string::npos) << error.what();
      }
    });
  }
}

// A post contains few values, but not many values. Calls with few and with many values still count
// as the same operation.
TEST(SharedCollective, SeesThatCountsDifferAcrossWhatTravelsWithAPost) {
  auto world = shared_world(2);
  on_every_rank(world, [&](Communicator& comm) {
    std::vector<float> values(comm.rank() == 0 ? 12 : 13);
    try {
      comm.all_reduce(values, ReduceOp::kSum);
      FAIL() << "rank " << comm.rank() << " got no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMismatch) << error.what();
    }
  });
}

// With the plan star, rank 1 sends all its bytes once. With the ring, each of three ranks sends 4/3
// of its bytes.
TEST(SharedCollective, IsNotThereForAGroupOfAnotherPlan) {
  auto world = shared_world(3);
  on_every_rank(world, [](Communicator& comm) {
    Communicator star = comm.split(0, comm.rank(), "star");
    Communicator again = star.split(0, comm.rank());
    Communicator ring = star.split(0, comm.rank(), "ring");
    std::vector<float> values(3 * 16 * 100);
    const std::size_t bytes = values.size() * sizeof(float);
    for (Communicator* group : {&star, &again, &ring}) {
      const std::uint64_t before = group->sent_bytes();
      group->all_reduce(values, ReduceOp::kSum);
      const std::uint64_t sent = group->sent_bytes() - before;
      if (comm.rank() == 1) {
        EXPECT_EQ(sent, group == &ring ? bytes * 4 / 3 : bytes);
      }
    }
  });
}

TEST(SharedCollective, IsRefusedAPlanThatThereIsNot) {
  CommunicatorOptions options;
  options.codec = Codec::kFloat16;
  Communicator alone(options);
  for (const char* plan : {"rong", "chain", "tree"}) {  // tree does not support the codec.
    try {
      Communicator other = alone.split(0, 0, plan);
      FAIL() << plan;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
      EXPECT_NE(std::string(error.what()).find(plan), std::string::npos) << error.what();
    }
  }
}

TEST(SharedCollective, IsThereForEachGroupThatIsSplitOff) {
  auto world = shared_world(4);
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

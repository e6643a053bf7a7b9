// Tests every collective over a real transport between real processes. This program is one rank.
// Method: all ranks run the same tests in the same order over one communicator, as rotarun started
// them. Values are small integers, so sums are exact. After each test all ranks compare the bits of
// their results.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "ranks/ranks.h"
#include "testing/reference.h"

namespace rota {
namespace {

template <class T>
T value_of(std::size_t rank, std::size_t index) {
  return static_cast<T>(rank * 5 + index % 11);
}

template <class T>
T sum_of(std::size_t world_size, std::size_t index) {
  T sum = 0;
  for (std::size_t rank = 0; rank < world_size; ++rank) sum += value_of<T>(rank, index);
  return sum;
}

template <class T>
class CollectivesTest : public ::testing::Test {
 protected:
  Communicator& comm() { return the_communicator(); }
  std::size_t n() { return comm().world_size(); }

  std::vector<std::size_t> counts() {
    return {0, 1, n() - 1, n(), n() + 1, 16 * n() + 1, 1009, 300007};
  }

  void fill(std::span<T> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(comm().rank(), i);
  }

  // Runs `body` on private memory, then on memory from the communicator.
  template <class Body>
  void on_both_memories(std::size_t count, Body body) {
    std::vector<T> private_values(count);
    body(std::span<T>(private_values));
    const Block block = comm().allocate(count * sizeof(T));
    body(std::span<T>(reinterpret_cast<T*>(block.bytes().data()), count));
  }

  // Expects that the FNV-1a hash of the values is the same on every rank.
  void expect_same_bits(std::span<const T> values) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::byte byte : std::as_bytes(values)) {
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    }
    std::vector<std::byte> hashes(8 * n());
    for (std::size_t i = 0; i < 8; ++i) {
      hashes[8 * comm().rank() + i] = static_cast<std::byte>(hash >> (8 * i));
    }
    comm().all_gather(hashes);
    for (std::size_t i = 8; i < hashes.size(); ++i) {
      ASSERT_EQ(hashes[i], hashes[i % 8]) << "rank " << i / 8 << " has other bits than rank 0";
    }
  }
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CollectivesTest, Types, testing::NamesOfTypes);

TYPED_TEST(CollectivesTest, AllReduceSums) {
  for (const std::size_t count : this->counts()) {
    this->on_both_memories(count, [&](std::span<TypeParam> values) {
      this->fill(values);
      this->comm().all_reduce(values, ReduceOp::kSum);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], sum_of<TypeParam>(this->n(), i)) << count << " values, index " << i;
      }
      this->expect_same_bits(values);
    });
  }
}

TYPED_TEST(CollectivesTest, AllReduceAverages) {
  const auto factor = TypeParam{1} / static_cast<TypeParam>(this->n());
  for (const std::size_t count : this->counts()) {
    this->on_both_memories(count, [&](std::span<TypeParam> values) {
      this->fill(values);
      this->comm().all_reduce(values, ReduceOp::kMean);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], sum_of<TypeParam>(this->n(), i) * factor) << "index " << i;
      }
    });
  }
}

// The sums of these values are rounded: every rank must round alike.
TYPED_TEST(CollectivesTest, AllReduceRoundsAlikeOnEveryRank) {
  for (const std::size_t count : this->counts()) {
    this->on_both_memories(count, [&](std::span<TypeParam> values) {
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = TypeParam{1} / static_cast<TypeParam>(3 + i % 101 + this->comm().rank());
      }
      this->comm().all_reduce(values, ReduceOp::kMean);
      this->expect_same_bits(values);
    });
  }
}

TYPED_TEST(CollectivesTest, ReduceScatterThenAllGatherIsAnAllReduce) {
  for (const std::size_t count : this->counts()) {
    this->on_both_memories(count, [&](std::span<TypeParam> values) {
      this->fill(values);
      this->comm().reduce_scatter(values, ReduceOp::kSum);
      const Slice own = slice_of(count, this->comm().rank(), this->n());
      for (std::size_t i = own.offset; i < own.offset + own.count; ++i) {
        ASSERT_EQ(values[i], sum_of<TypeParam>(this->n(), i)) << "index " << i;
      }
      this->comm().all_gather(values);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], sum_of<TypeParam>(this->n(), i)) << "index " << i;
      }
    });
  }
}

TYPED_TEST(CollectivesTest, BroadcastFromEveryRoot) {
  for (const std::size_t count : this->counts()) {
    for (std::size_t root = 0; root < this->n(); ++root) {
      this->on_both_memories(count, [&](std::span<TypeParam> values) {
        this->fill(values);
        this->comm().broadcast(values, root);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(values[i], value_of<TypeParam>(root, i)) << "root " << root;
        }
      });
    }
  }
}

TYPED_TEST(CollectivesTest, RequestsFinishInOrderWhoeverDrives) {
  std::vector<std::vector<TypeParam>> buckets(7, std::vector<TypeParam>(10007));
  for (int round = 0; round < 20; ++round) {
    std::vector<Request> requests;
    for (auto& bucket : buckets) {
      this->fill(bucket);
      requests.push_back(this->comm().all_reduce_async(bucket, ReduceOp::kSum));
    }
    requests[3].wait();  // This wait drives the first four requests, not the others.
    EXPECT_TRUE(requests[0].test() && requests[1].test() && requests[2].test());
    for (Request& request : requests) request.wait();
    for (const auto& bucket : buckets) {
      for (std::size_t i = 0; i < bucket.size(); i += 97) {
        ASSERT_EQ(bucket[i], sum_of<TypeParam>(this->n(), i));
      }
    }
  }
}

TYPED_TEST(CollectivesTest, MoreRequestsThanTheQueueHolds) {
  std::vector<std::vector<TypeParam>> buckets(300, std::vector<TypeParam>(3));
  std::vector<Request> requests;
  for (auto& bucket : buckets) {
    this->fill(bucket);
    requests.push_back(this->comm().all_reduce_async(bucket, ReduceOp::kSum));
  }
  requests.back().wait();
  for (const auto& bucket : buckets) ASSERT_EQ(bucket[2], sum_of<TypeParam>(this->n(), 2));
}

TYPED_TEST(CollectivesTest, RefusesWhatMakesNoSenseAndGoesOn) {
  std::vector<std::byte> bytes(64);
  EXPECT_THROW(this->comm().all_reduce(bytes, ReduceOp::kSum), Error);
  EXPECT_THROW(this->comm().broadcast(bytes, this->n()), Error);
  alignas(8) std::array<std::byte, 64> storage{};
  auto* crooked = reinterpret_cast<TypeParam*>(storage.data() + 1);
  EXPECT_THROW(this->comm().all_reduce(std::span<TypeParam>(crooked, 2), ReduceOp::kSum), Error);
  this->comm().barrier();
}

// Over shared memory, values in memory of the communicator are not staged. For any other memory, as
// many bytes are staged as are sent. Method: chunks are whole pages, so the formulas are exact.
TYPED_TEST(CollectivesTest, StagesWhatPeersCannotReach) {
  if (this->comm().rank_table().transport != "shm") GTEST_SKIP() << "there is nothing to reach";
  const std::size_t chunk = 1024;
  const std::size_t count = chunk * this->n();
  const std::uint64_t sent = 2 * (this->n() - 1) * chunk * sizeof(TypeParam);
  bool is_private = true;
  this->on_both_memories(count, [&](std::span<TypeParam> values) {
    const std::uint64_t sent_before = this->comm().sent_bytes();
    const std::uint64_t staged_before = this->comm().staged_bytes();
    this->comm().all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(this->comm().sent_bytes() - sent_before, sent);
    EXPECT_EQ(this->comm().staged_bytes() - staged_before, is_private ? sent : 0);
    is_private = false;
  });
}

}  // namespace

}  // namespace rota

// Ranks that share memory meet, reduce and stage by flags alone: "post and look" and "staged
// segments". The programs run the flags page and the collectives over it.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "collectives/shared/flags_page.h"
#include "collectives/shared/run.h"
#include "kernels/reductions.h"
#include "orders/shared_pages.h"
#include "orders/weakening.h"

namespace rota::orders {
namespace {

using collectives::Algorithm;
using collectives::Description;
using collectives::Flags;
using collectives::Operation;
using collectives::PlannedCollective;
using collectives::Signature;

constexpr std::size_t kRanks = 2;
constexpr std::array<transport::Channel*, kRanks> kNoChannels{};

// Runs body(rank) for all ranks at once.
template <class Body>
void on_all_ranks(Body body) {
  std::array<std::thread, kRanks> threads;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    threads[rank] = std::thread([&body, rank] { body(rank); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Each rank posts, waits for the post of the other, and reads all of it. Ranks are up to
// kMostRunning posts apart, and use each post several times.
template <std::uint64_t kPosts>
void post_and_look() {
  SharedPages<kRanks> pages(64, 0);
  on_all_ranks([&](std::size_t rank) {
    Flags flags(pages.of(rank));
    const Signature signature(Description{.count = 1}, rank);
    const std::size_t peer = 1 - rank;
    const auto look_at = [&](std::uint64_t number) {
      const collectives::Post* post = nullptr;
      wait_until([&] { return (post = flags.post_of(peer, number)) != nullptr; });
      expect(post->content[0] == number * 10 + peer, "the post has its content");
      expect(flags.agrees(*post, number), "the digests are equal");
      expect((*flags.signature_of(peer, number))[Signature::kSequence] == number,
             "the signature belongs to the post");
    };
    for (std::uint64_t number = 1; number <= kPosts; ++number) {
      if (number > collectives::kMostRunning) look_at(number - collectives::kMostRunning);
      flags.post(signature, number, {number * 10 + rank}, sizeof number);
    }
    const std::uint64_t seen =
        kPosts > collectives::kMostRunning ? kPosts - collectives::kMostRunning : 0;
    for (std::uint64_t number = seen + 1; number <= kPosts; ++number) look_at(number);
  });
}

float value_of(std::size_t rank, std::size_t i) { return static_cast<float>(rank * 1000 + i); }

// All-reduces, one after the other, of values in memory that other ranks reach; if `kIsStaged`, of
// values that travel in segments of `kStageBytes` bytes.
template <std::size_t kCount, bool kIsStaged, std::size_t kRounds, std::size_t kStageBytes>
void all_reduce() {
  SharedPages<kRanks> pages(kIsStaged ? 64 : kCount * sizeof(float), kStageBytes);
  on_all_ranks([&](std::size_t rank) {
    std::vector<float> own(kIsStaged ? kCount : 0);
    const std::span<float> values = kIsStaged ? std::span(own) : pages.values(rank);
    collectives::SharedCollectives shared(pages.of(rank), kNoChannels);
    const auto place = shared.make_place(0, 0);
    PlannedCollective planned{.reducer = {kernels::reference<kernels::Reductions>(),
                                          DataType::kFloat32, ReduceOp::kSum, kRanks}};
    planned.call = {.algorithm = Algorithm::kShared, .count = kCount};
    planned.signature = {planned.call, rank};
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < kCount; ++i) values[i] = value_of(rank + round, i);
      Operation operation{.planned = &planned, .sequence = round + 1};
      operation.buffers[0] = reinterpret_cast<std::byte*>(values.data());
      place->start(operation);
      wait_until([&] {
        collectives::Turn turn{};
        do {
          turn = place->step();
        } while (turn == collectives::Turn::kMoved);
        return turn == collectives::Turn::kDone;
      });
      for (const std::size_t i : {std::size_t{0}, kCount / 2, kCount - 1}) {
        expect(values[i] == value_of(round, i) + value_of(round + 1, i), "the sum is right");
      }
    }
  });
}

// A rank gives up, and changes the value that it shared. Another rank may still read the new value,
// and then say that its share is done. A rank that sees this share must see the abort too.
void share_after_abort() {
  SharedPages<kRanks> pages(64, 0);
  std::atomic<int> shared{1};
  int read = 0;
  std::thread owner([&] {
    pages.abort_word().begin(0);
    shared.store(2, std::memory_order_relaxed);
  });
  std::thread reducer([&] {
    Flags flags(pages.of(0));
    read = shared.load(std::memory_order_relaxed);
    flags.say_done();
  });
  std::thread waiter([&] {
    const Flags flags(pages.of(1));
    wait_until([&] { return flags.is_done(0, 1); });
    expect(read == 1 || pages.abort_word().is_set(), "the abort is seen with the share");
  });
  owner.join();
  reducer.join();
  waiter.join();
}

// A rank shows that its values are on a device. Who has seen that sees also what the rank offers.
void show_on_device() {
  SharedPages<kRanks> pages(64, 0);
  std::thread owner([&] {
    Flags flags(pages.of(0));
    flags.show_on_device(Signature(Description{.count = 3}, 0), 1, 7);
  });
  std::thread looker([&] {
    const Flags flags(pages.of(1));
    wait_until([&] { return flags.has_shown(0, 1); });
    expect(flags.offer_on_device(0) == 7, "the offer is there");
    expect(flags.known_signature_of(0, 1).has_value(), "the signature is there");
  });
  owner.join();
  looker.join();
}

TEST(FlagsPage, NeedsItsOrders) {
  expect_needed_orders({"lib/collectives/shared/flags_page.h"},
                       {
                           {"post and look", post_and_look<2>},
                           {"an all-reduce in posts", all_reduce<5, false, 2, 0>},
                           {"an all-reduce in place", all_reduce<1500, false, 2, 0>},
                           {"staged segments", all_reduce<50, true, 1, 80>},
                           {"staged segments of all ranks", all_reduce<4096, true, 1, 8192>},
                           {"a share after an abort", share_after_abort},
                           {"posts are used again", post_and_look<17>},
                           {"values on a device", show_on_device},
                       });
}

}  // namespace
}  // namespace rota::orders

// A rank that gives up may change the values that it shared. A rank that reads them afterwards sees
// the abort.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "orders/weakening.h"
#include "transport/shm/abort_word.h"

namespace rota::orders {
namespace {

using transport::shm::AbortWord;

// Two ranks give up, one after the other, and change their values. A third rank reads both values.
// They are atomic, as a program that uses its memory again races with ranks that still read it.
void is_seen_with_what_was_taken_back() {
  AbortWord word{};
  std::atomic<int> shared[2] = {1, 1};
  const auto give_up = [&](std::size_t rank) {
    return std::thread([&, rank] {
      word.begin(rank);
      shared[rank].store(2, std::memory_order_relaxed);
    });
  };
  std::thread first = give_up(0);
  std::thread second = give_up(1);
  std::thread reader([&] {
    const int read =
        shared[0].load(std::memory_order_relaxed) + shared[1].load(std::memory_order_relaxed);
    expect(read == 2 || word.is_set(), "a rank that reads a changed value sees the abort");
  });
  first.join();
  second.join();
  reader.join();
}

void tells_the_cause() {
  AbortWord word{};
  const auto give_up = [&](std::size_t rank) {
    return std::thread([&, rank] {
      if (word.begin(rank)) word.tell({.rank = rank, .code = ErrorCode::kPeerLost, .blamed = 3});
    });
  };
  std::thread first = give_up(0);
  std::thread second = give_up(1);
  std::thread reader([&] {
    const auto writer = word.writer();
    const auto cause = word.cause();
    if (!cause) return;
    expect(!writer || cause->rank == *writer, "the writer stays the same");
    expect(cause->code == ErrorCode::kPeerLost && cause->blamed == 3U, "the cause is whole");
  });
  first.join();
  second.join();
  reader.join();
}

TEST(AbortWord, NeedsItsOrders) {
  expect_needed_orders(
      {"lib/transport/shm/abort_word.cpp"},
      {{"what was taken back", is_seen_with_what_was_taken_back}, {"the cause", tells_the_cause}});
}

}  // namespace
}  // namespace rota::orders

// The thread that calls the collectives queues operations, and the thread that drives the
// communicator runs them. Either may be any thread, one at a time.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "communicator/operation_queue.h"
#include "orders/weakening.h"

namespace rota::orders {
namespace {

// The queue is full of operations, of which all but the last have been done. The caller waits for
// room, and uses the slot of the operation that the driver has just finished.
void slots_are_used_again() {
  constexpr std::uint64_t kLast = 2 * OperationQueue::kCapacity - 1;
  constexpr std::uint64_t kDone = kLast - OperationQueue::kCapacity;
  const auto queue = std::make_unique<OperationQueue>();
  for (std::uint64_t number = 1; number <= kLast; ++number) {
    if (queue->full()) {
      queue->mark_done(queue->finished() + 1);
      queue->pop();
    }
    queue->next_slot().sequence = number;
    queue->push();
  }
  expect(queue->full() && queue->finished() == kDone, "the queue is full");
  std::array<std::uint64_t, 2> results{};
  std::thread driver([&] {
    const std::uint64_t number = queue->finished() + 1;
    results[0] = queue->at(number).sequence;
    queue->mark_done(number);
    queue->pop();
    wait_until([&] { return queue->submitted() == kLast + 1; });
    results[1] = queue->at(kLast + 1).sequence;
    queue->mark_done(kLast + 1);
  });
  std::thread caller([&] {
    wait_until([&] { return !queue->full(); });
    queue->next_slot().sequence = kLast + 1;
    expect(queue->push() == kLast + 1, "the number is the next one");
    wait_until([&] { return queue->is_done(kDone + 1); });
    expect(results[0] == kDone + 1, "the first operation was run");
    wait_until([&] { return queue->is_done(kLast + 1); });
    expect(results[1] == kLast + 1, "the last operation was run");
  });
  driver.join();
  caller.join();
}

TEST(OperationQueue, NeedsItsOrders) {
  expect_needed_orders({"lib/communicator/operation_queue.h"},
                       {{"slots are used again", slots_are_used_again}});
}

}  // namespace
}  // namespace rota::orders

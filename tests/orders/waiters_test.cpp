// The progress thread sleeps while other threads wait for operations. The last of them wakes it if
// an operation is left, and a communicator that closes waits until they have left.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "communicator/waiters.h"
#include "orders/weakening.h"

namespace rota::orders {
namespace {

// One thread waits, and leaves. Meanwhile the caller submits an operation, and wakes the progress
// thread. This thread finds the operation, but leaves it to the waiting thread.
void the_last_waiter_wakes() {
  Waiters waiters;
  std::atomic<int> submitted{0};
  std::atomic<int> wakes{0};
  int seen_wakes = 0;
  bool drives = false;
  waiters.enter();
  std::thread caller([&] {
    submitted.store(1, std::memory_order_release);
    wakes.fetch_add(1, std::memory_order_release);
  });
  std::thread waiter([&] {
    const bool is_last = waiters.leave();
    if (is_last && submitted.load(std::memory_order_acquire) > 0) {
      wakes.fetch_add(1, std::memory_order_release);
    }
  });
  std::thread progress([&] {
    seen_wakes = wakes.load(std::memory_order_acquire);
    drives = submitted.load(std::memory_order_acquire) > 0 && !waiters.any();
  });
  caller.join();
  waiter.join();
  progress.join();
  const bool is_woken = wakes.load(std::memory_order_relaxed) > seen_wakes;
  expect(drives || is_woken, "the progress thread drives, or is woken");
}

// A communicator gives its transport up when no thread uses it.
void the_last_waiter_is_awaited() {
  Waiters waiters;
  int transport = 1;
  int used = 0;
  waiters.enter();
  std::thread waiter([&] {
    used = transport;
    waiters.leave();
  });
  std::thread closer([&] {
    wait_until([&] { return !waiters.any(); });
    transport = 0;
  });
  waiter.join();
  closer.join();
  expect(used == 1, "the transport was there");
}

// A thread that comes when nobody waits any more sees that the communicator is broken.
void a_late_waiter_sees_the_end() {
  Waiters waiters;
  std::atomic<bool> is_broken{false};
  int transport = 1;
  int used = 1;
  std::thread waiter([&] {
    waiters.enter();
    if (!is_broken.load(std::memory_order_relaxed)) used = transport;
    waiters.leave();
  });
  std::thread closer([&] {
    is_broken.store(true, std::memory_order_relaxed);
    wait_until([&] { return !waiters.any(); });
    transport = 0;
  });
  waiter.join();
  closer.join();
  expect(used == 1, "the transport was there");
}

TEST(Waiters, NeedTheirOrders) {
  expect_needed_orders({"lib/communicator/waiters.h"},
                       {{"the last waiter wakes", the_last_waiter_wakes},
                        {"the last waiter is awaited", the_last_waiter_is_awaited},
                        {"a late waiter sees the end", a_late_waiter_sees_the_end}});
}

}  // namespace
}  // namespace rota::orders

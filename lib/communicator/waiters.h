// Counts the threads that wait for operations of a communicator. They drive it, so the progress
// thread may sleep meanwhile.
#pragma once
#include <atomic>

namespace rota {

// All changes of the count, and all looks at it, have one order: each is a read-modify-write. So of
// a thread that leaves and a thread that looks, the later one sees what the other one did before. A
// plain load would allow both to miss the other: the progress thread sees a waiter and sleeps, and
// the last waiter does not see the new operation, and does not wake the progress thread.
class Waiters {
 public:
  // A thread that enters after a look sees what the looking thread did before.
  void enter() noexcept { count_.fetch_add(1, std::memory_order_acquire); }

  // Returns whether this was the last thread. A thread that leaves sees what others did before
  // their any() returned true, and shows what it did itself to others whose any() returns false.
  bool leave() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // Returns whether some thread waits.
  bool any() noexcept { return count_.fetch_add(0, std::memory_order_acq_rel) > 0; }

 private:
  std::atomic<int> count_{0};
};

}  // namespace rota

// The threads of a simulated world. Each has its own stack, and one of them runs at a time. The
// seed decides which thread runs next wherever threads may switch. Time is simulated, too.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/time.h"
#include "simulation/random.h"

namespace rota::simulation {

class Scheduler {
 public:
  // On average, threads switch at one in `switch_one_in` of the points at which they may switch.
  Scheduler(Random& random, std::uint64_t switch_one_in);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Adds a thread of `rank`. It starts in run().
  void start(std::size_t rank, std::function<void()> body);

  // Runs until each thread has ended, is dead or has stopped for good. Returns false if the time
  // `until` comes first.
  bool run(base::TimePoint until);

  base::TimePoint now() const noexcept { return now_; }

  // Called by the running thread. Another thread may run before these calls return.
  std::size_t rank() const noexcept { return threads_[running_]->rank; }
  void may_switch();
  void yield();
  void sleep(base::Duration duration);
  void wait(const std::function<bool()>& is_ready, base::TimePoint until);

  // The thread never runs again, not even to clean up: its process is dead or has been stopped.
  [[noreturn]] void end_here();
  // Stops the running thread for `duration`.
  void stop_for(base::Duration duration);

  // The hook is called before each time that a thread goes on.
  void on_switch(std::function<void()> hook) { hook_ = std::move(hook); }

  // Records an event that another rank may be waiting for.
  void note_event() noexcept { last_event_ = now_; }

 private:
  struct Thread {
    std::size_t rank = 0;
    std::function<void()> body;
    ucontext_t beginning{};
    bool has_begun = false;
    jmp_buf place{};  // Where the thread continues once it has begun.
    std::byte* stack = nullptr;
    base::TimePoint wakes_at{};
    const std::function<bool()>* is_ready = nullptr;  // What the thread waits for, besides time.
    bool is_over = false;
    void* exceptions[2] = {};  // The C++ runtime's state of handled exceptions.
  };

  static void enter();
  void go_on(Thread& thread);
  bool may_run(const Thread& thread) const;
  // Returns the next thread to run, or null if all are over.
  Thread* choose();
  void switch_away();
  base::Duration late_by();

  inline static Scheduler* active = nullptr;  // A thread that begins finds its scheduler here.

  Random& random_;
  std::uint64_t switch_one_in_;
  base::TimePoint now_{std::chrono::hours(1)};
  base::TimePoint last_event_ = now_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::size_t running_ = 0;
  jmp_buf main_{};
  std::function<void()> hook_;
};

}  // namespace rota::simulation

// The threads of a simulated world. Each has a stack of its own, one of them runs at a time, and
// the seed decides which goes on where they could change places. Time is simulated, too.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/time.h"
#include "simulation/random.h"

namespace rota::simulation {

class Scheduler {
 public:
  // Threads change places at one in `switch_one_in` of the points where they can.
  Scheduler(Random& random, std::uint64_t switch_one_in);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A thread of `rank`. Starts with run().
  void start(std::size_t rank, std::function<void()> body);

  // Until each thread has ended, is dead or has stopped for good. False where it is `until` first.
  bool run(base::TimePoint until);

  base::TimePoint now() const noexcept { return now_; }

  // By the thread that runs. Another one may run before they return.
  std::size_t rank() const noexcept { return threads_[running_]->rank; }
  void may_switch();
  void yield();
  void sleep(base::Duration duration);
  void wait(const std::function<bool()>& is_ready, base::TimePoint until);

  // The thread does nothing any more, not even clean up: its process is dead or has been stopped.
  [[noreturn]] void end_here();
  // It is stopped for so long.
  void stop_for(base::Duration duration);

  // Something has happened that another rank may be waiting for.
  void note_event() noexcept { last_event_ = now_; }

 private:
  struct Thread {
    std::size_t rank = 0;
    std::function<void()> body;
    ucontext_t beginning{};
    bool has_begun = false;
    jmp_buf place{};  // Where it goes on, once it has begun.
    std::byte* stack = nullptr;
    base::TimePoint wakes_at{};
    const std::function<bool()>* is_ready = nullptr;  // What it waits for, beside the time.
    bool is_over = false;
    void* exceptions[2] = {};  // What the C++ runtime knows of those that it handles.
  };

  static void enter();
  void go_on(Thread& thread);
  bool may_run(const Thread& thread) const;
  // The next one to run, or none where all are over.
  Thread* choose();
  void switch_away();
  base::Duration late_by();

  inline static Scheduler* active = nullptr;  // For threads that begin.

  Random& random_;
  std::uint64_t switch_one_in_;
  base::TimePoint now_{std::chrono::hours(1)};
  base::TimePoint last_event_ = now_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::size_t running_ = 0;
  jmp_buf main_{};
};

}  // namespace rota::simulation

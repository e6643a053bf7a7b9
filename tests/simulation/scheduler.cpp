// Uses contexts of the C library, and a clock that jumps ahead when all threads sleep.
#include "simulation/scheduler.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rota::simulation {
namespace {

using base::Duration;
using base::TimePoint;

constexpr std::size_t kStackBytes = 256 * 1024;

// The longest time that a thread runs between two points where it may be interrupted.
constexpr std::uint64_t kMostNanosecondsAStep = 200;
constexpr std::uint64_t kMostNanosecondsAYield = 20'000;
// While nothing happens, threads sleep longer and longer, as on a busy machine. Otherwise a wait
// for a deadline would take most of the time of a seed.
constexpr int kShareOfSilence = 2;
constexpr std::chrono::milliseconds kMostLate{20};

// Stacks are kept from seed to seed. Stacks of threads that never ended are not used again: objects
// on them are still referred to.
std::vector<std::byte*>& free_stacks() {
  static std::vector<std::byte*> stacks;
  return stacks;
}

std::byte* take_stack() {
  auto& stacks = free_stacks();
  if (!stacks.empty()) {
    std::byte* stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) {
    std::perror("simulate: no memory for a stack");
    std::abort();
  }
  return static_cast<std::byte*>(stack);
}

// The C++ runtime keeps this state for the one real thread. Each simulated thread needs its own.
void keep_exceptions(void* (&kept)[2]) { std::memcpy(kept, abi::__cxa_get_globals(), sizeof kept); }
void restore_exceptions(void* const (&kept)[2]) {
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), kept, sizeof kept);
}

}  // namespace

Scheduler::Scheduler(Random& random, std::uint64_t switch_one_in)
    : random_(random), switch_one_in_(switch_one_in) {}

Scheduler::~Scheduler() {
  for (const auto& thread : threads_) {
    if (thread->stack) free_stacks().push_back(thread->stack);
  }
}

void Scheduler::start(std::size_t rank, std::function<void()> body) {
  auto thread = std::make_unique<Thread>();
  thread->rank = rank;
  thread->body = std::move(body);
  thread->stack = take_stack();
  thread->wakes_at = now_;
  ::getcontext(&thread->beginning);
  thread->beginning.uc_stack.ss_sp = thread->stack;
  thread->beginning.uc_stack.ss_size = kStackBytes;
  ::makecontext(&thread->beginning, &Scheduler::enter, 0);
  threads_.push_back(std::move(thread));
}

void Scheduler::enter() {
  Scheduler& self = *active;
  Thread& thread = *self.threads_[self.running_];
  thread.body();
  thread.is_over = true;
  self.switch_away();
  std::abort();  // No thread switches back to this one.
}

bool Scheduler::may_run(const Thread& thread) const {
  return !thread.is_over && (thread.wakes_at <= now_ || (thread.is_ready && (*thread.is_ready)()));
}

Scheduler::Thread* Scheduler::choose() {
  std::size_t count = 0;
  TimePoint next = TimePoint::max();
  for (const auto& thread : threads_) {
    if (thread->is_over) continue;
    if (may_run(*thread)) ++count;
    next = std::min(next, thread->wakes_at);
  }
  if (count == 0) {
    if (next == TimePoint::max()) return nullptr;
    now_ = next;
    return choose();
  }
  std::size_t chosen = random_.below(count);
  for (const auto& thread : threads_) {
    if (may_run(*thread) && chosen-- == 0) return thread.get();
  }
  std::abort();
}

bool Scheduler::run(TimePoint until) {
  active = this;
  while (now_ < until) {
    if (hook_) hook_();
    Thread* const next = choose();
    if (!next) return true;
    running_ = static_cast<std::size_t>(
        std::ranges::find(threads_, next, &std::unique_ptr<Thread>::get) - threads_.begin());
    next->wakes_at = now_;
    next->is_ready = nullptr;
    restore_exceptions(next->exceptions);
    go_on(*next);
    void* const none[2] = {};
    restore_exceptions(none);
    if (next->is_over && next->stack) {
      free_stacks().push_back(std::exchange(next->stack, nullptr));
    }
  }
  return false;
}

// Uses jumps, because swapcontext makes a system call for the signal mask each time.
void Scheduler::go_on(Thread& thread) {
  if (_setjmp(main_) != 0) return;
  if (std::exchange(thread.has_begun, true)) _longjmp(thread.place, 1);
  ::setcontext(&thread.beginning);
}

void Scheduler::switch_away() {
  Thread& self = *threads_[running_];
  keep_exceptions(self.exceptions);
  if (_setjmp(self.place) == 0) _longjmp(main_, 1);
}

void Scheduler::may_switch() {
  now_ += Duration(random_.between(1, kMostNanosecondsAStep));
  if (random_.one_in(switch_one_in_)) switch_away();
}

void Scheduler::yield() {
  threads_[running_]->wakes_at = now_ + Duration(random_.between(1, kMostNanosecondsAYield));
  switch_away();
}

Duration Scheduler::late_by() {
  const Duration most = std::min<Duration>((now_ - last_event_) / kShareOfSilence, kMostLate);
  return Duration(random_.between(0, static_cast<std::uint64_t>(most.count()) + 50'000));
}

void Scheduler::sleep(Duration duration) {
  threads_[running_]->wakes_at = now_ + duration + late_by();
  switch_away();
}

void Scheduler::wait(const std::function<bool()>& is_ready, TimePoint until) {
  Thread& self = *threads_[running_];
  self.is_ready = &is_ready;
  self.wakes_at = std::max(until, now_) + late_by();
  switch_away();
}

void Scheduler::end_here() {
  Thread& self = *threads_[running_];
  self.is_over = true;
  self.stack = nullptr;  // Never used again: objects on it are not destroyed.
  switch_away();
  std::abort();
}

void Scheduler::stop_for(Duration duration) {
  threads_[running_]->wakes_at = now_ + duration;
  switch_away();
}

}  // namespace rota::simulation
